"""The cleaning of closed questions: which go, which stay, and where their numbers are said."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from lmms_medtasks.data import doctor, mini, store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.task_configs.sure_vqa.source_reader import (
    MANY,
    NOT_LISTED,
    NOT_NAMED,
    cleaning_reason,
    options_named,
)

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("Which is larger here, the vein or the artery?", 2),
        ("Which is larger here,vein or artery ?", 2),
        ("Which is larger here, vein, artery or nerve?", 3),
        ("Which is larger here,vein,artery, or nerve?", 3),
        ("In this picture, which is larger, vein or artery?", 2),
        ("Is this a T1 weighted or T2 weighted picture?", 2),
        ("Is this MRI, CT or ultrasound?", 3),
        ("In this picture, is the spot white or gray?", 2),
        ("Where is the knee, left, top or upper left?", 3),
        ("Is the sternum in order?", 0),  # no "or" of its own
    ],
)
def test_options_that_a_question_names(question, number):
    assert options_named(question) == number


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Is it large, medium or small?", "Yes.", ""),  # answered by yes or no: stays
        ("Which is larger here, vein or artery?", "Vein", ""),  # in any case
        ("Which is larger here, vein or left  artery?", "Left Artery", ""),
        ("Which is larger here, vein or artery?", "Both", NOT_NAMED),
        ("Which is larger here, vein or artery?", "art", NOT_NAMED),  # words, not parts of words
        ("Which is larger here, vein, nerve or artery?", "Vein", MANY),
        ("Which is larger here, vein or artery?", "", ""),  # rejected as empty by the reader
    ],
)
def test_the_papers_sentence(question, answer, reason):
    assert cleaning_reason(question, answer) == reason


def test_with_a_list_only_what_contains_one_of_its_texts_stays():
    assert cleaning_reason("Is this an MRI or a CT scan?", "PET", ("Is this an MRI or a CT scan",)) == ""
    assert cleaning_reason("Vein or artery?", "Vein", ("Is this an MRI or a CT scan",)) == NOT_LISTED
    assert cleaning_reason("Vein or artery?", "no", ()) == ""


def made_up(row):
    return [
        row(1),
        row(2, question="Which is larger, vein, artery or nerve?", answer="Vein"),
        row(3, question="Which is larger, vein or artery?", answer="Both"),
        row(4, question="Which is larger, vein or artery?", answer="Artery"),
        row(5, question="Which is larger, vein, artery or nerve?", answer="Vein", answer_type="OPEN"),
        row(6, question="Which is larger, vein, artery or nerve?", answer="Vein", q_lang="zh"),
    ]


def test_slake_is_cleaned_and_the_dropped_are_listed_by_number(write, rows_of, capsys):
    folder = write("slake", {"test": made_up(rows_of["slake"])})
    prepare_splits("sure_slake", source=folder, splits=["test"], sample=True)
    made = pq.read_table(store.prepared_data_folder("sure_slake", "sample") / "test.parquet").to_pylist()
    assert [row["id"] for row in made] == ["test/1", "test/4", "test/5"]
    notes = store.read_prepared_splits("sure_slake", "sample")["test"].notes
    assert notes["cleaned"] == {MANY: ["2"], NOT_NAMED: ["3"]}
    assert notes["left_out"] == {MANY: 1, NOT_NAMED: 1, "language 'zh' is not English": 1}
    said = capsys.readouterr().err
    assert f"{MANY}: questions 2" in said and f"{NOT_NAMED}: questions 3" in said


def test_the_doctor_lists_them_too_and_counts_a_question_without_an_answer(write, rows_of, capsys):
    rows = [*made_up(rows_of["slake"]), rows_of["slake"](7, answer="", answer_type="OPEN")]
    found = doctor.diagnose_release("sure_slake", write("slake", {"test": rows}))
    details = [each.detail for each in found.findings]
    for reason, number in ((MANY, "2"), (NOT_NAMED, "3")):
        assert f"1 record left out, {reason}: questions {number}" in details
        assert sum(reason in each for each in details) == 1  # said once, and not on stderr before
        assert reason not in capsys.readouterr().err
    empty = "1 record would be rejected: answer is empty (the sizes below have it): questions 7"
    assert empty in details  # SLAKE's has the number 1622: kept in the count, asked by no task
    assert {size.what: size.here for size in found.sizes}["test, all"] == 4


def test_a_record_with_the_number_of_a_dropped_one_stays_and_is_said(write, rows_of):
    """The authors' code drops OVQA's questions by number, we drop each record by itself."""
    row = rows_of["ovqa"]
    rows = [row(1), row(2, question="Which side?", answer="left"), row(2), row(3)]
    folder = write("ovqa", {"test": rows})
    prepare_splits("sure_ovqa", source=folder, splits=["test"], sample=True)
    made = pq.read_table(store.prepared_data_folder("sure_ovqa", "sample") / "test.parquet").to_pylist()
    assert [each["id"] for each in made] == ["test/1", "test/2", "test/3"]
    assert store.read_prepared_splits("sure_ovqa", "sample")["test"].notes["number_of_a_dropped_question"] == ["2"]
    details = [each.detail for each in doctor.diagnose_release("sure_ovqa", folder).findings]
    assert any(each.startswith("kept, but the authors' code") and each.endswith(": 2") for each in details)


def of_the_papers_sizes(row):
    """A release in SLAKE's form with the numbers of questions that Table 1 has, and everything that goes."""
    # split: X-rays; of the others those about size; all of the benchmark; closed ones that the cleaning drops.
    parts = {"train": (1418, 285, 4866, 53), "validate": (0, 0, 1043, 10), "test": (361, 56, 1050, 11)}
    splits = {}
    for split, (xrays, size, questions, gone) in parts.items():
        rows = [row(n, img_name="a.jpg", modality="CT", content_type="Plane") for n in range(questions)]
        for n in range(xrays):
            rows[n] |= {"modality": "X-Ray", "img_name": "b.jpg"}
        for n in range(questions - size, questions):
            rows[n] |= {"content_type": "Size"}
        many = {"question": "Which is larger, vein, artery or nerve?", "answer": "Vein", "content_type": "Size"}
        rows += [row(questions + n, img_name="a.jpg", **many) for n in range(gone)]
        splits[split] = [*rows, row(9999, img_name="a.jpg", q_lang="zh")]
    splits["train"][2000] |= {"answer": "", "answer_type": "OPEN"}
    return splits


def test_a_release_of_the_papers_sizes_meets_all_nine_and_is_full(write, rows_of):
    """All nine sizes of Table 1, with the question without an answer; prepared, one training question less."""
    folder = write("slake", of_the_papers_sizes(rows_of["slake"]))
    found = doctor.diagnose_release("sure_slake", folder)
    printed = {size.what: (size.here, size.paper) for size in found.sizes if size.paper is not None}
    assert len(printed) == 9 and all(here == paper for here, paper in printed.values()), printed
    assert not any("sample" in each.detail for each in found.findings)
    manifest = prepare_splits("sure_slake", source=folder)
    rows = {name: (split["rows"], split["rejected"]) for name, split in manifest["splits"].items()}
    assert (manifest["data"], rows) == ("full", {"train": (4865, 1), "test": (1050, 0)})
    assert [
        each["id"] for each in store.read_rejected(store.prepared_data_folder("sure_slake", "full") / store.REJECTED)
    ] == ["2000"]


def test_a_release_that_lacks_a_question_is_a_sample(write, rows_of):
    splits = of_the_papers_sizes(rows_of["slake"])
    del splits["test"][3]
    folder = write("slake", {"test": splits["test"]})
    manifest = prepare_splits("sure_slake", source=folder, splits=["test"])
    assert (manifest["data"], manifest["splits"]["test"]["counts"]) == ("sample", "1,049 questions, 1,050 expected")


@pytest.mark.parametrize("suite", ["sure_slake", "sure_ovqa"])
def test_the_mini_data_has_nothing_that_the_rule_drops(suite):
    rows = [row for path in mini.list_mini_files()[suite].values() for row in pq.read_table(path).to_pylist()]
    closed = [row for row in rows if row["answer_type"] == "closed"]
    assert closed and not any(cleaning_reason(row["question"], row["answer"]) for row in closed)


def test_the_published_annotations_have_the_papers_sizes(tmp_path, png, beside):
    annotations = beside("real/slake/test.json").parent
    folder = tmp_path / "slake"
    for split in ("train", "validate", "test"):
        text = (annotations / f"{split}.json").read_text("utf-8")
        folder.mkdir(exist_ok=True)
        (folder / f"{split}.json").write_text(text, "utf-8")
        for name in {row["img_name"] for row in json.loads(text)}:
            (folder / "imgs" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "imgs" / name).write_bytes(png(1))
    found = doctor.diagnose_release("sure_slake", folder)
    printed = {size.what: (size.here, size.paper) for size in found.sizes if size.paper is not None}
    assert len(printed) == 9 and all(here == paper for here, paper in printed.values()), printed
    assert found.complete

    manifest = prepare_splits("sure_slake", source=folder, splits=["test"])
    test = manifest["splits"]["test"]
    assert (manifest["data"], test["rows"], test["rejected"]) == ("full", 1050, 0)
    assert sorted(len(numbers) for numbers in test["notes"]["cleaned"].values()) == [1, 10]
