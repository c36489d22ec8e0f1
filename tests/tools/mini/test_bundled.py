"""The bundled mini data: what the code draws, in canonical form, small, and worth little without its pictures."""

from __future__ import annotations

import io
from collections import Counter, defaultdict

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.baselines.phantoms import all_questions
from lmms_medtasks.data import documents, mini, sources
from lmms_medtasks.task_configs.bones_joints import phantom as bone
from lmms_medtasks.task_configs.bones_joints.source_forms import site_names
from lmms_medtasks.task_configs.med_cmr.measures import load_dimensions
from lmms_medtasks.task_configs.medobvious.source import FORMATS
from lmms_medtasks.task_configs.sure_vqa import source_shifts
from tools.mini import bones_joints, build, sure_vqa

LARGEST = {"medq_deg": 6_000_000, "medobvious": 1_500_000, "med_cmr": 1_000_000}
"""Bytes of all files of a data set; 600,000 of the others."""
FILES = [(suite, split) for suite, splits in mini.list_mini_files().items() for split in splits]
# Their pictures are stored with loss, or in a palette: with other libraries ids made of bytes are others.
BYTES_VARY = ("medobvious", "sure_slake", "sure_ovqa", "sure_mimic")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return {path.name: path for path in build.build(tmp_path_factory.mktemp("mini"))}


@pytest.fixture(scope="module")
def bundled():
    return {case: pq.read_table(mini.mini_file(*case)).to_pylist() for case in FILES}


def _pixels(row):
    found = [Image.open(io.BytesIO(image["bytes"])) for image in documents.images_of(row) if image]
    assert not any(image.info for image in found if image.format == "PNG")  # no metadata
    return [np.asarray(image.convert("RGB")).astype(int) for image in found]


@pytest.mark.parametrize(("suite", "split"), FILES)
def test_the_bundled_rows_are_what_the_code_draws(built, bundled, suite, split):
    left_out = ("image", "images", "image_id") if suite in BYTES_VARY else ("image", "images")
    fresh = pq.read_table(built[mini.file_name(suite, split)]).to_pylist()
    plain = [
        [{key: value for key, value in row.items() if key not in left_out} for row in rows]
        for rows in (fresh, bundled[suite, split])
    ]
    assert plain[0] == plain[1]
    if suite in BYTES_VARY:
        return
    # Other versions of NumPy and SciPy may round differently, and levels are drawn in steps of up to 6; a picture
    # that differs by more than that in more than 1 pixel in 100 was drawn by other code.
    for row, old in zip(fresh, bundled[suite, split], strict=True):
        for new_pixels, old_pixels in zip(_pixels(row), _pixels(old), strict=True):
            differing = float(np.mean(np.abs(new_pixels - old_pixels) > 6))
            assert differing <= 0.01, f"{row['id']}: {differing:.0%} of pixels differ. Rebuild with {build.__name__}."


def test_every_file_is_drawn_and_no_other(built):
    assert sorted(built) == sorted(mini.file_name(*case) for case in FILES)


@pytest.mark.parametrize("suite", mini.list_mini_files())
def test_rows_are_canonical_documents_and_small(bundled, suite):
    record, ids = sources.get(suite), []
    for split in mini.list_mini_files()[suite]:
        for row in bundled[suite, split]:
            optional = record.images_optional or split == "train"
            assert documents.document_problem(row, record.tags, images_optional=optional) is None, row["id"]
            assert row["data"] == "mini"
            ids.append(row["id"])
    assert len(set(ids)) == len(ids)
    size = sum(path.stat().st_size for path in mini.list_mini_files()[suite].values())
    assert size < LARGEST.get(suite, 600_000)


def right_of(row):
    return row["options"][ord(row["answer"]) - ord("A")]


def test_medq_deg_the_most_frequent_training_answer_gets_chance(bundled):
    clean, train = bundled["medq_deg", "clean"], bundled["medq_deg", "train"]
    asked = [{(row["question"], tuple(sorted(row["options"]))) for row in rows} for rows in (clean, train)]
    assert asked[0] == asked[1] and {row["image"] for row in train} == {None}
    assert not {row["image_id"] for row in clean} & {row["image_id"] for row in train}
    counts = defaultdict(Counter)
    for row in train:
        counts[row["question"]][right_of(row)] += 1
    hits = [counts[row["question"]].most_common(1)[0][0] == right_of(row) for row in clean]
    # Every option is right equally often, so one fixed guess for each text gets exactly 1/K of its questions.
    assert sum(hits) == pytest.approx(sum(1 / len(row["options"]) for row in clean))


def test_medq_deg_degraded_rows_say_how(bundled):
    clean = {row["id"]: row for row in bundled["medq_deg", "clean"]}
    assert {(row["degradation"], row["severity"]) for row in clean.values()} == {("", 0)}
    for row in bundled["medq_deg", "release"]:
        original = clean[row["id"].removesuffix(f"-{row['degradation']}-L{row['severity']}")]
        assert row["answer"] == original["answer"] and row["image_id"] == original["image_id"]
        assert row["severity"] in (1, 2) and (_pixels(row)[0] != _pixels(original)[0]).any(), row["id"]


def test_bones_and_joints_has_every_site_and_finding_and_no_text_tells_them(bundled):
    exam, cases = bundled["bones_joints", "t3"], bundled["bones_joints", "open"]
    assert {row["site"] for row in exam} == set(site_names()) == set(bone.SITES)
    assert set(Counter(row["disease"] for row in exam).values()) == {5}
    assert Counter(row["answer"] for row in exam) == dict.fromkeys("ABCDE", 5)
    assert Counter(row["task"] for row in cases) == dict.fromkeys(("t4", "t5", "t6", "t7"), 25)
    assert sum(row["image_count"] == 2 for row in exam) == 6
    assert all(set(row["options"]) == set(bones_joints.form()["diseases"].values()) for row in exam)
    assert not [row for row in (*exam, *cases) if row["disease"] in row["question"]]
    assert all([site for site in site_names() if site in row["question"]] == [row["site"]] for row in cases)
    swapped = bundled["bones_joints", "t8"]
    assert all(row["site"] != row["image_site"] and row["case_id"] != row["image_case"] for row in swapped)


def test_med_cmr_has_as_many_questions_of_every_dimension_and_its_text_alone_is_worth_little(bundled):
    names = [each.short for each in load_dimensions()]
    for split, count in (("mcq", 10), ("open", 5)):
        rows = bundled["med_cmr", split]
        assert Counter(row["dimension"] for row in rows) == dict.fromkeys(names, count)
        # A prefix of the rows (--limit) is a sample of all dimensions.
        assert [row["dimension"] for row in rows[:7]] == names
    choice, opened = (bundled["med_cmr", split] for split in ("mcq", "open"))
    for count in (3, 4, 5):
        letters = Counter(row["answer"] for row in choice if len(row["options"]) == count)
        assert max(letters.values()) - min(letters.values()) <= 1
    # The most frequent right option of each question's text, seen with the answers themselves: an upper bound.
    rights = defaultdict(Counter)
    for row in choice:
        rights[row["question"]][right_of(row)] += 1
    assert sum(counts.most_common(1)[0][1] for counts in rights.values()) / len(choice) < 0.75
    assert max(max(counts.values()) for counts in rights.values()) <= 2
    asked = [{(row["image_id"], row["question"]) for row in rows} for rows in (choice, opened)]
    assert not asked[0] & asked[1]
    bank = {question.text: set(question.options) for question in all_questions()}
    assert all(row["answer"] in bank[row["question"]] and row["options"] == [] for row in opened)


def test_medobvious_has_all_tiers_formats_and_grids_and_places_are_spread(bundled):
    rows = bundled["medobvious", "test"]
    assert {row["tier"] for row in rows} == {1, 2, 3, 4, 5} and {row["task_type"] for row in rows} == set(FORMATS)
    assert {row["grid"] for row in rows} == {"2x2", "3x3"} and {len(row["options"]) for row in rows} == {0, 5, 10}
    assert set(Counter((row["item"], row["negative"]) for row in rows).values()) == {5, 3}
    places = Counter(row["answer_position"] for row in rows if not row["negative"] and row["grid"] == "2x2")
    assert len(places) == 4 and max(places.values()) <= 2 * min(places.values())
    assert all(row["answer_position"] == "none" for row in rows if row["negative"])
    for row in rows:
        red = (_pixels(row)[0] == (255, 0, 0)).all(axis=-1).sum()
        assert (red > 500) == (row["task_type"] == "visual_referring"), row["id"]


def test_sure_vqa_has_questions_for_every_shift_and_balanced_answers(bundled):
    for shift in source_shifts.all_shifts().values():
        rows = [row for split in ("train", "validate", "test") for row in bundled[shift.suite, split]]
        counts = Counter((shift.tests(row), row["answer_type"]) for row in rows)
        for side in ("iid", "ood"):
            assert min(counts[side, "closed"], counts[side, "open"]) >= 5, shift.name
        assert sum(map(shift.trains, rows)) >= 50, shift.name
    for suite in ("sure_slake", "sure_ovqa", "sure_mimic"):
        rows = bundled[suite, "test"]
        assert all(row["image"] for row in rows)
        counts = Counter(row["answer"].lower() for row in rows if row["answer_type"] == "closed")
        assert 0.4 < counts["yes"] / counts.total() < 0.6
    # Of some of MIMIC's patients something is not known, or they are of no side.
    assert {row["gender"] for row in rows} == {"M", "F", ""}
    assert "UNKNOWN/OTHER" in {row["ethnicity"] for row in rows} and any(40 <= row["age"] < 60 for row in rows)
    assert {row["answer_type"] for row in rows} == {"open", "closed", "multilabel"}
    ours = {entry.question.text for entry in sure_vqa.entries()}
    assert len(ours) == len(sure_vqa.entries()) and not ours & {question.text for question in all_questions()}
