"""Telling questions: each rule on hand-made scores, and against its own words on any scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.site.board_tables import BoardStandings
from lmms_medtasks.board.site.telling_questions import MOST, DiscordantQuestion, discordant_questions
from lmms_medtasks.suites.suite import Measure
from tests.board.made_up_entries import ERRORS, MadeUpEntry, board_of, made_up_entry, right_and_wrong

LAST, FIRST = "made_up_severe", "made_up_clean"
NAMES = ("clean", "severe")


def entries_of(letters: Sequence[str], task: str = LAST, **more: Mapping[str, str]) -> list[MadeUpEntry]:
    return [
        made_up_entry(f"m{number}", right_and_wrong(own), task=task, **more)  # type: ignore[arg-type]
        for number, own in enumerate(letters)
    ]


def told(letters: Sequence[str], first: Sequence[str] = (), metric: str = "accuracy") -> dict[str, DiscordantQuestion]:
    """The telling questions by id, of models best first; ``first``: what they got when asked first."""
    standings = BoardStandings(board_of(*entries_of(letters), *entries_of(first, FIRST)), 0)
    before = (FIRST, metric) if first else None
    found = discordant_questions(standings, (LAST, metric), before, NAMES if first else ("", ""))
    assert len({each.id for each in found}) == len(found) <= MOST
    return {each.id: each for each in found}


def test_each_rule_takes_its_question() -> None:
    found = told([
        "01101111",  # m0 is the best: 6 of 8
        "10001111",
        "10010111",
    ])  # fmt: skip
    assert {id: each.heading for id, each in found.items()} == {
        "q00": "The best is wrong, most others are correct",
        # Correct shares 1/3, 1/3, 1/3, 2/3: all as disputed, the first one is taken.
        "q01": "The models disagree most",
        "q02": "Only the best is correct",
        "q03": "Only one is correct, and not the best",
        # Each rule had its turn: the first that still finds one has another. What all know tells least.
        "q04": "The models disagree most",
    }  # fmt: skip
    assert [found[id].said for id in ("q00", "q01", "q03", "q04")] == [
        "2 of 3 models correct.", "1 of 3 models correct.", "1 of 3 models correct.", "2 of 3 models correct.",
    ]  # fmt: skip


def test_what_was_lost_is_of_the_best_model_and_where_most_models_lost_it() -> None:
    clean, severe = ["1110", "1100", "0100"], ["0010", "0010", "0000"]
    found = told(severe, clean)
    # m0 loses q00 and q01; on q01 the others lose too.
    assert found["q01"].heading == "Correct when clean, wrong when severe"
    assert found["q01"].said == "Clean: 3 of 3 models correct; severe: 0 of 3 models correct."
    assert found["q03"].heading == "Nobody is correct, clean or severe"
    assert "Wrong when clean, correct when severe" not in {each.heading for each in found.values()}


def test_what_only_the_second_way_of_asking_gets_right_is_told_apart_from_what_it_loses() -> None:
    found = told(["011", "001"], ["101", "101"])
    assert found["q00"].heading == "Correct when clean, wrong when severe"
    assert found["q01"].heading == "Wrong when clean, correct when severe"


def test_two_models_of_which_the_best_is_wrong_have_one_other() -> None:
    found = told(["0111", "1000"])
    assert found["q00"].heading == "The best is wrong, the other is correct"


def test_half_of_the_others_are_not_most_of_them() -> None:
    # The best is wrong on q00, where one of two others is right, and right on all else.
    found = told(["0111", "1000", "0000"])
    assert found["q00"].heading != "The best is wrong, most others are correct"


def test_a_single_model_is_right_and_wrong_without_others() -> None:
    assert {id: (each.heading, each.said) for id, each in told(["01"]).items()} == {
        "q00": ("Wrong", "0 of 1 model correct."), "q01": ("Correct", "1 of 1 model correct."),
    }  # fmt: skip


def test_partly_right_is_neither_and_the_sentence_says_so() -> None:
    found = told(["h10", "010"])
    # m0 has 1.5 of 3. q00: mean (0.5 + 0) / 2 is less disputed than none other: only q00 has two different scores.
    assert found["q00"].heading == "The models disagree most"
    assert found["q00"].said == "0 of 2 models correct in all trials."
    assert found["q01"].said == "2 of 2 models correct in all trials."


def test_questions_without_a_score_of_some_model_are_left_out() -> None:
    assert set(told(["1-0", "11-"])) == {"q00"}
    assert told(["1-", "-1"]) == {} == told(["--"])
    apart = [made_up_entry(f"m{number}", right_and_wrong("10", begin), task=LAST) for number, begin in enumerate("ab")]
    assert discordant_questions(BoardStandings(board_of(*apart), 0), (LAST, "accuracy")) == []


def test_without_ranked_models_there_are_none() -> None:
    assert discordant_questions(BoardStandings(board_of(), 0), (LAST, "accuracy")) == []


def test_of_errors_the_model_with_the_fewest_is_the_best() -> None:
    def entry(name: str, errors: Sequence[float]) -> MadeUpEntry:
        return made_up_entry(name, {ERRORS: {f"q{n}": each for n, each in enumerate(errors)}}, task=LAST)

    standings = BoardStandings(board_of(entry("poor", (0, 1, 1, 1)), entry("best", (1, 0, 0, 1))), 0)
    found = {each.id: each.heading for each in discordant_questions(standings, (LAST, "errors"))}
    assert found["q0"] == "The best is wrong, the other is correct" and found["q3"] == "Nobody is correct"


def test_of_several_questions_one_of_another_picture_is_taken() -> None:
    images = {"q00": "x", "q01": "x", "q02": "y", "q03": "y"}
    own = [made_up_entry("m", right_and_wrong("0110"), task=LAST, clusters=images)]
    found = discordant_questions(BoardStandings(board_of(*own), 0), (LAST, "accuracy"))
    assert [each.id for each in found] == ["q00", "q03", "q01"]


def test_where_no_question_was_asked_twice_the_rules_are_those_of_questions_asked_once() -> None:
    first = [made_up_entry("m0", right_and_wrong("11", "other"), task=FIRST)]
    standings = BoardStandings(board_of(*entries_of(["10"]), *first), 0)
    found = discordant_questions(standings, (LAST, "accuracy"), (FIRST, "accuracy"), NAMES)
    assert {each.id: each.heading for each in found} == {"q00": "Correct", "q01": "Wrong"}


def _holds(heading: str, said: Sequence[str]) -> bool:
    """Whether a rule's words are true of a question; ``said``: the letters of the models, best first."""
    best, others = said[0], list(said[1:])
    return {
        "The best is wrong, most others are correct": best == "0" and others.count("1") > len(others) / 2,
        "The best is wrong, the other is correct": best == "0" and others == ["1"],
        "The models disagree most": 0 < said.count("1") < len(said),
        "Only the best is correct": best == "1" and "1" not in others,
        "Only one is correct, and not the best": best == "0" and others.count("1") == 1,
        "Nobody is correct": "1" not in said,
        "Wrong": list(said) == ["0"],
        "All are correct": "0" not in said,
        "Correct": list(said) == ["1"],
    }[heading]


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.text("01", min_size=n, max_size=n), min_size=1, max_size=5)))
def test_every_heading_is_true_of_its_question_and_the_most_disputed_is_the_closest_to_half(models: list[str]) -> None:
    ranked = sorted(models, key=lambda own: -own.count("1"))
    found = told(ranked)
    columns = {f"q{number:02}": [own[number] for own in ranked] for number in range(len(ranked[0]))}
    taken: set[str] = set()
    for id, each in found.items():
        assert _holds(each.heading, columns[id]), (each.heading, columns[id])
        assert each.said.startswith(f"{columns[id].count('1')} of {len(ranked)} model")
        if each.heading.startswith("The models disagree most"):
            left = [abs(own.count("1") - len(own) / 2) for key, own in columns.items() if key not in taken]
            assert abs(columns[id].count("1") - len(ranked) / 2) == min(left)
        taken.add(id)
    # A question about which models disagree is told wherever there is one.
    discordant = any(0 < own.count("1") < len(own) for own in columns.values())
    assert discordant is any(0 < columns[id].count("1") < len(ranked) for id in found)


@given(st.permutations(range(4)))
def test_the_order_of_entries_changes_nothing(order: list[int]) -> None:
    own = entries_of(["1100", "0110", "0110", "0010"])
    found = [
        discordant_questions(BoardStandings(board_of(*each), 0), (LAST, "accuracy"))
        for each in (own, [own[n] for n in order])
    ]
    assert found[0] == found[1] != []


def test_a_scale_that_does_not_begin_at_zero_has_its_own_right_and_wrong() -> None:
    grades = Measure("grades", low=1.0, high=5.0, unit="grades")
    entry = made_up_entry("m", {grades: {"q0": 5.0, "q1": 1.0, "q2": 3.0}}, task=LAST)
    found = discordant_questions(BoardStandings(board_of(entry), 0), (LAST, "grades"))
    assert {each.id: each.heading for each in found} == {"q0": "Correct", "q1": "Wrong"}


@pytest.mark.parametrize("unranked", ["clean", "severe"])
def test_a_model_that_was_not_asked_both_ways_does_not_count(unranked: str) -> None:
    last, first = entries_of(["10", "01"]), entries_of(["11", "11"], FIRST)
    own = [*last[:1], *first] if unranked == "severe" else [*last, *first[:1]]
    found = discordant_questions(BoardStandings(board_of(*own), 0), (LAST, "accuracy"), (FIRST, "accuracy"), NAMES)
    assert found and all("of 1 model correct" in each.said for each in found)


def test_where_no_model_was_asked_both_ways_the_rules_are_those_of_questions_asked_once() -> None:
    first = [made_up_entry("another", right_and_wrong("11"), task=FIRST)]
    standings = BoardStandings(board_of(*entries_of(["10"]), *first), 0)
    found = discordant_questions(standings, (LAST, "accuracy"), (FIRST, "accuracy"), NAMES)
    assert {each.id: each.heading for each in found} == {"q00": "Correct", "q01": "Wrong"}
