"""Own degradations, modalities and a reader, in a folder and in a package: one run, its report and its board."""

from __future__ import annotations

import pytest

from tests.contribute.test_extending_pictures import write_example
from tests.e2e.contributed_folders import command

pytestmark = pytest.mark.usefixtures("nothing_given")
PACKAGE = """
from lmms_medtasks.degradations import Modality


def dimmed(picture, generator, level):
    return picture.point(lambda value: value // (1 + level))


NOISE = {"gaussian_noise": {1: {"sigma": 0.4}, 2: {"sigma": 0.5}}}
FUNDUS = Modality("Fundus photography", called=("fundus",), levels=NOISE)
"""
ENTRIES = """
[lmms_medtasks.degradations]
dimmed = my_package:dimmed
[lmms_medtasks.modalities]
Fundus photography = my_package:FUNDUS
"""
TASKS = (
    "oct_side", "oct_side_speckle", "oct_side_drawn", "oct_side@dimmed.2", "oct_side@gaussian_noise.2~fundus",
    "oct_side@gaussian_noise.2~OCT", "oct_side@my_package.dimmed.1",
)  # fmt: skip


def test_parts_of_ones_own_from_run_to_board(harness, tmp_path):
    example = write_example(tmp_path / "tasks" / "oct")
    place = tmp_path / "site"
    (place / "my_package-1.0.dist-info").mkdir(parents=True)
    (place / "my_package.py").write_text(PACKAGE, "utf-8")
    (place / "my_package-1.0.dist-info" / "METADATA").write_text("Name: my-package\nVersion: 1.0\n", "utf-8")
    (place / "my_package-1.0.dist-info" / "entry_points.txt").write_text(ENTRIES, "utf-8")
    done = harness("--model", "medtasks_observer", "--include_path", str(example.parent), "--tasks", ",".join(TASKS),
                   PYTHONPATH=str(place))  # fmt: skip
    results, configs = done.run.tasks, done.run.content["configs"]
    assert {"oct_side", "oct_side_speckle", "oct_side_drawn"} <= set(results)

    # The record: parameters with each question, code in the digests, names without a folder of this machine.
    for row in done.samples("oct_side_speckle"):
        [said] = row["questions"]["details"]["degradation_parameters"]
        assert set(said) == {"seed", "level", "code"} and said["level"] == 2
    assert {row["questions"]["tags"]["degradation"] for row in done.samples("oct_side_drawn")} <= {
        "gaussian_noise", "low_resolution", "parts.py:speckle",
    }  # fmt: skip
    assert configs["oct_side_speckle"]["doc_to_visual"].endswith("prompt_hooks.doc_to_visual")
    digests = {name: configs[name]["metadata"]["digests"]["own_code"] for name in TASKS[:3]}
    assert len(set(digests.values())) == 3
    of = {name: configs[name]["metadata"]["degradation"] for name in results if "@" in name}
    assert {(each["name"], each["changed"]) for each in of.values()} == {
        ("dimmed", 6), ("gaussian_noise", 6), ("my_package.dimmed", 6),
    }  # fmt: skip
    noise = {each["modality"]: each["code"] for each in of.values() if each["name"] == "gaussian_noise"}
    assert set(noise) == {"Fundus photography", "OCT"} and len(set(noise.values())) == 2
    sigmas = {
        row["degraded_pictures"][0]["sigma"]
        for name in of
        for row in done.samples(name)
        if row["degraded_pictures"][0]["name"] == "gaussian_noise"
    }
    assert sigmas == {0.5, 0.08}

    command("report", done.folder, "--include_path", example.parent, "--output", tmp_path / "report", "--resamples", 50)
    text = (tmp_path / "report" / "report.md").read_text("utf-8")
    assert all(each in text for each in ("oct\\_side\\_speckle", "dimmed", "OCT"))
    command("leaderboard", "build", done.folder, "--include_path", example.parent, "-o", tmp_path / "board",
            "--resamples", 50)  # fmt: skip
    page = (tmp_path / "board" / "suites" / "oct.html").read_text("utf-8")
    assert "oct_side_speckle" in page and "medtasks_observer" in page
