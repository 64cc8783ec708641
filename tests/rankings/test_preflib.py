import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import pair_order_matrix, read_preflib, to_text, write_preflib

NAN = float("nan")
FILE = """# FILE NAME: drinks.toi
# TITLE: Drinks
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: tea, green
# ALTERNATIVE NAME 2: milk
# ALTERNATIVE NAME 3: beer
3: 1,2,3
2: {1,3},2
1: 3
"""


@pytest.fixture
def drinks(tmp_path):
    path = tmp_path / "drinks.toi"
    path.write_text(FILE)
    return path


def test_ties_gaps_and_how_often(drinks):
    table = read_preflib(drinks)
    assert to_text(table.Y) == ['"tea, green" > milk > beer', '"tea, green" ~ beer > milk', "beer"]
    assert table.sample_weight.tolist() == [3, 2, 1]
    assert table.X.shape == (3, 0)


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements=st.sampled_from([1.0, 2.0, 3.0, NAN]),
    ).filter(lambda Y: not np.isnan(Y).all())
)
def test_there_and_back(tmp_path_factory, Y):
    path = tmp_path_factory.mktemp("p") / "a.toi"
    write_preflib(path, Y)
    back = read_preflib(path)
    assert back.sample_weight.sum() == (~np.isnan(Y).all(axis=1)).sum()
    np.testing.assert_allclose(
        pair_order_matrix(back.Y.to_numpy(), back.sample_weight), pair_order_matrix(Y), atol=1e-12
    )


def test_weights_are_added_up(tmp_path):
    path = tmp_path / "a.soc"
    write_preflib(path, ["a > b", "b > a", "a > b"], sample_weight=[2, 1, 3])
    assert path.read_text().splitlines()[-2:] == ["5: 1,2", "1: 2,1"]
    with pytest.raises(ValueError, match="whole numbers"):
        write_preflib(path, ["a > b"], sample_weight=[0.5])


@pytest.mark.parametrize(
    ("name", "texts", "right"),
    [
        ("a.soc", ["a ~ b"], ".toc"),
        ("a.soi", ["a ~ b", "a"], ".toi"),
        ("a.toc", ["a > b", "a"], ".soi"),
    ],
)
def test_an_ending_that_does_not_fit_the_rankings_is_refused(tmp_path, name, texts, right):
    with pytest.raises(ValueError, match=f"name the file {right}"):
        write_preflib(tmp_path / name, texts)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3: 1,2,3", "3 1,2,3", r"line 10: '3 1,2,3' does not say how many voters"),
        ("{1,3},2", "{1,3},4", "line 11: there is no alternative '4'"),
        ("{1,3},2", "{1,3},1", "line 11: alternative 1 is ranked twice"),
        ("{1,3},2", "{1,3,2", "line 11: '{1,3,2' is not an order"),
        ("# ALTERNATIVE NAME", "# NAME", "line 10: there are no lines such as"),
        ("\n3: 1,2,3\n2: {1,3},2\n1: 3", "", "holds no orders"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(drinks, old, new, message):
    drinks.write_text(FILE.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_preflib(drinks)


@pytest.mark.parametrize(
    ("suffix", "message"),
    [(".soi", "line 11: a tie in a .soi file"), (".toc", "line 12: 1 of 3 alternatives")],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path, suffix, message):
    (tmp_path / f"a{suffix}").write_text(FILE)
    with pytest.raises(ValueError, match=message):
        read_preflib(tmp_path / f"a{suffix}")


def test_numbers_that_do_not_add_up_are_noted(drinks):
    drinks.write_text(FILE.replace("VOTERS: 6", "VOTERS: 7"))
    with pytest.warns(UserWarning, match="says 7 voters, but its lines add up to 6"):
        read_preflib(drinks)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"end in \.soc, \.soi, \.toc, \.toi"):
        read_preflib(tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*a\.soc"):
        read_preflib(tmp_path / "a.soc")
    (tmp_path / "a.soc").write_bytes(b"# TITLE: \xff\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_preflib(tmp_path / "a.soc")
