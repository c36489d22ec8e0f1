"""The splits that our tasks make, against a naive reading of the paper's text on synthetic releases."""

from __future__ import annotations

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.task_configs.sure_vqa import hooks

pytestmark = pytest.mark.usefixtures("home")

ALL = ["train", "validate", "test"]


def prepared(suite, folder, splits):
    """The rows that a task reads, with whatever splits its YAML names."""
    prepare_splits(suite, source=folder, splits=ALL)
    data = "full" if store.read_manifest(suite, "full") else "sample"
    return datasets.Dataset(
        pa.concat_tables([pq.read_table(store.prepared_data_folder(suite, data) / f"{s}.parquet") for s in splits])
    )


def ids(dataset, side):
    return sorted(name for name, each in zip(dataset["id"], dataset["set"], strict=True) if each == side)


def named(split, rows, key):
    return [f"{split}/{row[key]}" for row in rows]


def clean_slake(rows):
    """English only; no closed question whose answer it does not name, which here are those answered by "MRI"."""
    return [row for row in rows if row["q_lang"] == "en" and row["answer"] != "MRI"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("shift", "field", "value", "join"),
    [
        (
            "sure_slake_modality",
            "modality",
            "X-Ray",
            True,
        ),  # "we merged the test set with the OoD cases from the train"
        ("sure_slake_question_type", "content_type", "Size", False),  # "we only use the OoD cases from the test set"
        ("sure_slake_modality_swapped", "modality", "MRI", True),  # Table 23
        ("sure_slake_question_type_swapped", "content_type", "Position", False),
    ],
)
def test_slake(random_release, shift, field, value, join, seed):
    folder, raw, *_ = random_release("slake", seed)
    english = {split: clean_slake(rows) for split, rows in raw.items()}
    iid = [row for row in english["test"] if row[field] != value]
    ood = [row for row in english["test"] if row[field] == value]
    joined = [row for row in english["train"] if row[field] == value] if join else []

    made = getattr(hooks, shift)(prepared("sure_slake", folder, ["test", "train"] if join else ["test"]))
    assert ids(made, "iid") == sorted(named("test", iid, "qid"))
    assert ids(made, "ood") == sorted(named("test", ood, "qid") + named("train", joined, "qid"))
    assert set(made["answer_type"]) == {"open", "closed"}


def clean(rows):
    """Appendix C.1.2: no closed question whose answers were not yes and no, but for the three about CT and MRI."""
    return [
        row
        for row in rows
        if row["answer_type"] == "OPEN"
        or row["answer"].strip(".").lower() in ("yes", "no")
        or "CT scan" in row["question"]
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("shift", "is_ood", "join"),
    [
        ("sure_ovqa_body_part", lambda row: row["image_organ"] == "LEG", True),
        ("sure_ovqa_question_type", lambda row: row["question_type"] == "Organ System", False),
        # Appendix F: both; "all other samples classified as i.i.d."
        (
            "sure_ovqa_multimodal",
            lambda row: row["image_organ"] == "LEG" and row["question_type"] == "Organ System",
            False,
        ),
    ],
)
def test_ovqa(random_release, shift, is_ood, join, seed):
    folder, raw, *_ = random_release("ovqa", seed)
    kept = {split: clean(rows) for split, rows in raw.items()}
    iid = [row for row in kept["test"] if not is_ood(row)]
    ood = [row for row in kept["test"] if is_ood(row)]
    joined = [row for row in kept["train"] if is_ood(row)] if join else []

    made = getattr(hooks, shift)(prepared("sure_ovqa", folder, ["test", "train"] if join else ["test"]))
    assert ids(made, "iid") == sorted(named("test", iid, "qid"))
    assert ids(made, "ood") == sorted(named("test", ood, "qid") + named("train", joined, "qid"))
    assert len(raw["test"]) > len(kept["test"]), "the synthetic release has something to clean"


def patient_facts(patients, races):
    """Sex, age and ethnicity by patient; None where not known or not unique (C.1.3)."""
    facts = {}
    for number in {row[0] for row in (*patients, *races)}:
        sexes = {row[1] for row in patients if row[0] == number}
        ages = {row[2] for row in patients if row[0] == number}
        groups = {
            "WHITE" if race.startswith("WHITE") else race
            for who, race in races
            if who == number and race not in ("UNKNOWN", "OTHER")
        }
        facts[number] = tuple(each.pop() if len(each) == 1 else None for each in (sexes, ages, groups))
    return facts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shift", ["gender", "ethnicity", "age"])
def test_mimic(random_release, shift, seed):
    folder, raw, patients, races = random_release("mimic", seed, packed=seed == 1)
    facts = patient_facts(patients, races)
    iid, ood = [], []
    for row in raw["test"]:
        sex, age, ethnicity = facts.get(row["subject_id"], (None, None, None))
        if shift == "gender" and sex and row["content_type"] != "gender":
            (iid if sex == "M" else ood).append(row)
        if shift == "ethnicity" and ethnicity:
            (iid if ethnicity == "WHITE" else ood).append(row)
        if shift == "age" and age is not None and (age >= 60 or age < 40):
            (iid if age >= 60 else ood).append(row)

    made = getattr(hooks, f"sure_mimic_{shift}")(prepared("sure_mimic", folder, ["test"]))
    assert ids(made, "iid") == sorted(named("test", iid, "idx"))
    assert ids(made, "ood") == sorted(named("test", ood, "idx"))
    several = [
        number for number in {row[0] for row in patients} if len({row[1] for row in patients if row[0] == number}) > 1
    ]
    assert several, "the synthetic release has patients with several values"


def test_training_sets_are_the_iid_part_of_train(random_release):
    from lmms_medtasks.task_configs.sure_vqa import source_shifts

    folder, raw, *_ = random_release("slake")
    rows = list(prepared("sure_slake", folder, ALL).remove_columns(["image", "images"]))
    shift = source_shifts.get("sure_slake_modality")
    trained = sorted(row["id"] for row in rows if shift.trains(row))
    english = [row for row in clean_slake(raw["train"]) if row["modality"] != "X-Ray"]
    assert trained == sorted(named("train", english, "qid"))
    tested = {row["id"] for row in rows if shift.tests(row)}
    assert not tested & set(trained)


@pytest.mark.parametrize("side", ["iid", "ood"])
def test_one_side_alone_is_that_side_of_both(random_release, side):
    folder, *_ = random_release("slake")
    rows = prepared("sure_slake", folder, ["test", "train"])
    both = hooks.sure_slake_modality(rows)
    alone = getattr(hooks, f"sure_slake_modality_{side}")(rows)
    assert sorted(alone["id"]) == ids(both, side)
    assert set(alone["set"]) == {side}
