"""``grids build`` and ``grids check`` as a user runs them."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from lmms_medtasks.cli import grids
from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import labelled_pictures
from lmms_medtasks.seeding import seeded_generator


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(grids.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten dark CTs and ten bright MRIs, in folders named as their labels."""
    place = tmp_path_factory.mktemp("grids")
    for modality, level in (("CT", 60), ("MRI", 170)):
        (place / modality).mkdir()
        for number in range(10):
            rng = seeded_generator("cli grids", modality, number)
            ramp = np.add.outer(np.arange(48), np.arange(48) * rng.uniform(0.2, 0.9))
            pixels = level + ramp - ramp.mean() + 6 * rng.standard_normal((48, 48))
            Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(place / modality / f"{number}.png")
    return place


BUILD = ("--items", 2, "--kinds", "category,integrity", "--panel", 40)


def test_build_then_check(run, folder, tmp_path):
    result = run("build", folder, "-o", tmp_path / "out", *BUILD)
    assert result.exit_code == 0, result.output
    assert "2 items, 16 tasks in" in result.stderr
    assert "file size" in result.stdout
    assert (tmp_path / "out" / "benchmark_refined" / "all_tasks.jsonl").is_file()
    checked = run("check", tmp_path / "out", "--json")
    assert checked.exit_code == 0
    rows = json.loads(checked.stdout)
    assert {row["feature"] for row in rows} >= {"mean brightness", "position", "JPEG quality", "grid file size"}


def test_a_leak_makes_the_status_1(run, folder, tmp_path):
    leaky = ("--items", 20, "--kinds", "category", "--panel", 40, "--no-match", "--reuse")
    result = run("build", folder, "-o", tmp_path / "out", *leaky)
    assert result.exit_code == 1
    assert "Refused: " in result.stderr and "mean brightness tells the outlier" in result.stderr
    assert not (tmp_path / "out").exists() and (tmp_path / "out.refused").is_dir()
    checked = run("check", tmp_path / "out.refused")
    assert checked.exit_code == 1 and "LEAK" in checked.stdout
    kept = run("build", folder, "-o", tmp_path / "out", *leaky, "--keep-leaks")
    assert kept.exit_code == 0 and "Kept although it leaks" in kept.stderr
    assert (tmp_path / "out").is_dir()


def test_what_is_left_out_is_said(run, folder, tmp_path):
    (folder / "CT" / "notes.txt").write_text("x")
    try:
        assert isinstance(run("build", folder, "-o", tmp_path / "a", *BUILD).exception, UserError)
        result = run("build", folder, "-o", tmp_path / "a", *BUILD, "--skip-bad", "--no-check")
    finally:
        (folder / "CT" / "notes.txt").unlink()
    assert result.exit_code == 0
    assert "left out: CT/notes.txt: is none of" in result.stderr
    assert json.loads((tmp_path / "a" / "manifest.json").read_text())["leak_check"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--size", "2x3"), "'2x3' cannot be made. Allowed: 2x2"),
        (("--kinds", "flip"), "Unknown kind of outlier 'flip'"),
        (("--kinds", "viewpoint", "--items", "2"), "two labelled views"),
        (("--negatives", "-0.1"), "from 0 to 1"),
        (("--items", "50"), "at least 400, there are 20"),
        (("--labels", "none.csv"), "no labels table"),
    ],
)
def test_mistakes(run, folder, tmp_path, arguments, message):
    result = run("build", folder, "-o", tmp_path / "out", "--kinds", "integrity", *arguments)
    assert isinstance(result.exception, UserError)
    assert re.search(message, str(result.exception)), result.exception
    assert list(tmp_path.iterdir()) == []


def test_all_kinds_that_the_labels_allow(run, folder, tmp_path):
    result = run("build", folder, "-o", tmp_path / "out", "--items", 3, "--panel", 40, "--reuse", "--no-check")
    assert result.exit_code == 0, result.output
    said = "Kinds of outlier: category, orientation, integrity (the labels do not allow viewpoint, finding)"
    assert said in result.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [item["kind"] for item in manifest["items"]] == ["category", "orientation", "integrity"]


def test_alpha_must_make_sense(run, tmp_path):
    assert isinstance(run("check", tmp_path, "--alpha", "2").exception, UserError)


def test_too_few_pictures_are_told_before_one_is_read(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_pictures, "image_problem", lambda data: pytest.fail("an image was read"))
    result = run("build", folder, "-o", tmp_path / "out", "--items", 3)
    assert isinstance(result.exception, UserError)
    said = str(result.exception)
    assert "at least 24, there are 20" in said and "2 items at most" in said


@pytest.mark.parametrize(("more", "said"), [((), "16 images needed"), (("--reuse",), "16 panels to fill")])
def test_how_many_pictures_are_needed_and_there_is_said_first(run, folder, tmp_path, more, said):
    result = run("build", folder, "-o", tmp_path / "out", *BUILD, "--no-check", *more)
    assert result.exit_code == 0, result.output
    assert f"2 items: {said}" in result.stderr and "20 there" in result.stderr
