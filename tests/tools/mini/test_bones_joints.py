"""The mini cases of Bones and Joints: canonical, balanced, small, and told apart by their pictures."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.data import documents, mini
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.bones_joints import phantom as bone
from lmms_medtasks.task_configs.bones_joints.source import BONES_JOINTS
from lmms_medtasks.task_configs.bones_joints.source_forms import site_names
from tools.mini import bones_joints

SPLITS = ("t1", "t2", "t3", "open", "t8")


@pytest.fixture(scope="module")
def built():
    return bones_joints.rows()


@pytest.fixture(scope="module")
def bundled():
    return {split: pq.read_table(mini.mini_file("bones_joints", split)).to_pylist() for split in SPLITS}


def _pixels(row):
    found = [Image.open(io.BytesIO(image["bytes"])) for image in documents.images_of(row)]
    return [np.asarray(image).astype(int) for image in found]


def test_the_bundled_rows_are_what_the_code_builds(built, bundled):
    for split in SPLITS:
        plain = [[{k: v for k, v in row.items() if k not in ("image", "images")} for row in rows[split]]
                 for rows in (built, bundled)]  # fmt: skip
        assert plain[0] == plain[1]
        for fresh, old in zip(built[split], bundled[split], strict=True):
            for one, other in zip(_pixels(fresh), _pixels(old), strict=True):
                assert np.mean(np.abs(one - other) > 6) <= 0.01


def test_rows_are_canonical_documents(bundled):
    for split, rows in bundled.items():
        assert [documents.document_problem(row, BONES_JOINTS.tags, images_optional=True) for row in rows] == [
            None
        ] * len(rows)
        assert len({row["id"] for row in rows}) == len(rows)
        wanted = split not in ("t1", "t2")
        assert all((len(documents.images_of(row)) > 0) == wanted for row in rows)
        assert all(row["image_count"] == len(documents.images_of(row)) for row in rows)


def test_every_site_and_finding_is_there(bundled):
    assert {row["site"] for row in bundled["t3"]} == set(site_names()) == set(bone.SITES)
    assert set(Counter(row["disease"] for row in bundled["t3"]).values()) == {5}
    assert Counter(row["answer"] for row in bundled["t3"]) == dict.fromkeys("ABCDE", 5)
    assert Counter(row["task"] for row in bundled["open"]) == dict.fromkeys(("t4", "t5", "t6", "t7"), 25)
    assert sum(row["image_count"] == 2 for row in bundled["t3"]) == 6


def test_the_text_of_task_three_tells_nothing(bundled):
    for row in bundled["t3"]:
        assert set(row["options"]) == set(bones_joints.form()["diseases"].values())
        assert row["disease"] not in row["question"]


def test_no_case_text_names_its_diagnosis_or_another_site(bundled):
    for row in bundled["open"]:
        named = [site for site in site_names() if site in row["question"]]
        assert named == [row["site"]]
        assert row["disease"] not in row["question"] and row["report"]


def test_the_released_pairs_are_mismatches(bundled):
    assert all(row["site"] != row["image_site"] and row["case_id"] != row["image_case"] for row in bundled["t8"])


def test_the_bundle_is_small():
    assert sum(mini.mini_file("bones_joints", split).stat().st_size for split in SPLITS) < 600_000


# --- the phantom ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("site", bone.SITES)
def test_findings_are_where_they_should_be(site):
    from lmms_medtasks.baselines import canvas

    grid = canvas.make_grid(bone.SIZE)
    pictures = {
        finding: bone.render_phantom({"site": site, "finding": finding, "view": "first", "side": "left"}, grid)
        for finding in bone.FINDINGS
    }
    anatomy = bone.ANATOMY[site]

    def level(finding, at):
        column, row = (int((v + 1) * bone.SIZE / 2) for v in at)
        return float(pictures[finding][row - 1 : row + 2, column - 1 : column + 2].mean())

    place, _ = bone._point_along(anatomy.shaft, 0.45)
    assert level("fracture", place) < level("lesion", place) - 30  # a dark gap
    assert level("lesion", anatomy.lesion) < level("fracture", anatomy.lesion) - 15  # a dark hole
    assert pictures["plate"].max() > 250 > pictures["fracture"].max()  # metal
    middle = (anatomy.joint[0] + anatomy.close[0] / 2, anatomy.joint[1] + anatomy.close[1] / 2)
    assert level("osteoarthritis", middle) > level("fracture", middle)  # the space is gone
    moved = np.abs(pictures["dislocation"] - pictures["fracture"]) > 40
    assert moved.mean() > 0.04  # bones are elsewhere


def test_the_same_seed_draws_the_same_picture():
    facts = {"site": "knee", "finding": "fracture", "view": "second", "side": "right"}
    one, other, third = (bone.draw_phantom(facts, seeded_generator("phantom", seed)) for seed in (1, 1, 2))
    assert one.dtype == np.uint8 and one.shape == (bone.SIZE, bone.SIZE)
    assert (one == other).all() and (one != third).any()
