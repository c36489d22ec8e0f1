"""A cell of a heat map leads to the ids of its wrong questions."""

import re

import pytest

from lmms_medtasks.report import Options, build
from lmms_medtasks.report.cell_questions import with_cell_questions
from lmms_medtasks.report.document import Part
from lmms_medtasks.report.quotable import Asked
from lmms_medtasks.report.report_page import page
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites import registry


@pytest.fixture(scope="module")
def document(medq_deg_runs, tmp_path_factory):
    """Eight wrong questions in one cell of L2, of another cell none."""
    folder = tmp_path_factory.mktemp("cells")
    names = [f"q{number}" for number in range(8)]
    questions = {name: (f"image {name}", "CT", "Counting", "gaussian_noise", 4, "A") for name in names}
    questions["right"] = ("image r", "CT", "Disease Diagnosis", "motion_blur", 4, "A")
    right = dict.fromkeys(questions, "AA")
    trials = {0: right, 1: right, 2: {**dict.fromkeys(names, "BB"), "q0": "AB", "q1": "AB", "right": "AA"}}
    medq_deg_runs.write(folder, questions=questions, trials=trials)
    return build([folder], Options(resamples=0))


def rows(document):
    (part,) = document.parts
    (table,) = (each for section in part.sections for each in section.tables if each.key == "cell_questions")
    return table, {
        (row.cells[0].value, row.cells[1].value): [cell.value for cell in row.cells[2:]] for row in table.rows
    }


def test_ids_are_bounded_and_the_rest_is_counted(document):
    table, found = rows(document)
    questions, wrong, ids = found["medq_deg_l2", "gaussian_noise, Imaging Perception"]
    # Two questions are wrong in half of their trials: that is not less than half.
    assert (questions, wrong) == (8, 6)
    assert ids == ", ".join(f"q{number}/gaussian_noise/L2" for number in range(2, 7)) + " and 1 more"
    assert found["medq_deg_l2", "motion_blur, Clinical Understanding"] == [1, 0, None]
    assert any("medq_deg_l2.jsonl" in note and "grep" in note for note in table.notes)


def test_every_cell_leads_to_its_row(document):
    text = page(document)
    targets = re.findall(r'<a href="#([^"]*cell_questions-\d+)">', text)
    table, _ = rows(document)
    assert sorted(targets) == sorted(f"{document.parts[0].key}-cell_questions-{n + 1}" for n in range(len(table.rows)))
    assert all(f'id="{target}"' in text for target in targets)
    assert "data-questions" not in text


def test_of_credentialed_data_no_id_is_named(medq_deg_runs, tmp_path):
    medq_deg_runs.write(tmp_path, metadata={"agreement": "a data use agreement"})
    text = page(build([tmp_path], Options(resamples=0)))
    assert "heatmap" in text and "cell_questions" not in text and "q1/gaussian_noise" not in text


def test_a_part_without_such_cells_stays_as_it_is():
    part = Part("a", "a", (), (), ())
    empty = Samples.of_rows([{"id": "q", "task": "t"}])
    assert with_cell_questions(part, Asked(registry.get("medq_deg"), Source("a", empty, empty, 0))) is part
