"""The data commands, as a user runs them."""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import typer
from PIL import Image

from lmms_medtasks.cli.data import app
from lmms_medtasks.data import sources
from lmms_medtasks.errors import DataNotFound, UserError

COLUMNS = "index image question A B answer modality degradation_type degradation_severity source".split()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEDTASKS_DATA", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "home"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A release with three clean rows, one of them bad."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "PNG")
    image = base64.b64encode(buffer.getvalue()).decode()
    folder = tmp_path / "release"
    folder.mkdir()
    with (folder / "MedQ-Robust-good-test.tsv").open("w", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(COLUMNS)
        for number, answer in enumerate("ABC"):
            writer.writerow([number, image, "Which?", "one", "two", answer, "CT", "", "L0", "pool"])
    return folder


def run(*arguments: str) -> str:
    """What a command prints on stdout; errors come through as they are."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        typer.main.get_command(app).main(list(arguments), prog_name="data", standalone_mode=False)
    return printed.getvalue()


def prepared(source: Path) -> Any:
    return json.loads(run("prepare", "medq_deg", "--source", str(source), "--json"))


def test_prepare_says_what_was_counted(source: Path, home: Path) -> None:
    text = run("prepare", "medq_deg", "--source", str(source))
    assert "MedQ-Deg, sample data (clean: 3 questions, 2,153 expected)" in text
    assert " ".join(text.split("\n  clean", 1)[1].split()[:6]) == "2 rows 1 rejected 1 images"
    assert "the paper: 24,894 question-answer pairs, 4,306 clean images" in text
    assert "Licence: not stated" in text and "Terms of use: not stated" in text
    assert str(home / "medq_deg" / "sample") in text


def test_other_counts_are_accepted(source: Path, home: Path) -> None:
    text = run("prepare", "medq_deg", "--source", str(source), "--accept-counts")
    assert "MedQ-Deg, full data (other counts than the release's were accepted: clean: 3 questions" in text
    assert "1 images  (3 questions, 2,153 expected)" in text and str(home / "medq_deg" / "full") in text
    with pytest.raises(UserError, match="contradict"):
        run("prepare", "medq_deg", "--source", str(source), "--accept-counts", "--sample")


def test_prepare_as_json_is_the_manifest(source: Path, home: Path) -> None:
    assert prepared(source) == json.loads((home / "medq_deg/sample/manifest.json").read_text())


def test_prepare_options_reach_the_library(source: Path) -> None:
    with pytest.raises(UserError, match="Unknown split 'claen'"):
        run("prepare", "medq_deg", "--source", str(source), "--split", "claen")
    with pytest.raises(UserError, match="no revision"):
        run("prepare", "medq_deg", "--source", str(source), "--revision", "v1")
    with pytest.raises(UserError, match="HF_HUB_OFFLINE is set"):
        run("prepare", "medq_deg", "--revision", "0" * 40)


def test_list(source: Path) -> None:
    lines = run("list").splitlines()
    assert "medq_deg/clean_dev      not prepared" in "\n".join(lines)
    abouts = [split.about for name in sources.names() for split in sources.get(name).splits if not split.apart_from]
    assert len({line.index(about) for line, about in zip(lines, abouts, strict=True)}) == 1  # in one column
    prepared(source)
    rows = {(row["suite"], row["split"]): row["data"] for row in json.loads(run("list", "--json"))}
    assert rows["medq_deg", "clean"]["sample"] == "2 rows"
    assert "sample: 3 questions, 2,153 expected" in run("list") and "2,153 expected" in run("inspect", "medq_deg")
    assert "sample" not in rows["medq_deg", "release"]
    line = next(line for line in run("list").splitlines() if line.startswith("medq_deg/clean "))
    assert "sample: 2 rows" in line


def test_list_shows_damage_and_goes_on(source: Path, home: Path) -> None:
    prepared(source)
    (home / "medq_deg/sample/clean.parquet").write_bytes(b"")
    rows = {row["split"]: row["data"] for row in json.loads(run("list", "--json"))}
    assert rows["clean"]["sample"].startswith("unusable (The prepared data of medq_deg/clean is damaged")


def test_inspect(source: Path) -> None:
    with pytest.raises(DataNotFound, match="Three ways out"):
        run("inspect", "medq_deg")
    prepared(source)
    text = run("inspect", "medq_deg")
    assert "medq_deg/clean (sample): 2 rows" in text and "modality: CT 2" in text and "degradation: (none) 2" in text
    (found,) = json.loads(run("inspect", "medq_deg", "--split", "clean", "--rows", "5", "--json"))
    assert found["tags"]["severity"] == {"0": 2} and len(found["first"]) == 2
    assert found["first"][0]["question"] == "Which?" and found["first"][0]["images"][0].endswith(" bytes")
    assert json.loads(run("inspect", "medq_deg", "--rows", "0", "--json"))[0]["first"] == []


def test_inspect_checks_every_byte(source: Path, home: Path) -> None:
    import os

    prepared(source)
    path = home / "medq_deg/sample/clean.parquet"
    status, data = path.stat(), bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(UserError, match="damaged"):
        run("inspect", "medq_deg")


def test_inspect_takes_the_variant_asked_for(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(source)
    with pytest.raises(DataNotFound, match="full"):
        run("inspect", "medq_deg", "--data", "full")
    monkeypatch.setenv("MEDTASKS_DATA", "full")
    assert "2 rows" in run("inspect", "medq_deg", "--data", "sample")
    with pytest.raises(UserError, match="Unknown data 'smaple' in --data. Did you mean 'sample'"):
        run("inspect", "medq_deg", "--data", "smaple")


def test_where(home: Path, tmp_path: Path) -> None:
    assert run("where") == f"{home}\n"
    assert run("where", "medq_deg") == f"{home / 'medq_deg'}\n"
    (tmp_path / "chest").mkdir()
    (tmp_path / "chest" / "lungs.yaml").touch()
    assert run("where", "lungs", "--include_path", str(tmp_path)) == f"{tmp_path / 'chest'}\n"
    with pytest.raises(UserError, match="Unknown suite 'lungs'.* name its folder too, --include_path FOLDER"):
        run("where", "lungs")


def test_progress_and_messages_stay_out_of_the_output(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(source)
    assert "medq_deg/clean (sample): prepared, 2 rows, 1 rejected" in capsys.readouterr().err
