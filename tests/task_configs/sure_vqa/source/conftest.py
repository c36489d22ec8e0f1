"""Small releases in the form of SLAKE, OVQA and MIMIC-CXR-VQA, drawn at random, with everything that is odd in them."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile

import pytest

from lmms_medtasks.seeding import seeded_generator

SPLITS = ("train", "validate", "test")


def write_json(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")


def slake_row(number, **changes):
    row = {
        "img_id": number,
        "img_name": f"xmlab{number}/source.jpg",
        "question": f"Is number {number} healthy?",
        "answer": "Yes",
        "q_lang": "en",
        "location": "Lung",
        "modality": "CT",
        "answer_type": "CLOSED",
        "base_type": "vqa",
        "content_type": "Abnormality",
        "triple": ["vhead", "_", "_"],
        "qid": number,
    }
    return {**row, **changes}


def ovqa_row(number, **changes):
    row = {
        "qid": number,
        "image_name": f"{number}.jpg",
        "question": f"Is number {number} broken?",
        "answer": "no",
        "answer_type": "CLOSED",
        "question_type": "Abnormality",
        "image_organ": "HAND",
    }
    return {**row, **changes}


def mimic_row(number, **changes):
    row = {
        "split": "test",
        "idx": number,
        "subject_id": 10 + number,
        "study_id": 500 + number,
        "image_id": f"image-{number}",
        "image_path": f"p10/p{10 + number}/s1/image-{number}.jpg",
        "question": f"SECRET question {number}?",
        "semantic_type": "verify",
        "content_type": "presence",
        "template": "Is there ${attribute}?",
        "template_arguments": {"object": {}, "attribute": {"0": "edema"}, "category": {}, "viewpos": {}, "gender": {}},
        "answer": ["yes"],
    }
    return {**row, **changes}


@pytest.fixture
def rows_of():
    """``rows_of["slake"](number, field=value ...)``: a good record of a data set."""
    return {"slake": slake_row, "ovqa": ovqa_row, "mimic": mimic_row}


@pytest.fixture
def write(tmp_path, png):
    """``write("slake", {split: rows}, **options)``: a release with these records and their images; its folder."""

    def slake(folder, splits, zipped=False, **_):
        for split, rows in splits.items():
            write_json(folder / ("validation.json" if split == "validate" else f"{split}.json"), rows)
        names = sorted({row["img_name"] for rows in splits.values() for row in rows})
        images = {f"imgs/{name}": png(i, 8 + i) for i, name in enumerate(names)}
        if zipped:
            with zipfile.ZipFile(folder / "imgs.zip", "w") as archive:
                for name, data in images.items():
                    archive.writestr(name, data)
        else:
            for name, data in images.items():
                put(folder / name, data)

    def ovqa(folder, splits, **_):
        for split, rows in splits.items():
            write_json(folder / f"{split}.json", rows)
        names = sorted({row["image_name"] for rows in splits.values() for row in rows})
        for i, name in enumerate(names):
            put(folder / "img" / name, png(i, 8 + i))

    def mimic(folder, splits, patients=None, races=None, packed=False):
        for split, rows in splits.items():
            write_json(folder / ("valid.json" if split == "validate" else f"{split}.json"), rows)
        every = [row for rows in splits.values() for row in rows]
        for i, name in enumerate(sorted({row["image_path"] for row in splits.get("test", [])})):
            put(folder / "files" / name, png(i, 8 + i))
        numbers = sorted({row["subject_id"] for row in every})
        patients = [(number, "M", 65) for number in numbers] if patients is None else patients
        races = [(number, "WHITE") for number in numbers] if races is None else races
        table(folder / "hosp" / "patients.csv", ["subject_id", "gender", "anchor_age"], patients, packed)
        table(folder / "hosp" / "admissions.csv", ["subject_id", "race"], races, packed)

    def put(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def table(path, header, rows, packed):
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.with_name(path.name + ".gz") if packed else path
        with gzip.open(path, "wt", newline="") if packed else path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    def make(kind, splits, **options):
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        {"slake": slake, "ovqa": ovqa, "mimic": mimic}[kind](folder, splits, **options)
        return folder

    return make


@pytest.fixture
def random_release(write):
    """``random_release("slake", seed)``: (folder, {split: records}, patients, races) with odd records among them."""

    def pick(rng, *values):
        return values[int(rng.integers(len(values)))]

    def slake(rng):
        modality = {number: pick(rng, "CT", "MRI", "X-Ray") for number in range(40)}
        splits: dict[str, list] = {split: [] for split in SPLITS}
        for qid in range(300):
            image = int(rng.integers(40))  # constant modality within an image, question types vary
            split = SPLITS[image % 3]
            content = pick(rng, "Size", "Position", "Abnormality", "Organ")
            language = pick(rng, "en", "en", "zh")
            answer, kind = pick(rng, ("Yes", "CLOSED"), ("No", "CLOSED"), ("MRI", "CLOSED"), ("Lung", "OPEN"))
            splits[split].append(
                slake_row(image, qid=qid, modality=modality[image], content_type=content, q_lang=language,
                          answer=answer, answer_type=kind, question=f"Question {qid % 7}?")
            )  # fmt: skip
        return splits

    def ovqa(rng):
        organ = {number: pick(rng, "HAND", "CHEST", "HEAD", "LEG") for number in range(40)}
        splits: dict[str, list] = {split: [] for split in SPLITS}
        for qid in range(300):
            image = int(rng.integers(40))
            asked, answer, kind = pick(
                rng, ("Is it broken?", "yes", "CLOSED"), ("Is it broken?", "No.", "CLOSED"),
                ("Left or right?", "left", "CLOSED"),
                ("Is this an MRI or a CT scan?", "CT", "CLOSED"), ("What is it?", "a fracture", "OPEN"),
            )  # fmt: skip
            kind_of = pick(rng, "Abnormality", "Organ System", "Modality")
            splits[SPLITS[image % 3]].append(
                ovqa_row(image, qid=qid, image_organ=organ[image], question=asked, answer=answer, answer_type=kind,
                         question_type=kind_of)
            )  # fmt: skip
        return splits

    def mimic(rng):
        splits: dict[str, list] = {split: [] for split in SPLITS}
        for idx in range(400):
            image = int(rng.integers(60))
            splits[SPLITS[image % 3]].append(
                mimic_row(
                    image,
                    idx=idx,
                    content_type=pick(rng, "presence", "gender", "size"),
                    answer=[pick(rng, "yes", "no")],
                )
            )
        patients, races = [], []
        for number in range(60):
            if rng.random() < 0.9:  # some are in neither table
                patients += [(10 + number, pick(rng, "M", "F"), int(rng.integers(18, 91)))] * int(rng.integers(1, 3))
            if rng.random() < 0.1:  # several values
                patients.append((10 + number, pick(rng, "M", "F"), int(rng.integers(18, 91))))
            for _ in range(int(rng.integers(0, 4))):
                races.append(
                    (10 + number, pick(rng, "WHITE", "WHITE - RUSSIAN", "BLACK/AFRICAN", "ASIAN", "UNKNOWN", "OTHER"))
                )
        return splits, patients, races

    def make(kind, seed=0, **options):
        rng = seeded_generator("synthetic", kind, seed)
        if kind == "mimic":
            splits, patients, races = mimic(rng)
            return write("mimic", splits, patients=patients, races=races, **options), splits, patients, races
        splits = slake(rng) if kind == "slake" else ovqa(rng)
        return write(kind, splits, **options), splits, [], []

    return make
