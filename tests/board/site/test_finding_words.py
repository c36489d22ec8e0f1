"""A model's headline numbers: in the measure's unit, beside the field, and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_medtasks.board.entries import EntryProblem
from lmms_medtasks.board.site.board_tables import BoardStandings
from lmms_medtasks.board.site.finding_words import ModelHeadline, model_headlines
from lmms_medtasks.board.site.ranking import ModelStanding
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Number
from lmms_medtasks.statistics.intervals import IntervalEstimate
from tests.board.made_up_entries import (
    ACCURACY,
    ERRORS,
    KINDS,
    STARS,
    MadeUpEntry,
    board_of,
    made_up_entry,
    of_every_kind,
    right_and_wrong,
)

QUESTIONS = 20
APART = EntryProblem("limited", "unranked", "Few questions were asked.", "r.json")


def model(name: str, right: int, **more: object) -> MadeUpEntry:
    letters = "1" * right + "0" * (QUESTIONS - right)
    return made_up_entry(name, right_and_wrong(letters), **more)  # type: ignore[arg-type]


def headline_of(*entries: MadeUpEntry, resamples: int = 20) -> ModelHeadline:
    """Of the first one's model."""
    own = [each for each in entries if each.model == entries[0].model]
    (found,) = model_headlines(own, BoardStandings(board_of(*entries), resamples))
    return found


NUMBER = Number("closed questions", chance=25.0, published=(40.0, 80.04), cell=Cell(69.06, 66.44, 71.92))
HEAD = ModelHeadline("s", "Suite", NUMBER)


def test_the_number_and_the_rank_are_among_all_ranked_models() -> None:
    found = headline_of(*(model(name, right) for name, right in zip("abcd", (4, 8, 16, 2), strict=True)))
    # In percent 10, 20, 40, 80.
    assert (found.number.value, found.rank, found.place[-5:], found.apart) == (20.0, 3, " of 4", "")
    own = found.number
    assert own.cell.low is not None and own.cell.high is not None and own.cell.low < 20 < own.cell.high
    assert (own.scale, own.unit, own.chance, own.published) == ("", "%", None, None)


def test_a_single_model_is_the_only_one() -> None:
    assert headline_of(model("a", 5)).place == "the only one ranked"


def test_what_is_not_ranked_has_its_number_and_the_reason_and_is_not_of_the_field() -> None:
    found = headline_of(model("a", 15, problems=[APART]), *(model(name, 10) for name in "bcde"))
    assert (found.number.value, found.rank, found.place, found.apart) == (75.0, None, "", "Few questions were asked.")


def test_a_ranked_entry_of_a_model_goes_before_one_set_apart() -> None:
    apart, ranked = model("a", 15, problems=[APART]), model("a", 5)
    assert headline_of(apart, ranked).number.value == headline_of(ranked, apart).number.value == 25.0


def test_stars_are_stars_and_guessing_of_them_is_not_known() -> None:
    found = headline_of(made_up_entry("m", {STARS: {f"q{n:02}": 2.0 + n % 2 for n in range(20)}}))
    own = found.number
    assert (own.value, own.bottom, own.top, own.short, own.chance) == (2.5, 1.0, 5.0, "2.5 stars", None)


def test_of_errors_fewer_are_better() -> None:
    found = headline_of(made_up_entry("m", {ERRORS: right_and_wrong("1000")}))
    assert (found.number.value, found.number.higher_is_better) == (25.0, False)


def test_guessing_is_in_percent() -> None:
    found = headline_of(model("a", 10, tags={"option_count": [4] * QUESTIONS}))
    assert found.number.chance == 25.0


def test_each_suite_has_one_headline_in_the_order_of_the_entries() -> None:
    own = [
        model("m", 5, suite="made_up_b", task="made_up_b_x"),
        model("m", 6, suite="made_up_a", task="made_up_a_x"),
        model("m", 7, suite="made_up_b", task="made_up_b_y"),
    ]
    found = model_headlines(own, BoardStandings(board_of(*own), 0))
    assert [each.suite for each in found] == ["made_up_b", "made_up_a"]
    assert [each.number.value for each in found] == [25.0, 30.0]


def test_the_task_is_said_where_it_is_not_that_of_the_boards_headline() -> None:
    """The suite's page ranks another task, without this model."""
    suite = {"suite": "made_up_b"}
    on_x, on_y = model("m", 5, task="made_up_b_x", **suite), model("n", 7, task="made_up_b_y", **suite)
    standings = BoardStandings(board_of(on_x, on_y), 0)
    words = [each.number.title for own in (on_x, on_y) for each in model_headlines([own], standings)]
    assert sorted("made_up_b" in each for each in words) == [False, True], words


def test_without_a_score_there_is_no_headline() -> None:
    nothing = made_up_entry("m", {ACCURACY: dict.fromkeys(("a", "b"))})
    assert model_headlines([nothing], BoardStandings(board_of(nothing), 20)) == []
    assert model_headlines([], BoardStandings(board_of(), 20)) == []


def test_a_measure_without_a_value_gives_way_to_the_next() -> None:
    entry = made_up_entry("m", {ACCURACY: {"a": None, "b": None}, STARS: {"a": 3.0, "b": 5.0}})
    assert headline_of(entry).number.short == "4.0 stars"


def test_the_words_have_every_number_that_is_drawn() -> None:
    said = "Suite. closed questions 69.1 % [66.4, 71.9], guessing 25.0, published models 40.0 to 80.0."
    assert f'aria-label="{said}"' in HEAD.chart
    bare = ModelHeadline("s", "Suite", Number("closed questions", cell=Cell(69.06)))
    assert 'aria-label="Suite. closed questions 69.1 %."' in bare.chart


@pytest.mark.parametrize(
    ("rank", "best", "worst", "ranks"), [(2, 1, 3, "1–3"), (1, 1, 1, "1"), (4, None, None, "4"), (None, None, None, "")]
)
def test_ranks_that_chance_leaves_open_stand_in_place_of_the_rank(
    rank: int | None, best: int | None, worst: int | None, ranks: str
) -> None:
    assert ModelStanding(IntervalEstimate(0.5, None, None, 9, 9), rank, best, worst, 9).ranks == ranks


def test_a_scale_is_that_of_the_number_and_longer_where_a_ratio_is_beyond_it() -> None:
    """Right on 4 of 12 easy questions and on 5 of 12 hard ones: a ratio of 1.25, a drop of -1/12."""
    entry = replace(
        of_every_kind("m", "1" * 4 + "0" * 8, "0" * 7 + "1" * 5), metrics=tuple(each.name for each in KINDS)
    )
    of = {name: replace(entry, metrics=(name,)) for name in ("robust", "drop", "balanced")}
    robust, drop, balanced = (headline_of(each).number for each in of.values())
    assert robust.value == pytest.approx(1.25) and robust.bottom == 0.0
    assert robust.cell.high is not None and robust.top >= robust.cell.high > 1.25
    assert (drop.value, drop.unit, drop.bottom, drop.top) == (pytest.approx(-100 / 12), "points", -100.0, 100.0)
    assert (balanced.unit, balanced.scale, balanced.higher_is_better) == ("%", "", True)
    assert not drop.higher_is_better and {each.chance for each in (robust, drop, balanced)} == {None}
