"""Good conditions against what is lost under bad ones: hand-worked numbers, and who is drawn at all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from lmms_medtasks.board.entries import Problem
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.suite_charts import SuiteChart, loss_chart
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.headlines import BoardColumn
from tests.board.made_up_entries import MadeUpEntry, board_of, made_up_entry, right_and_wrong

CLEAN, BAD = "made_up_clean", "made_up_bad"
QUESTIONS = 20


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The benchmark of made-up entries declares what is drawn of it."""
    said = {"title": "Title", "x": "clean", "y": "lost", "bad": "bad"}
    columns = [BoardColumn(BAD, "accuracy", before=(task, "accuracy")) for task in ("absent", CLEAN)]
    about = partial(About, columns=tuple(columns), scatter=said)
    monkeypatch.setattr(suite_words, "about", lambda suite: about(suite, suite))
    yield


def entry(model: str, task: str, right: int, **more: object) -> MadeUpEntry:
    letters = "1" * right + "0" * (QUESTIONS - right)
    return made_up_entry(model, right_and_wrong(letters), task=task, **more)  # type: ignore[arg-type]


def both(**models: tuple[int, int]) -> list[MadeUpEntry]:
    """Models right on so many of 20 questions, clean and bad."""
    return [
        entry(name, task, right) for name, own in models.items() for task, right in zip((CLEAN, BAD), own, strict=True)
    ]


def drawn(*entries: MadeUpEntry, resamples: int = 20) -> SuiteChart | None:
    return loss_chart(Standings(board_of(*entries), resamples))


def rows(found: SuiteChart | None) -> list[tuple[Cell, ...]]:
    assert found is not None
    return [row.cells for row in found.frame.rows]


def test_each_model_has_what_it_can_what_is_left_and_what_is_lost_the_best_under_bad_conditions_first() -> None:
    found = drawn(*both(falls=(20, 8), stays=(14, 14), rises=(5, 6)))
    # In percent of 20 questions: 70 and 70, 100 and 40, 25 and 30.
    assert [tuple(cell.value for cell in cells) for cells in rows(found)] == [
        ("stays", "measured", 70.0, 70.0, 0.0), ("falls", "measured", 100.0, 40.0, pytest.approx(60.0)),
        ("rises", "measured", 25.0, 30.0, pytest.approx(-5.0)),
    ]  # fmt: skip
    for *_, loss in rows(found):
        assert loss.low is not None and loss.high is not None and loss.low <= float(loss.value or 0) <= loss.high
    assert found is not None and found.chance is None


def test_who_was_not_asked_both_ways_or_is_not_ranked_is_not_drawn() -> None:
    apart = Problem("limited", "unranked", "Few.", "r.json")
    lone = entry("lone", CLEAN, 20)
    aside = [entry("aside", CLEAN, 20), entry("aside", BAD, 20, problems=[apart])]
    found = drawn(*both(whole=(10, 5)), lone, *aside)
    assert [name.value for name, *_ in rows(found)] == ["whole"]
    assert drawn(lone, *aside) is None and drawn() is None


def test_guessing_is_that_of_the_bad_conditions_and_without_resamples_there_are_no_intervals() -> None:
    options = {"tags": {"option_count": [4] * QUESTIONS}}
    found = drawn(entry("m", CLEAN, 20, **options), entry("m", BAD, 7, **options), resamples=0)
    assert found is not None and found.chance == 25.0 and {cell.low for cell in rows(found)[0]} == {None}


def test_a_benchmark_that_declares_nothing_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_words, "about", lambda suite: About(suite, suite))
    assert drawn(*both(m=(10, 5))) is None
