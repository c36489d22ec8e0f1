"""A set on disk, whole or not at all, and its leak check."""

import json
from collections import Counter

import pytest
from PIL import Image

from lmms_medtasks import grids
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import leaks, write_grids
from lmms_medtasks.task_configs.medobvious import source as medobvious

LEAKY = {"items": 16, "kinds": ("category",), "match": False, "reuse": True, "panel": 40}


def write(pictures, out, *, force=False, keep_leaks=False, check=True, **settings):
    arguments = {"items": 3, "kinds": ("orientation", "integrity"), "panel": 40, **settings}
    items = grids.build_items(pictures, **arguments)
    return write_grids.write_grid_set(
        items, out, settings=arguments, total=arguments["items"], force=force, keep_leaks=keep_leaks, check=check
    )


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_form_of_the_release(pictures, tmp_path):
    written = write(pictures, tmp_path / "out")
    assert not written.refused and written.tasks == 24 and written.items == 3
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    lines = (written.folder / "benchmark_refined" / "all_tasks.jsonl").read_text(encoding="utf-8").splitlines()
    for task in map(json.loads, lines):
        assert Image.open(written.folder / task["image_path"]).size == (2 * 40 + 3 * 8,) * 2
    manifest = json.loads((written.folder / "manifest.json").read_text())
    assert manifest["settings"]["items"] == 3 and len(manifest["items"]) == 3
    assert manifest["leak_check"]["rows"] == [row.to_json() for row in written.rows]


@pytest.mark.parametrize("size", ["2x2", "3x3", "4x4", "5x5"])
def test_the_suite_reads_every_row(pictures, tmp_path, size):
    folder = write(pictures, tmp_path / "out", items=2, sizes=(size,), reuse=True, check=False).folder
    suite = medobvious.MEDOBVIOUS
    candidates = list(suite.open_split(LocalRelease(folder), suite.split("test")).candidates())
    assert len(candidates) == 16
    assert [candidate.reason for candidate in candidates] == [""] * 16
    assert {candidate.document["grid"] for candidate in candidates} == {size}


def test_byte_identical(pictures, tmp_path):
    first, second = (files(write(pictures, tmp_path / name).folder) for name in ("a", "b"))
    assert first == second


def test_a_leaking_set_is_refused_and_kept_aside(pictures, tmp_path):
    out = tmp_path / "out"
    written = write(pictures, out, **LEAKY)
    assert written.refused and written.folder == tmp_path / "out.refused"
    assert [path.name for path in tmp_path.iterdir()] == ["out.refused"]
    told = {row.feature for row in written.rows if row.leak}
    assert {"mean brightness", "file size"} <= told
    # The check of the folder says the same.
    assert write_grids.check_set(written.folder) == written.rows
    kept = write(pictures, out, keep_leaks=True, **LEAKY)
    assert not kept.refused and kept.folder == out and any(row.leak for row in kept.rows)


def test_the_same_set_matched_passes(pictures, tmp_path):
    written = write(pictures, tmp_path / "out", **{**LEAKY, "match": True})
    assert not written.refused, leaks.describe_leaks([row for row in written.rows if row.leak])


def test_an_earlier_set_is_replaced_only_when_told(pictures, tmp_path):
    out = tmp_path / "out"
    before = files(write(pictures, out).folder)
    with pytest.raises(UserError, match="--force"):
        write(pictures, out, seed=1)
    assert files(out) == before
    assert files(write(pictures, out, seed=1, force=True).folder) != before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folders_of_others_are_left_alone(pictures, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="left alone"):
        write(pictures, tmp_path, force=True)
    with pytest.raises(UserError, match="left alone"):
        write(pictures, tmp_path / "thesis.tex", force=True)


def test_an_interrupted_build_leaves_nothing(pictures, tmp_path):
    def interrupted():
        yield from grids.build_items(pictures, items=1, kinds=("integrity",), panel=40)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_grids.write_grid_set(interrupted(), tmp_path / "out", settings={}, total=2)
    assert list(tmp_path.iterdir()) == []


def test_positions_over_a_set_are_balanced(pictures, tmp_path):
    folder = write(pictures, tmp_path / "out", items=10, kinds=("integrity",), reuse=True, check=False).folder
    manifest = write_grids.read_manifest(folder)
    places = Counter(item["grids"][0]["outlier"] for item in manifest["items"])
    assert sorted(places.values()) == [2, 2, 3, 3]


def test_check_of_what_is_no_set(pictures, tmp_path):
    with pytest.raises(UserError, match="is no set of generated grids"):
        write_grids.check_set(tmp_path)
    (tmp_path / "manifest.json").write_text("[1]")
    with pytest.raises(UserError, match="not a manifest of generated grids"):
        write_grids.check_set(tmp_path)
    folder = write(pictures, tmp_path / "out", items=1).folder
    next((folder / "benchmark_refined").rglob("*_0_grid.png")).unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        write_grids.check_set(folder)
