"""SURE-VQA's mini data: small, balanced, in the form of its suites, and what the code draws."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from lmms_medtasks.baselines.phantoms import all_questions
from lmms_medtasks.data import documents, mini, sources
from lmms_medtasks.pictures import image_problem
from lmms_medtasks.task_configs.sure_vqa import source_shifts
from tools.mini import sure_vqa

SUITES = ("sure_slake", "sure_ovqa", "sure_mimic")
SPLITS = ("train", "validate", "test")


@pytest.fixture(scope="module")
def bundled():
    return {
        suite: {split: pq.read_table(mini.mini_file(suite, split)).to_pylist() for split in SPLITS} for suite in SUITES
    }


@pytest.fixture(scope="module")
def made():
    return sure_vqa.drawn_documents()


def test_all_files_together_are_small():
    assert sum(mini.mini_file(suite, split).stat().st_size for suite in SUITES for split in SPLITS) < 1_500_000


@pytest.mark.parametrize("suite", SUITES)
def test_the_bundled_rows_are_what_the_code_makes(bundled, made, suite):
    def texts(rows):
        return [{key: value for key, value in row.items() if key not in ("image", "image_id")} for row in rows]

    for split in SPLITS:
        assert texts(bundled[suite][split]) == texts(made[suite][split])


@pytest.mark.parametrize("suite", SUITES)
def test_rows_are_canonical_documents(bundled, suite):
    record = sources.get(suite)
    for split in SPLITS:
        for row in bundled[suite][split]:
            assert documents.document_problem(row, record.tags, images_optional=record.images_optional) is None
            assert row["image"] is None or not image_problem(row["image"]["bytes"])
    assert len({row["id"] for split in SPLITS for row in bundled[suite][split]}) == sum(
        map(len, bundled[suite].values())
    )
    assert all(row["image"] for row in bundled[suite]["test"])


def test_every_shift_has_questions_of_both_kinds_on_both_sides_and_some_to_train(bundled):
    for shift in source_shifts.all_shifts().values():
        rows = [row for split in SPLITS for row in bundled[shift.suite][split]]
        counts = Counter((shift.tests(row), row["answer_type"]) for row in rows)
        for side in ("iid", "ood"):
            assert min(counts[side, "closed"], counts[side, "open"]) >= 5, shift.name
        assert sum(map(shift.trains, rows)) >= 50, shift.name


@pytest.mark.parametrize("suite", SUITES)
def test_answers_of_yes_and_no_are_balanced(bundled, suite):
    counts = Counter(row["answer"].lower() for row in bundled[suite]["test"] if row["answer_type"] == "closed")
    assert 0.4 < counts["yes"] / counts.total() < 0.6


def test_mimic_has_patients_of_whom_something_is_not_known(bundled):
    rows = bundled["sure_mimic"]["test"]
    assert {row["gender"] for row in rows} == {"M", "F", ""}
    assert "UNKNOWN/OTHER" in {row["ethnicity"] for row in rows}
    assert any(40 <= row["age"] < 60 for row in rows)
    assert {row["answer_type"] for row in rows} == {"open", "closed", "multilabel"}
    assert "gender" in {row["content_type"] for row in rows}


def test_its_questions_are_none_of_medq_degs():
    ours = {entry.question.text for entry in sure_vqa.entries()}
    assert len(ours) == len(sure_vqa.entries())
    assert not ours & {question.text for question in all_questions()}
