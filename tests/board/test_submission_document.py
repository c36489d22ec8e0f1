"""What becomes of a submission, in a terminal and as Markdown: everything once, in bounded lines, nothing as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.entries import EntryProblem
from lmms_medtasks.board.submission import CheckedSubmission, EntryStanding
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.terminal import screen_text

WIDTH = 100
PLACE = EntryStanding("new/model", "a_task", "scores only", "accuracy", "80.6 % [60.1, 95.0]", "rank 2 [1, 3] of 3")
NOTHING = CheckedSubmission()
HOSTILE = "<script>alert(1)</script> | **x** [y](javascript:z)"


def remark(model: str, task: str, reason: str) -> EntryProblem:
    return EntryProblem("code", "unranked", reason, "file", task, model)


def lines(found: CheckedSubmission) -> list[str]:
    return screen_text(found.document()).splitlines()


def shown(found: CheckedSubmission) -> str:
    return " ".join(" ".join(lines(found)).split())


@pytest.mark.parametrize(("wrong", "status"), [((), "holds"), (("Its name is taken.",), "refused")])
def test_it_is_refused_where_anything_is_wrong(wrong: tuple[str, ...], status: str) -> None:
    found = replace(NOTHING, wrong=wrong)
    assert lines(found)[0] == f"Submission: {status}"
    assert status in render_markdown(found.document()).splitlines()[0]
    for text in (shown(found), render_markdown(found.document())):
        assert all(each.rstrip(".") in text for each in wrong) and ("Refused" in text) is bool(wrong)


def test_what_was_done_to_each_file_is_said_once() -> None:
    files = (("added", Path("cy/new.json")), ("changed", Path("cy/old.json")), ("removed", Path("b/x.json")))
    found = replace(NOTHING, files=files)
    assert lines(found)[2:] == ["added: cy/new.json", "changed: cy/old.json", "removed: b/x.json"]
    assert render_markdown(found.document()).count("\n- ") == 3


def test_places_of_one_model_and_level_stand_together_each_in_a_row() -> None:
    other = replace(PLACE, model="other")
    found = replace(NOTHING, places=(PLACE, other, replace(PLACE, task="b_task"), replace(PLACE, level="re-scored")))
    text = render_markdown(found.document())
    assert text.count("### ") == text.count("| task | measure |") == 3
    rows = [line for line in text.splitlines() if line.startswith(("| **a", "| **b"))]
    assert len(rows) == 4 and "b" in rows[1] and all(row.count(" | ") == 3 for row in rows)


@pytest.mark.parametrize("signed", [0, 1, 2])
def test_what_the_sign_of_a_score_means_is_said_once(signed: int) -> None:
    places = [replace(PLACE, task=f"task_{row}", by_words=row < signed) for row in range(3)]
    found = replace(NOTHING, places=tuple(places))
    for text in (screen_text(found.document()), render_markdown(found.document())):
        assert text.count(MEANINGS[LEXICAL]) == bool(signed) and text.count(LEXICAL) == signed + bool(signed)


def test_what_is_said_of_several_tasks_is_said_once_with_their_names() -> None:
    found = replace(NOTHING, apart=tuple(remark("m", f"task_{row}", "No judge was configured.") for row in range(7)))
    for text in (screen_text(found.document()), render_markdown(found.document())):
        said = " ".join(text.replace("\\", "").split())
        assert said.count("No judge was configured. (m: task_0, task_1, task_2, task_3, task_4 and 2 more)") == 1


def test_what_keeps_out_of_the_ranking_stands_apart_from_what_does_not() -> None:
    found = replace(
        NOTHING,
        apart=(remark("m", "t1", "Few."), remark("n", "t1", "Few.")),
        remarks=(remark("m", "t2", "Slow."),),
    )
    assert lines(found)[1:] == [
        "",
        "Not ranked:",
        "  Few. (m: t1; n: t1)",
        "",
        "Ranked, with a remark:",
        "  Slow. (m: t2)",
    ]
    assert render_markdown(found.document()).index("### Not ranked") < render_markdown(found.document()).index(
        "### Ranked, with a remark"
    )
    assert "Not ranked" not in shown(replace(found, apart=()))


def test_texts_of_others_are_no_markup_and_no_control_characters() -> None:
    found = CheckedSubmission(
        (("added", Path(HOSTILE)),),
        (HOSTILE,),
        (EntryStanding(*[HOSTILE] * 6),),
        (remark(HOSTILE, "t", f"\x1b[31m{HOSTILE}"),),
    )
    text = render_markdown(found.document())
    # The first cell of a row is printed bold.
    assert not set("<>[]*") & set(re.sub(r"\\.|(?<=\| )\*\*|\*\*(?= \|)", "", text.partition("\n")[2]))
    # A row has its four cells: no bar of theirs ends one.
    (row,) = [line for line in text.splitlines() if line.startswith("| ") and "alert" in line]
    assert row.replace("\\|", "").count("|") == 5
    assert "\x1b" not in screen_text(found.document())


TEXT = st.text("aB -_/.;|<*\t\n\x1b\u200b\u202eé漢", max_size=160)


@given(TEXT, TEXT, TEXT)
def test_no_line_is_wider_than_a_hundred_characters_whatever_is_in_it(name: str, task: str, reason: str) -> None:
    place = replace(PLACE, model=name, task=task)
    found = CheckedSubmission((("added", Path(name)),), (reason,), (place,), (remark(name, task, reason),))
    assert max(map(len, lines(found))) <= WIDTH
