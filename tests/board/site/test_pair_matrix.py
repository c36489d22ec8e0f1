"""Pairs of a ranking: antisymmetric, against plain differences of means, and in agreement with the ranks."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks, ranking_table
from lmms_medtasks.board.site.suite_page import MOST, PairCell, PairMatrix, pair_matrix
from tests.board.made_up_entries import ERRORS, STARS, MadeUpEntry, board_of, made_up_entry, right_and_wrong

TASK = "made_up_task"
QUESTIONS = 40


def made(standings: BoardStandings, metric: str = "accuracy") -> PairMatrix:
    found = pair_matrix(standings, (TASK, metric), PageLinks(model=lambda key: f"{key}.html", suite=str))
    assert found is not None
    return found


def models(**right: int) -> BoardStandings:
    """Models that are right on the first so many of the questions."""
    own = [made_up_entry(name, right_and_wrong("1" * n + "0" * (QUESTIONS - n))) for name, n in right.items()]
    return BoardStandings(board_of(*own), 20)


def ends(pair: PairCell) -> list[float]:
    return [float(each) for each in pair.interval.strip("[]").split(", ")]


def test_the_difference_is_that_of_the_means_in_the_units_that_are_shown() -> None:
    # 30 of 40 less 9 of 40 are 52.5 points, 30 less 29 of 40 are 2.5.
    found = made(models(poor=9, best=30, like=29))
    assert found.names == ("best", "like", "poor") and found.more == 0
    assert found.hrefs == tuple(f"{name}|runner|.html" for name in found.names)
    texts = [[pair.difference if pair else "" for pair in row] for row in found.rows]
    assert texts == [["", "+2.5", "+52.5"], ["-2.5", "", "+50.0"], ["-52.5", "-50.0", ""]]
    signs = [[pair.sign if pair else "" for pair in row] for row in found.rows]
    assert signs == [["", "=", "▲"], ["=", "", "▲"], ["▼", "▼", ""]]
    assert [[cell.value for cell in row.cells[:3]] for row in found.table.rows] == [
        ["best", "like", "not told apart"], ["best", "poor", "better"], ["like", "poor", "better"],
    ]  # fmt: skip


def test_the_matrix_is_antisymmetric() -> None:
    rng = np.random.default_rng(3)
    letters = ["".join(rng.choice(["0", "1"], QUESTIONS, p=(1 - p, p))) for p in (0.2, 0.4, 0.5, 0.9, 0.9)]
    standings = BoardStandings(
        board_of(*(made_up_entry(f"m{n}", right_and_wrong(own)) for n, own in enumerate(letters))), 20
    )
    found = made(standings)
    opposite = {"▲": "▼", "▼": "▲", "=": "="}
    for row, column in itertools.combinations(range(5), 2):
        one, other = found.rows[row][column], found.rows[column][row]
        assert one is not None and other is not None
        assert opposite[one.sign] == other.sign
        assert float(one.difference) == -float(other.difference)
        assert ends(one) == [-each for each in ends(other)[::-1]]
        low, high = ends(one)
        assert low <= float(one.difference) <= high
        # By the plain definition, from the letters themselves.
        names = [int(found.names[place][1:]) for place in (row, column)]
        plain = [letters[name].count("1") / QUESTIONS for name in names]
        assert float(one.difference) == pytest.approx(100 * (plain[0] - plain[1]), abs=0.051)
    assert all(found.rows[place][place] is None for place in range(5))
    assert {one.sign for row in found.rows for one in row if one} == {"▲", "▼", "="}


def test_the_signs_agree_with_the_ranks_and_with_the_p_values() -> None:
    standings = models(best=30, like=29, poor=9)
    found = made(standings)
    ranks = {standings.titles[key]: each for key, each in standings.of(TASK, "accuracy").items()}
    for name, row in zip(found.names, found.rows, strict=True):
        signs = [pair.sign if pair else "" for pair in row]
        assert ranks[name].low == 1 + signs.count("▼") and ranks[name].high == 3 - signs.count("▲")
    for each in found.table.rows:
        assert (each.cells[2].value == "better") is (float(each.cells[4].value or 0.0) <= 0.05)


def test_models_that_are_tied_are_alike_and_their_difference_has_no_sign() -> None:
    found = made(models(b=20, a=20))
    assert found.names == ("a", "b")
    (pair,) = [each for each in found.rows[0] if each]
    assert (pair.sign, pair.difference) == ("=", "0.0")


def test_questions_without_a_score_of_one_of_the_models_do_not_count() -> None:
    whole = made_up_entry("whole", right_and_wrong("1" * 10 + "0" * 30))
    part = made_up_entry("part", right_and_wrong("-" * 10 + "1" * 15 + "0" * 15))
    found = made(BoardStandings(board_of(whole, part), 20))
    # On the common 30 questions part has 15, whole none.
    pair = found.rows[0][1]
    assert found.names == ("part", "whole") and pair is not None and pair.difference == "+50.0"


def test_stars_are_shown_as_stars() -> None:
    def entry(name: str, stars: float) -> MadeUpEntry:
        return made_up_entry(name, {STARS: {f"q{n:02}": stars + n % 2 for n in range(QUESTIONS)}})

    found = made(BoardStandings(board_of(entry("good", 4.0), entry("bad", 2.0)), 20), "stars")
    pair = found.rows[0][1]
    assert pair is not None and (pair.sign, pair.difference) == ("▲", "+2.0")
    assert found.unit == found.table.columns[3].unit == "stars"


def test_of_errors_fewer_are_better() -> None:
    def entry(name: str, errors: int) -> MadeUpEntry:
        scores = {f"q{n:02}": float(n < errors) for n in range(QUESTIONS)}
        return made_up_entry(name, {ERRORS: scores})

    found = made(BoardStandings(board_of(entry("bad", 30), entry("good", 4)), 20), "errors")
    assert found.names == ("good", "bad")
    pair = found.rows[0][1]
    # 30 of 40 less 4 of 40: by 65 points the first has fewer, which is its lead.
    assert pair is not None and (pair.sign, pair.difference) == ("▲", "+65.0") and found.unit == "points"
    low, high = ends(pair)
    assert 0 <= low <= 65 <= high
    (row,) = found.table.rows
    assert row.cells[3].value == pytest.approx(65.0) and found.table.columns[3].name == "lead"


@pytest.mark.parametrize("questions", [9, 0])
def test_too_few_pictures_are_not_compared(questions: int) -> None:
    own = [made_up_entry(name, right_and_wrong("1" * questions + "-")) for name in "ab"]
    standings = BoardStandings(board_of(*own), 20)
    assert pair_matrix(standings, (TASK, "accuracy"), PageLinks(model=str, suite=str)) is None


def test_one_model_is_not_compared() -> None:
    standings = models(alone=20)
    assert pair_matrix(standings, (TASK, "accuracy"), PageLinks(model=str, suite=str)) is None


def test_ten_models_stand_in_the_matrix_and_all_pairs_in_the_table() -> None:
    found = made(models(**{f"m{n:02}": 10 + 2 * n for n in range(12)}))
    assert found.names[0] == "m11" and len(found.rows) == len(found.rows[0]) == MOST == 10 and found.more == 2
    assert len(found.table.rows) == 12 * 11 / 2
    named = [tuple(cell.value for cell in row.cells[:2]) for row in found.table.rows]
    assert len(set(map(frozenset, named))) == len(named) and all(re.match("m", str(name)) for name, _ in named)
    # What is told apart has an interval on its side of 0, also where only a later step told it apart.
    for row in found.table.rows:
        if row.cells[2].value == "better":
            assert row.cells[3].low is not None and row.cells[3].low >= 0


def test_no_end_is_beyond_the_scale_and_two_that_never_differ_say_so() -> None:
    found = made(models(best=QUESTIONS, twin=QUESTIONS, poor=0))
    texts = {
        (one, other): found.rows[row][column]
        for (row, one), (column, other) in itertools.product(enumerate(found.names), repeat=2)
    }
    assert texts["best", "twin"] == PairCell("=", "0.0", "no image differs")
    lead = texts["best", "poor"]
    assert lead is not None and lead.difference == "+100.0" and max(map(abs, ends(lead))) <= 100


def test_tied_models_stand_in_one_order_on_all_of_a_page() -> None:
    standings = models(b=31, C=30, a=29, d=31)
    links = PageLinks(model=str, suite=str)
    table = ranking_table(TASK, standings, links)
    assert table is not None
    ranked = [str(row.cells[0].value) for row in table.rows if row.kind == "run"]
    assert (
        ranked == list(made(standings).names) == [standings.titles[key] for key in standings.numbers(TASK, "accuracy")]
    )
    assert ranked == ["b", "d", "C", "a"]
