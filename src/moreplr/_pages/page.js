"use strict";
// A click on a column's head sorts its table: numbers by value, texts by name.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const first = head.dataset.first || "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    for (const cell of head.parentNode.cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const numbers = [Number(x), Number(y)];
      if (numbers.some(Number.isNaN)) return sign * x.localeCompare(y);
      return sign * (numbers[0] - numbers[1]);
    };
    body.append(...[...body.rows].sort(compare));
  });
}
// What is wider than the screen says so.
const mark = () => {
  for (const part of document.querySelectorAll(".scroll"))
    part.classList.toggle("wide", part.scrollWidth > part.clientWidth + 1);
};
addEventListener("load", mark);
addEventListener("resize", mark);
