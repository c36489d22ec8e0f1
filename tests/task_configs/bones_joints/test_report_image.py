"""What the images are worth, rotated options, and judges as a source of variance: tables of runs written by hand."""

from __future__ import annotations

import pytest

from lmms_medtasks.report import Options, build

OTHER = {"name": "openai:other", "version": 1, "digest": "0123456789ab", "settings": {}, "is_paper_judge": False}


def tables(paths, part=0):
    """The tables of a part by key: rows of cells' values by the texts in the row."""
    parts = [each for each in build(paths, Options(resamples=50, drawn=False)).parts if each.title != "Comparison"]
    return {table.key: table for section in parts[part].sections for table in section.tables}


def cells(table):
    return [[cell.value for cell in row.cells] for row in table.rows]


def test_the_images_benefit_is_shown_for_every_task_that_was_asked_both_ways(write_bones):
    run = write_bones(t3="AABA", t3_noimage="ABBB", t4="+++ +++ --- ---", t4_noimage="+++ --- --- ---")
    found = cells(tables([run])["without_images"])
    # Task III: 3 of 4 with, 1 of 4 without; IV: 2 of 4 and 1 of 4.
    assert [row[1:] for row in found] == [[4, 75.0, 25.0, 50.0], [4, 50.0, 25.0, 25.0]]
    assert [row[0][:4] for row in found] == ["III:", "IV: "]


def test_without_a_no_image_task_there_is_no_such_table(write_bones):
    assert "without_images" not in tables([write_bones(t3="AABA")])


def test_judgements_of_an_answer_are_a_level_of_the_variance(write_bones):
    # Case a: 100, 100, 0; b: 0, 0, 0; c: 100, 100, 100; d: 0, 0, 100. Each case has one question and one reply.
    # Within: sums of squares 2/3 + 0 + 0 + 2/3 of 100² with 8 degrees of freedom: 1/6. Between: means 2/3, 0, 1, 1/3
    # of 1/2: 3 * (1/36 + 1/4 + 1/4 + 1/36) = 5/3 with 3; (5/9 - 1/6) / 3 = 7/54.
    table = tables([write_bones(t4="++- --- +++ --+")])["variance"]
    rows = cells(table)
    assert [row[1:3] for row in rows] == [["image and question and reply", 4], ["judgement", 12]]
    assert [row[3] for row in rows] == pytest.approx([100 * (7 / 54) ** 0.5, 100 * (1 / 6) ** 0.5])
    assert rows[1][4] == pytest.approx(100 * (1 / 6) / (1 / 6 + 7 / 54))
    # Of the mean: 7/54 / 4 and 1/6 / 12.
    assert rows[1][5] == pytest.approx(100 * (1 / 72) / (1 / 72 + 7 / 216))


def test_two_judges_of_the_same_answers_are_a_sample_of_judges(write_bones):
    one = write_bones("one", t4="+++ --- +++ ---")
    two = write_bones("two", t4="+++ +++ +++ ---", judge=OTHER)
    (row,) = cells(tables([one, two])["judge_variance"])
    assert row[:3] == ["bones_joints_t4_diagnosis", 4, 4]
    assert row[3] == "openai:gpt-4o 50.00; openai:other 75.00" and row[4] == pytest.approx(62.5)
    # Between the means 50 and 75 there is a variance of 312.5; interaction takes 312.5 of it away here: the judges
    # differ on one image of four.
    assert row[5] == 0 and row[6] == 0


def test_other_answers_are_not_compared_and_one_judge_is_no_sample(write_bones):
    one = write_bones("one", t4="+++ --- +++ ---")
    assert "judge_variance" not in tables([one])
    other_model = write_bones("two", t4="+++ +++ +++ ---", judge=OTHER, model="another_model")
    assert "judge_variance" not in tables([one, other_model])
