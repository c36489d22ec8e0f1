"""The first screen's number is of the shift that a board ranks; the mean of all and guessing stand beside it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.task_configs.sure_vqa.measures import SUITE
from lmms_medtasks.task_configs.sure_vqa.report import HEADLINE
from lmms_medtasks.task_configs.sure_vqa.report_published import MAIN_SHIFT, PublishedShift


def asked(count, right):
    """Closed questions on an image each, half of them shifted; this share of each test correct."""
    questions = {f"c{n}": (f"i{n}", ("iid", "ood")[n % 2], "closed") for n in range(2 * count)}
    return questions, {name: str(int(n // 2 < right * count)) for n, name in enumerate(questions)}


def test_the_shift_of_the_board_stands_first_and_the_mean_says_of_how_many_shifts_it_is(write_sure_run, sources_of):
    run = write_sure_run(tasks=["sure_ovqa_body_part", "sure_slake_modality"])
    other = write_sure_run(name="more", labels={"c1": "0", "c4": "0", "c5": "0"}, tasks=["sure_mimic_age"])
    found = HEADLINE.of(SUITE, sources_of(run, other)[0])
    assert [bar.title for bar in found.bars] == [
        "i.i.d., SLAKE modality", "shifted, SLAKE modality", "i.i.d., mean of 3 shifts", "shifted, mean of 3 shifts"
    ]  # fmt: skip
    assert [bar.cell.value for bar in found.bars[1::2]] == pytest.approx([50, 100 / 3])
    assert found.changes[0].under == "under SLAKE modality"


def test_without_the_shift_of_the_board_it_is_the_mean_of_those_that_were_asked(write_sure_run, sources_of):
    found = HEADLINE.of(SUITE, sources_of(write_sure_run(tasks=["sure_ovqa_body_part", "sure_mimic_age"]))[0])
    assert [bar.title for bar in found.bars] == ["i.i.d., mean of 2 shifts", "shifted, mean of 2 shifts"]
    assert "in the mean of 2 shifts" in found.sentence


@pytest.mark.parametrize(("share", "beats"), [(0.5, False), (1.0, True)])
def test_half_of_the_closed_questions_is_what_guessing_gets(write_sure_run, sources_of, share, beats):
    questions, labels = asked(20, share)
    found = HEADLINE.of(SUITE, sources_of(write_sure_run(questions=questions, labels=labels), resamples=50)[0])
    assert {bar.chance for bar in found.bars} == {50.0} and (not found.guessing) is beats
    assert ("no better than guessing (50.0 %)" in found.sentence) is not beats


def test_a_loss_whose_interval_has_0_is_none_beyond_chance(write_sure_run, sources_of):
    questions, alike = asked(20, 0.5)
    lost = {name: "1" if side == "iid" else "0" for name, (_, side, _) in questions.items()}
    for labels, doubt in ((alike, True), (lost, False)):
        run = write_sure_run(name=f"run_{doubt}", questions=questions, labels=labels)
        found = HEADLINE.of(SUITE, sources_of(run, resamples=50)[0])
        assert ("no change beyond chance" in found.sentence) is doubt, found.sentence


def test_the_boards_column_is_of_the_same_shift():
    first = HEADLINE.columns[0]
    assert (first.task, first.metric) == (f"sure_{MAIN_SHIFT}", "closed_ood") and "one of 7 shifts" in first.words
    assert PublishedShift.of(MAIN_SHIFT).published


def test_the_first_screens_chart_names_the_largest_fall(write_sure_run, sources_of):
    run = write_sure_run(tasks=["sure_slake_modality"])
    other = write_sure_run(name="more", labels={"c1": "0", "c4": "0", "c5": "0"}, tasks=["sure_mimic_age"])
    drawn = HEADLINE.of(SUITE, sources_of(run, other)[0]).sketch()
    labels = [each.text for each in ElementTree.fromstring(drawn.svg).iter("{http://www.w3.org/2000/svg}text")]
    # Of MIMIC no closed question is right in either test: it loses nothing. A name would lie on the lines.
    assert "50.0" in labels and not {"SLAKE modality", "MIMIC age"} & {*labels}
    assert drawn.said.startswith("correct (%), 2 shifts; orange: the largest fall, SLAKE modality")
