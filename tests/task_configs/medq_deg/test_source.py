"""MedQ-Deg's tables become documents; what cannot become one is refused with the reason."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lmms_medtasks.data import documents
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id, image_problem
from lmms_medtasks.task_configs.medq_deg.source import MEDQ_DEG, question_key
from lmms_medtasks.task_configs.medq_deg.source_reader import (
    MedQDegReader,
    degradation_name,
    modality_name,
    severity_level,
)

pytestmark = pytest.mark.usefixtures("home")

Row = Callable[..., dict[str, str]]
Write = Callable[..., Path]
CLEAN, SIMULATED = "MedQ-Robust-good-test.tsv", "MedQ-Robust-simulate-test.tsv"


def read(folder, split="clean"):
    return list(MEDQ_DEG.open_split(LocalRelease(folder), MEDQ_DEG.split(split)).candidates())


def document(candidate):
    assert candidate.document is not None, candidate.reason
    return candidate.document


@pytest.mark.parametrize(
    ("text", "level"),
    [("L0", 0), ("l1", 1), ("L2", 2), ("0", 0), ("1", 1), ("2", 2), ("Mild", 1), ("SEVERE", 2), (" mild ", 1)],
)
def test_severities_in_any_spelling(text, level):
    assert severity_level(text) == level


@pytest.mark.parametrize("text", ["", "L3", "3", "moderate", "1.0", "-1"])
def test_other_severities_are_refused_by_name(text):
    with pytest.raises(UserError, match="Unknown severity .* l0, .* l1, mild, .* l2, severe"):
        severity_level(text)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("downsample_artifact", "low_resolution"),
        ("rotation_artifact", "object_rotation"),
        ("random_motion_artifact", "object_movement"),
        ("exposure_artifact", "exposure"),
        ("bubble_artifact", "bubble"),
        ("xray_motion_blur_artifact", "motion_blur"),
        ("limited_angle", "limited_angle"),
        ("Gaussian Noise", "gaussian_noise"),
        ("", ""),
        ("None", ""),
    ],
)
def test_degradations_by_the_papers_names_and_the_sites(theirs, ours):
    assert degradation_name(theirs) == ours


def test_unknown_names_are_refused_with_those_that_exist():
    with pytest.raises(UserError, match="Unknown degradation 'fog'.*Allowed: .*gaussian_noise"):
        degradation_name("fog")
    with pytest.raises(UserError, match="Unknown modality 'PET'.*Allowed: CT, "):
        modality_name("PET")
    assert modality_name(" x_ray ") == "X-ray"


def test_a_clean_row(tmp_path, table, clean_row, png):
    table(tmp_path, [clean_row(7, question="  Which?  ", C="none", answer=" c ", degradation_severity="")])
    (candidate,) = read(tmp_path)
    assert candidate.number == 1 and candidate.id == "7"
    assert document(candidate) == {
        "id": "7",
        "image": {"bytes": png(7), "path": None},
        "images": [],
        "question": "Which?",
        "options": ["a cyst", "a stone", "none"],
        "answer": "C",
        "image_id": image_id([png(7)]),
        "data": "",
        "modality": "CT",
        "degradation": "",
        "severity": 0,
        "capability": "Disease Diagnosis",
        "source": "pool",
    }


def test_degraded_rows_of_a_question_share_their_image_id(tmp_path, table, release_row):
    rows = [
        release_row(1, index="a", degradation_severity="mild", degradation_type="bubble_artifact"),
        release_row(2, index="b", degradation_severity="2", question=" what is SHOWN in  picture 1?"),
        release_row(3, index="c"),
    ]
    table(tmp_path, rows, name=SIMULATED)
    first, second, third = map(document, read(tmp_path, "release"))
    assert (first["degradation"], first["severity"]) == ("bubble", 1)
    assert (second["degradation"], second["severity"]) == ("gaussian_noise", 2)
    # the same question in other letters and spaces about another degraded form, then another question
    assert first["image_id"] == second["image_id"] != third["image_id"]
    expected = question_key(first["question"], first["options"], "B", "CT", "pool")
    assert first["image_id"] == expected and expected.startswith("q-") and len(expected) == 18


def test_the_question_key_sees_every_part():
    parts = ("Which?", ["one", "two"], "A", "CT", "pool")
    others = [
        ("Where?", ["one", "two"], "A", "CT", "pool"),
        ("Which?", ["two", "one"], "A", "CT", "pool"),
        ("Which?", ["one", "two"], "B", "CT", "pool"),
        ("Which?", ["one", "two"], "A", "MRI", "pool"),
        ("Which?", ["one", "two"], "A", "CT", "lake"),
    ]
    assert len({question_key(*parts), *(question_key(*other) for other in others)}) == 6


def test_references_to_other_rows_in_both_directions(tmp_path, table, clean_row, png):
    rows = [
        clean_row(0, image="later"),
        clean_row(1),
        clean_row(2, image="1"),
        clean_row(3, image="0"),  # to a row that refers on
        clean_row(4, index="later"),
    ]
    table(tmp_path, rows)
    found = [document(candidate)["image"]["bytes"] for candidate in read(tmp_path)]
    assert found == [png(4), png(1), png(1), png(4), png(4)]
    ids = [document(candidate)["image_id"] for candidate in read(tmp_path)]
    assert ids[0] == ids[3] == ids[4] and ids[1] == ids[2] != ids[0]


def test_references_that_lead_nowhere(tmp_path, table, clean_row):
    rows = [
        clean_row(0, image="nobody"),
        clean_row(1, image="2"),
        clean_row(2, image="1"),
        clean_row(3, image=""),
        clean_row(4, image="3"),
        clean_row(5, image="5"),
    ]
    table(tmp_path, rows)
    assert [candidate.reason for candidate in read(tmp_path)] == [
        "image 'nobody' is neither an image nor the index of a row",
        "image refers to itself by way of the rows '2', '1'",
        "image refers to itself by way of the rows '1', '2'",
        "there is no image",
        "image refers to row '3', which has none",
        "image refers to itself by way of the rows '5'",
    ]


@pytest.mark.parametrize("dump", [json.dumps, repr])
def test_several_images_in_one_cell(tmp_path, table, clean_row, png, dump):
    pictures = [base64.b64encode(png(number)).decode() for number in (1, 2)]
    table(tmp_path, [clean_row(0, image=dump(pictures)), clean_row(1, image=dump(pictures[:1]))])
    several, one = map(document, read(tmp_path))
    assert several["image"] is None and [image["bytes"] for image in several["images"]] == [png(1), png(2)]
    assert several["image_id"] == image_id([png(1), png(2)])
    assert one["image"]["bytes"] == png(1) and one["images"] == []


def test_images_in_files_of_the_release(tmp_path, table, clean_row, png):
    folder = tmp_path / "release"
    (folder / "imgs").mkdir(parents=True)
    (folder / "imgs" / "a.png").write_bytes(png(1))
    (folder / "imgs" / "b.png").write_bytes(png(2))
    (tmp_path / "secret.png").write_bytes(png(3))
    os.symlink(tmp_path / "secret.png", folder / "imgs" / "link.png")
    paths = [
        "imgs/a.png",
        "['imgs/a.png', 'imgs/b.png']",
        "imgs/c.png",
        "../secret.png",
        str(tmp_path / "secret.png"),
        "imgs/link.png",
        "imgs\\..\\..\\secret.png",
        "",
    ]
    columns = [name for name in clean_row(0) if name != "image"] + ["image_path"]
    table(folder, [clean_row(n, image_path=path) for n, path in enumerate(paths)], columns=columns)
    candidates = read(folder)
    assert document(candidates[0])["image"]["bytes"] == png(1)
    assert [image["bytes"] for image in document(candidates[1])["images"]] == [png(1), png(2)]
    reasons = [candidate.reason for candidate in candidates[2:]]
    assert reasons[0] == f"image 'imgs/c.png': 'imgs/c.png' is not in the source folder {str(folder)!r}."
    assert all("not inside the release's folder" in reasons[n] for n in (1, 2, 4))
    assert "is a link out of the folder" in reasons[3]
    assert reasons[5] == "there is no image"


def test_links_of_a_hub_snapshot_are_inside(tmp_path, table, clean_row):
    repository = tmp_path / "datasets--x"
    (repository / "blobs").mkdir(parents=True)
    table(tmp_path, [clean_row(0)]).rename(repository / "blobs" / "abc")
    snapshot = repository / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    os.symlink(repository / "blobs" / "abc", snapshot / CLEAN)
    assert len(read(snapshot)) == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"index": ""}, "index is empty"),
        ({"question": "  "}, "question is empty"),
        ({"answer": ""}, "answer is empty"),
        ({"modality": ""}, "modality is empty"),
        ({"answer": "C"}, "answer 'C' is not among the options A to B"),
        ({"answer": "a stone"}, "answer 'a stone' is not among the options A to B"),
        ({"B": ""}, "there are 1 options, expected at least 2"),
        ({"D": "a vessel"}, "option C is empty, but D is not"),
        ({"degradation_severity": "L1"}, "the row has severity 1, but stands among the clean ones"),
        ({"image": "x" * 65}, "image is no base64: "),
        ({"image": "[" + "x" * 65}, "image starts like a list of texts and is none: "),
        ({"image": "[1, 2" + ", 3" * 30 + "]"}, "image starts like a list of texts and is none: "),
    ],
)
def test_bad_rows_are_refused_with_the_reason(tmp_path, table, clean_row, changes, reason):
    table(tmp_path, [clean_row(0), clean_row(1, **changes), clean_row(2)])
    before, bad, after = read(tmp_path)
    assert before.document is not None and after.document is not None
    assert bad.document is None and bad.number == 2 and bad.reason.startswith(reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"degradation_severity": ""}, "degradation_severity is empty"),
        ({"degradation_type": ""}, "degradation_type is empty"),
        ({"degradation_severity": "0"}, "the row has severity 0 and degradation 'gaussian_noise', but stands among"),
        ({"degradation_type": "none"}, "the row has severity 1 and degradation '', but stands among the degraded ones"),
    ],
)
def test_degraded_rows_say_how_they_are_degraded(tmp_path, table, release_row, changes, reason):
    table(tmp_path, [release_row(0), release_row(1, **changes)], name=SIMULATED)
    assert read(tmp_path, "release")[1].reason.startswith(reason)


def test_a_short_row_is_refused(tmp_path, table, clean_row):
    path = table(tmp_path, [clean_row(0)])
    with path.open("a") as handle:
        handle.write("1\tiVBOR")
    assert read(tmp_path)[1].reason == "the row has 2 cells, the header has 14"


def test_spellings_that_are_not_known_stop_everything(tmp_path, table, release_row):
    rows = [
        release_row(0),
        release_row(1, modality="pet"),
        release_row(2, modality="PET"),
        release_row(3, degradation_severity="L7"),
    ]
    table(tmp_path, rows, name=SIMULATED)
    with pytest.raises(UserError) as error:
        read(tmp_path, "release")
    text = str(error.value)
    assert SIMULATED in text
    assert "modality, 1 row, first in row 3: Unknown modality 'PET'" in text
    assert "degradation_severity, 1 row, first in row 4: Unknown severity 'L7'" in text
    table(tmp_path, [release_row(0, degradation_type="fog"), release_row(1, degradation_type="fog")], name=SIMULATED)
    for split in ("release", "release_other_types"):
        with pytest.raises(UserError, match="degradation_type, 2 rows, first in row 1: Unknown degradation 'fog'"):
            read(tmp_path, split)


def test_types_that_the_paper_does_not_have_are_kept_apart(tmp_path, table, release_row):
    """The release's page says both 18 and 19 types; the paper has 18, X-ray motion blur being one of motion blur."""
    rows = [release_row(0), release_row(1, degradation_type="Fog "), release_row(2, degradation_type="fog")]
    rows += [release_row(3, degradation_type="halo"), release_row(4, degradation_type="xray_motion_blur_artifact")]
    table(tmp_path, [*rows, release_row(5, image="1")], name=SIMULATED)
    reader = MEDQ_DEG.open_split(LocalRelease(tmp_path), MEDQ_DEG.split("release"))
    assert (reader.records, reader.apart) == (3, {"fog": 2, "halo": 1})
    assert [candidate.id for candidate in reader.candidates()] == ["0", "4", "5"]
    apart = read(tmp_path, "release_other_types")
    assert [(each.number, document(each)["degradation"]) for each in apart] == [(2, "fog"), (3, "fog"), (4, "halo")]
    assert {document(each)["image_id"][:2] for each in apart} == {"q-"}
    table(tmp_path, [*rows[:2], release_row(6, degradation_type="Gausian Blur")], name=SIMULATED)
    reader = MEDQ_DEG.open_split(LocalRelease(tmp_path), MEDQ_DEG.split("release"))
    assert reader.describe_apart().endswith("have: fog (1), gausian blur (1; did you mean 'gaussian_blur'?)")
    table(tmp_path, rows[:1], name=SIMULATED)
    with pytest.raises(UserError, match="has no degradation of a type that the paper does not have"):
        read(tmp_path, "release_other_types")


def test_missing_columns_are_named(tmp_path, table, clean_row):
    table(tmp_path, [clean_row(0)], columns=["index", "picture", "question", "A", "B", "answer", "source"])
    with pytest.raises(
        UserError, match=r"Missing: image or image_path, modality\. Required: .*\. Found: index, picture"
    ):
        read(tmp_path)


def test_a_table_without_rows_is_refused(tmp_path, table):
    table(tmp_path, [])
    with pytest.raises(UserError, match=f"{CLEAN} has a header and no rows"):
        read(tmp_path)


@pytest.mark.parametrize(("name", "text"), [("category", "Diagnosis"), ("l2-category", "Diagnosis"), ("other", "")])
def test_the_capability_column_is_found_under_several_names(tmp_path, table, clean_row, name, text):
    columns = [column for column in clean_row(0) if column != "capability"] + [name]
    table(tmp_path, [clean_row(0, **{name: "Diagnosis"})], columns=columns)
    reader = MEDQ_DEG.open_split(LocalRelease(tmp_path), MEDQ_DEG.split("clean"))
    assert reader.notes["capability_column"] == (name if text else None)
    assert name in reader.notes["columns"]
    assert document(next(iter(reader.candidates())))["capability"] == text


def test_the_papers_counts_and_the_unknown_are_said():
    assert MEDQ_DEG.paper == {"question-answer pairs": 24_894, "clean images": 4_306}
    assert "not stated" in MEDQ_DEG.licence and "not stated" in MEDQ_DEG.terms


def test_the_real_questions(tmp_path, monkeypatch, beside):
    script = beside("make_release_sample.py")
    spec = importlib.util.spec_from_file_location("make_release_sample", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    module.main()
    folder = beside("medq_deg_examples")
    examples = json.loads((folder / "examples.json").read_text())
    clean, degraded = map(document, read(tmp_path)), list(map(document, read(tmp_path, "release")))
    for example, found in zip(examples, clean, strict=True):
        original = (folder / example["images"]["L0"]).read_bytes()
        assert hashlib.sha256(found["image"]["bytes"]).digest() == hashlib.sha256(original).digest()
        assert (found["question"], found["options"], found["answer"]) == (
            example["question"],
            example["options"],
            example["answer"],
        )
        assert found["degradation"] == "" and found["severity"] == 0
        assert documents.document_problem({**found, "data": "sample"}, MEDQ_DEG.tags) is None
        assert not image_problem(found["image"]["bytes"])
    assert len(degraded) == 38 and {found["severity"] for found in degraded} == {1, 2}
    assert len({found["degradation"] for found in degraded}) == 18  # 19 triples, motion_blur twice


def test_the_reader_holds_one_row_at_a_time(tmp_path, table, clean_row):
    """Candidates come lazily: the table is changed under the reader, and the later rows are seen as changed."""
    path = table(tmp_path, [clean_row(number) for number in range(2000)])
    reader = MedQDegReader(LocalRelease(tmp_path), MEDQ_DEG.split("clean"))
    candidates = reader.candidates()
    assert next(candidates).document is not None
    with path.open("r+b") as handle:
        handle.truncate(path.stat().st_size // 2)
    assert sum(1 for _ in candidates) < 1500


def test_quoted_cells_as_pandas_writes_them(tmp_path, table, clean_row):
    path = table(tmp_path, [clean_row(0, question='Is "this"\ta\ncyst?')])
    assert csv.QUOTE_MINIMAL == 0 and '"Is ""this""\ta\ncyst?"' in path.read_text()
    assert document(read(tmp_path)[0])["question"] == 'Is "this"\ta\ncyst?'
