"""Items: panels, tasks, records."""

import io
import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import grids
from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import NONE_OPTION, GridSize
from lmms_medtasks.grids import altered_images, panels
from lmms_medtasks.grids.panels import finish_panels
from lmms_medtasks.grids.pool import load_image
from lmms_medtasks.grids.tasks import NEGATIVE, POSITIVE
from lmms_medtasks.seeding import seeded_generator

PANEL = 40


def build(pictures, **changes):
    return list(grids.build_items(pictures, **{"items": 5, "panel": PANEL, **changes}))


@pytest.fixture(scope="module")
def items(pictures):
    return build(pictures)


def test_five_kinds_in_turn(items):
    assert [item.record["kind"] for item in items] == list(grids.KINDS)
    assert [item.record["tier"] for item in items] == ["v1", "v1", "v4", "v4", "v5"]


def test_eight_tasks_of_the_release_s_form(items):
    for item in items:
        assert [task["id"] for task in item.tasks] == [f"{item.id}_{form}" for form in (*POSITIVE, *NEGATIVE)]
        outlier = item.record["grids"][0]["outlier"]
        position = GridSize(2).positions[outlier]
        answers = [task["answer"] for task in item.tasks]
        assert answers == ["ABCD"[outlier], position, "ABCD"[outlier], position, "yes", "E", "none", "no"]
        assert [task["is_negative"] for task in item.tasks] == [False] * 5 + [True] * 3
        assert {task["image_path"] for task in item.tasks} == {f"benchmark_refined/{name}" for name in item.images}
        for task in item.tasks:
            assert ("options" in task) == ("mcq" in task["task_type"]) == ("answer_position" in task)
            assert "2×2" in task["question"]
        assert list(item.tasks[0]["options"].values()) == [*GridSize(2).positions, NONE_OPTION]


def test_the_wording_says_nothing_about_the_sign(items):
    texts = {}
    for item in items:
        for task in item.tasks:
            if not task["task_type"].startswith("referring"):
                texts.setdefault(task["task_type"], set()).add(task["question"])
    assert {kind: len(found) for kind, found in texts.items()} == dict.fromkeys(texts, 1)


def test_no_picture_twice(items):
    used = Counter()
    for item in items:
        for grid in item.record["grids"]:
            used.update(panel["picture"] for panel in grid["panels"])
            used.update(grid.get("texture_from", ()))
    assert max(used.values()) == 1
    assert len(used) >= 40


def test_inliers_share_a_category_and_have_no_finding(items):
    for item in items:
        for grid in item.record["grids"]:
            inliers = [panel["labels"] for index, panel in enumerate(grid["panels"]) if index != grid["outlier"]]
            assert len({tuple(sorted(labels.items())) for labels in inliers}) == 1
            assert "finding" not in inliers[0]


def test_what_the_manifest_says_of_the_outlier(items):
    category, turned, view, broken, finding = (item.record["grids"][0] for item in items)
    of = lambda grid: grid["panels"][grid["outlier"]]["labels"]  # noqa: E731
    other = lambda grid: grid["panels"][(grid["outlier"] + 1) % 4]["labels"]  # noqa: E731
    assert of(category)["modality"] != other(category)["modality"]
    assert turned["transformation"] in (altered_images.MIRROR, *altered_images.TURNS)
    assert turned["laterality_error"] is (turned["transformation"] == "flip_horizontal")
    assert of(turned) == other(turned)
    assert {of(view)["view"], other(view)["view"]} == {"PA", "lateral"}
    assert broken["violation"]["name"] == "texture" and len(broken["texture_from"]) == 1
    assert of(finding)["finding"] == "fracture"
    assert "fracture" in items[4].tasks[2]["question"]


def test_a_turned_panel_is_the_turned_picture(pictures):
    item = build(pictures, items=1, kinds=("orientation",), match=False)[0]
    grid = item.record["grids"][0]
    whole = Image.open(io.BytesIO(item.images[grid["image"]]))
    shown = whole.crop(panels.panel_box(GridSize(2), grid["outlier"], PANEL))
    source = next(picture for picture in pictures if picture.id == grid["panels"][grid["outlier"]]["picture"])
    expected = altered_images.apply_orientation(load_image(source).image, grid["transformation"])
    assert altered_images.image_likeness(shown, expected) > 0.99


def test_boxes(items):
    for item in items:
        for grid in item.record["grids"]:
            plain, boxed = (np.asarray(Image.open(io.BytesIO(item.images[grid[k]]))) for k in ("image", "boxed_image"))
            left, top, *_ = panels.panel_box(GridSize(2), grid["box"], PANEL)
            assert tuple(boxed[top - 1, left - 1]) == panels.BOX_COLOUR
            assert tuple(plain[top - 1, left - 1]) == panels.GUTTER_COLOUR
            assert grid["outlier"] in (None, grid["box"])


def test_the_same_arguments_give_the_same_bytes_in_any_order_of_pictures(pictures, items):
    again = build(list(reversed(pictures)))
    assert [item.images for item in again] == [item.images for item in items]
    assert json.dumps([item.record for item in again]) == json.dumps([item.record for item in items])
    other = build(pictures, seed=1)
    assert [item.images for item in other] != [item.images for item in items]


@pytest.mark.parametrize("size", ["3x3", "4x4", "5x5"])
def test_larger_grids(pictures, size):
    item = build(pictures, items=1, sizes=(size,), kinds=("orientation",), reuse=True)[0]
    parsed = grids.parse_size(size)
    assert item.record["tier"] == "v3"
    options = item.tasks[0]["options"]
    assert len(options) == parsed.panels + 1
    assert options[item.tasks[5]["answer"]] == NONE_OPTION
    pictures_used = [panel["picture"] for panel in item.record["grids"][0]["panels"]]
    assert len(set(pictures_used)) == parsed.panels


def test_both_grids_of_an_item_have_one_resolution_and_jpeg_quality(make):
    # All that have a finding are small, coarse JPEG files: only a grid with an outlier would be coarse.
    plain = [make("X-ray", number) for number in range(16)]
    coarse = {"kind": "JPEG", "size": (36, 36), "settings": {"quality": 30}}
    found = [make("X-ray", number, finding="device", **coarse) for number in range(2)]
    for item in build(plain + found, items=2, kinds=("finding",)):
        panels = [panel["content"] for grid in item.record["grids"] for panel in grid["panels"]]
        assert len(panels) == 8
        assert all(each == panels[0] for each in panels)
        assert (panels[0]["quality"], panels[0]["width"]) == (30, round(0.96 * 36))


def test_shares_of_negatives(pictures):
    for share in (0.0, 0.6, 1.0):
        tasks = [
            task for item in build(pictures, items=4, kinds=("orientation",), negatives=share) for task in item.tasks
        ]
        found = sum(task["is_negative"] for task in tasks) / len(tasks)
        assert abs(found - share) < 0.1, share
    assert found == 1


def test_several_sizes_are_numbered_through(pictures):
    items = build(pictures, items=1, sizes=("2x2", "3x3"), kinds=("integrity",))
    assert [(item.record["size"], item.record["number"]) for item in items] == [("2x2", 0), ("3x3", 1)]


def test_mistakes(pictures, make):
    for arguments, message in (
        ({"panel": 8}, "at least 32 pixels"),
        ({"sizes": ("7x7",)}, "Allowed: 2x2"),
    ):
        with pytest.raises(UserError, match=message):
            build(pictures, **arguments)
    with pytest.raises(UserError, match="there twice"):
        build([pictures[0], pictures[0]])
    with pytest.raises(UserError, match="has no modality"):
        build([grids.Picture(id="a", modality=" ", data=b"")])
    with pytest.raises(UserError, match="no image to make grids from"):
        build([])
    with pytest.raises(UserError, match="Image 'broken' is none of PNG"):
        build([grids.Picture(id="broken", modality="CT", data=b"x"), *(make("CT", n) for n in range(9))],
              items=1, kinds=("integrity",))  # fmt: skip


def test_pictures_that_look_alike_either_way(make):
    grey = load_image(make("CT", 0)).image.resize((1, 1)).resize((64, 64))
    buffer = io.BytesIO()
    grey.save(buffer, "PNG")
    flat = [
        grids.Picture(id=str(n), modality="CT", anatomy="abdomen", view="axial", data=buffer.getvalue())
        for n in range(9)
    ]
    with pytest.raises(UserError, match="looks alike either way"):
        build(flat, items=1, kinds=("orientation",))


def test_flat_panels_do_not_break_levelling():
    from lmms_medtasks.grids.panels import PanelContent
    from lmms_medtasks.grids.pool import SourceFacts

    flat = PanelContent(Image.new("RGB", (32, 32), (5, 5, 5)), SourceFacts(10, 32, 32, 100))
    assert len(finish_panels([flat] * 4, None, 40, True, seeded_generator("t"))) == 4
