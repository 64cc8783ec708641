import pytest

from moreplr.datasets import from_scikit_lr


def test_features_then_ranks(tmp_path):
    (tmp_path / "glass.csv").write_text("2,2,3\n0.5,-1,1,2,2\n1.5,0,3,1,2\n")
    data = from_scikit_lr(tmp_path / "glass.csv")
    assert data.X.to_dict("list") == {"x1": [0.5, 1.5], "x2": [-1, 0]}
    assert data.Y.to_numpy().tolist() == [[1, 2, 2], [3, 1, 2]]
    assert (data.name, list(data.Y)) == ("glass", ["L1", "L2", "L3"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first line of a file of scikit-lr says"),
        ("x,a,b\n1,1,2\n", "the first line of a file of scikit-lr says"),
        ("2,1,2\n1,1,2\n", "says 2 rows, but has 1"),
        ("1,1,2\n1,1\n", "line 2 has 2 cells, not 3"),
        ("1,1,2\nx,1,2\n", "could not convert"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=f"a.csv.*{message}"):
        from_scikit_lr(tmp_path / "a.csv")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*a\.csv"):
        from_scikit_lr(tmp_path / "a.csv")
