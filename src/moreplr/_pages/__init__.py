"""Pages in one file, from templates: style, script and pictures are in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder; texts are escaped, but for what is `Markup`."""
    here = files(__name__)
    shared = {
        name: here.joinpath(f"page.{ending}").read_text(encoding="utf-8")
        for name, ending in (("style", "css"), ("script", "js"))
    }
    # The subscript as a sign of its own: it serves texts, captions and figures alike.
    return _environment().get_template(template).render(shared, **values).replace("τ_X", "τₓ")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("moreplr", "_pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
