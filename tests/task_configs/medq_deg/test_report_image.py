"""What is lost of the image's benefit, and the no-image and circular tasks as sources of a report."""

from __future__ import annotations

import json
import shutil

import pytest

from lmms_medtasks.report import ReportOptions, build_report

TRIALS = {
    0: {"q1": "AA", "q2": "BB"},
    1: {"q1": "AA", "q2": "BA"},
    2: {"q1": "AB", "q2": "AA"},
}
COPIES = 6
"""Of each of the two questions, on images of their own: fewer than five images have no interval."""


def copied(trials):
    return {f"{name}/{copy}": own for name, own in trials.items() for copy in range(COPIES)}


def parts(*folders):
    return build_report(list(folders), ReportOptions(resamples=200, drawn=False)).parts


def benefit(part):
    return next((t for section in part.sections for t in section.tables if t.key == "benefit_lost"), None)


@pytest.fixture
def run(tmp_path, medq_deg_runs):
    """Writes a run with the levels and one without images into folders of their own; returns both."""

    def made(blind, *, model="some_model", **chosen):
        for name in ("levels", "blind"):
            shutil.rmtree(tmp_path / name, ignore_errors=True)
            (tmp_path / name).mkdir()
        own = {
            f"{name}/{copy}": (f"{image} {copy}", *rest)
            for name, (image, *rest) in medq_deg_runs.QUESTIONS.items()
            for copy in range(COPIES)
        }
        levels = {level: copied(trials) for level, trials in TRIALS.items()}
        medq_deg_runs.write(tmp_path / "levels", trials=levels, questions=own, **chosen)
        medq_deg_runs.write(
            tmp_path / "blind", trials={0: copied(blind)}, questions=own, levels=(0,), stem="medq_deg_noimage",
            together=True, model=model,
        )  # fmt: skip
        file = next((tmp_path / "blind").glob("*_results.json"))
        content = json.loads(file.read_text())
        content["configs"]["medq_deg_noimage"]["lmms_eval_specific_kwargs"] = {"default": {"no_image": True}}
        file.write_text(json.dumps(content))
        return tmp_path / "levels", tmp_path / "blind"

    return made


def own_part(found):
    return next(part for part in found if part.title.startswith("some_model (our degradations, "))


def test_drops_stand_beside_what_the_image_is_worth(run):
    table = benefit(own_part(parts(*run({"q1": "BB", "q2": "AA"}))))
    # Clean 1, without 0: the benefit is 1. L1: 1 and 1/2, L2: 1/2 and 0: 1/4 and 3/4 of it are lost.
    assert [row.cells[-1].value for row in table.rows] == [25.0, 75.0]
    assert all(row.cells[-1].low < row.cells[-1].value < row.cells[-1].high for row in table.rows)
    assert [[cell.value for cell in row.cells[2:7]] for row in table.rows] == [
        [100, 0, 100, 75, 25],
        [100, 0, 100, 25, 75],
    ]


def test_a_model_that_is_not_beyond_its_floor_has_an_empty_cell_and_a_reason(run):
    table = benefit(own_part(parts(*run({"q1": "AA", "q2": "BB"}))))
    assert [row.cells[-1].value for row in table.rows] == [None, None]
    assert sum("not beyond its no-image floor" in note for note in table.all_notes) == 2


def test_another_models_floor_is_not_taken(run):
    found = parts(*run({"q1": "BB", "q2": "AA"}, model="another"))
    assert all(benefit(part) is None for part in found)


def test_questions_without_images_are_a_source_and_no_row_of_the_papers_tables(run):
    found = parts(*run({"q1": "BB", "q2": "AA"}))
    titles = [part.title for part in found]
    assert "some_model (our degradations, no image, 2 trials)" in titles
    flags = next(part for part in found if "no image" in part.title).flags
    assert not any("Levels missing" in flag.text for flag in flags)
    table = next(t for section in found[0].sections for t in section.tables if t.key == "table6")
    own = [row.cells for row in table.rows if row.kind == "run"]
    assert [cells[0].value for cells in own] == 2 * ["some_model (our degradations, 2 trials)"]
    assert ["the paper's rule" in cells[1].value for cells in own] == [True, False]
