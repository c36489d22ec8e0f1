"""What an entry and its questions look up once."""

import pytest

from lmms_medtasks.board import entries
from lmms_medtasks.board.comparison.compared_entries import pair_scores
from tests.board.made_up_entries import made_up_entry, of_every_kind


def test_scored_rows_of_few_questions_are_found_once_and_those_of_many_are_not_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = (made_up_entry("m", {"q1": 1.0, "q2": None, "q3": 0.0}) for _ in range(2))
    assert few.scored("accuracy") is few.scored("accuracy")
    monkeypatch.setattr(entries, "SMALL", 2)
    assert many.scored("accuracy") is not many.scored("accuracy")
    assert few.scored("accuracy").rows.tolist() == many.scored("accuracy").rows.tolist() == [0, 2]


def test_rows_without_a_value_have_the_code_0() -> None:
    questions = made_up_entry("m", {"q1": 1.0, "q2": 1.0, "q3": 1.0}, tags={"organ": ["skin", None, "lung"]}).questions
    assert questions.codes("organ").tolist() == [1, 0, 2]
    assert questions.codes("organ") is questions.codes("organ")


def test_a_number_that_is_of_no_measure_is_about_the_questions_with_a_reply() -> None:
    """A comparison says how many were left out: those of a failed request, for F1 and for units as for a mean."""
    trials = {"trials": [["ok"], ["failed"], ["ok"], ["failed", "ok"]]}
    one, other = of_every_kind("a", "1-", "11", columns=trials), of_every_kind("b", "11", "11")
    assert {name: pair_scores(one, other, name).unscored for name in ("accuracy", "items", "precision")} == {
        "accuracy": 1, "items": 1, "precision": 1
    }  # fmt: skip
