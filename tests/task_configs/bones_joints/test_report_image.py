"""What the images are worth: tables of runs written by hand."""

from __future__ import annotations

from lmms_medtasks.report import Options, build


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
