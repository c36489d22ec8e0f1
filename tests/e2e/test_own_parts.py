"""The benchmark of docs/extending's pages, from the real harness to report, comparison, board and site."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.samples import result_files
from lmms_medtasks.suites import registry
from tests.e2e.contributed_folders import command
from tests.extending_pages import write_benchmark

OWN = ("sensitivity", "side_error", "specificity", "f1")


@pytest.fixture(autouse=True)
def _protocols_forgotten(nothing_given):
    yield
    protocols.forget_custom_protocols()


def test_own_parts_stand_in_table_report_comparison_and_board(harness, tmp_path):
    folder = write_benchmark(tmp_path / "spots")
    done = harness(
        "--model", "medtasks_random", "--tasks", "spots,spot_words", "--include_path", str(folder),
        MEDTASKS_JUDGE="lexical",
    )  # fmt: skip

    # The harness's table, and what the result file says.
    numbers = done.run.tasks["spots"]
    for name in OWN:
        assert f"|{name} " in done.printed.replace("  ", " ") and f"{name},trials" in numbers
    assert numbers["side_error_stderr_clustered,trials"] > 0
    assert {"score_place,trials", "score_wording,trials"} <= done.run.tasks["spot_words"].keys()
    metadata = done.run.content["configs"]["spots"]["metadata"]
    assert [each["name"] for each in metadata["own_parts"]["metrics"]] == list(OWN)
    assert metadata["own_parts"]["parser"]["reference"] == "parts.py:read_impression"
    assert str(folder) not in json.dumps(done.run.content["configs"])
    [judge] = {row["questions"]["judgement"]["judge"]["protocol"] for row in done.samples("spot_words")}
    assert judge == "spot_report"

    # A report with the folder: each with its interval. Without it: what is code has the run's number alone.
    report = tmp_path / "report"
    command("report", done.folder, "--include_path", folder, "-o", report)
    for file in ("report.md", "report.html"):
        text = (report / file).read_text("utf-8").replace("\\", "")
        assert all(name in text for name in (*OWN, "score_place"))
        assert "answers read by parts.py:read_impression" in text and "judged under spot_report (rubric.yml)" in text
    with_code = cells(report / "results.csv")
    for name in OWN:
        assert with_code[name]["low"] < with_code[name]["value"] < with_code[name]["high"]
    registry._GIVEN.clear()
    command("report", done.folder, "-o", tmp_path / "bare")
    without = cells(tmp_path / "bare" / "results.csv")
    assert without["f1"]["low"] is None and without["f1"]["value"] == pytest.approx(with_code["f1"]["value"])
    assert {name: without[name] for name in OWN[:3]} == {name: with_code[name] for name in OWN[:3]}
    text = (tmp_path / "bare" / "report.md").read_text("utf-8").replace("\\", "")
    assert "f1 is as the run printed it" in text and "metrics.py:F1 is not here" in text

    # Another model's run: comparison, board and the benchmark's page, all without the folder.
    other = shutil.copytree(done.folder, tmp_path / "other")
    for path in other.rglob("*.json"):
        path.write_text(path.read_text("utf-8").replace("medtasks_random", "another"), "utf-8")
    compared = command("compare", done.folder, other)
    assert "specificity" in compared and "f1" not in compared
    command("leaderboard", "build", done.folder, other, "-o", tmp_path / "site", "--resamples", "50")
    page = (tmp_path / "site" / "suites" / "spots.html").read_text("utf-8")
    own = with_code["specificity"]
    assert "specificity" in page and f"[{own['low']:.1f}, {own['high']:.1f}]" in page
    [model, _] = (tmp_path / "site" / "models").glob("*.html")
    assert all(name in model.read_text("utf-8") for name in OWN)
    gated = CliRunner().invoke(build_app(), ["gate", str(done.folder), str(other)])
    assert "specificity" in gated.output and gated.exit_code in (0, 3)
    command("pack", done.folder, "-o", tmp_path / "pack.json", "--signed-off-by", "A B <a@b.org>")
    assert "holds" in command("pack", tmp_path / "pack.json", "--check")

    # Judged anew from the folder's rubric, without the model.
    command("judge", done.folder, "--include-path", folder, "--judge", "lexical", "-o", tmp_path / "again")
    again = result_files.read_result_file(next(iter(result_files.list_result_files(tmp_path / "again"))))
    assert again.tasks["spot_words"]["score_place,trials"] == done.run.tasks["spot_words"]["score_place,trials"]


def cells(path):
    """Each column of the row of `spots`: its value, and the ends of its interval, None where it has none."""
    with path.open(encoding="utf-8") as text:
        [row] = [each for each in csv.DictReader(text) if each["task"] == "spots"]
    found = {}
    for name in OWN:
        for head in (
            each for each in row if each.partition(" (")[0] == name and not each.endswith(("low", "high", "clustered"))
        ):
            low, high = (float(row[end]) if row.get(end) else None for end in (f"{head} low", f"{head} high"))
            found[name] = {"value": float(row[head]), "low": low, "high": high}
    return found


def test_judge_check_takes_a_rubric_by_its_file(tmp_path):
    folder = write_benchmark(tmp_path / "spots", questions=3)
    done = CliRunner().invoke(
        build_app(), ["judge", "check", "--judge", "lexical", "--protocol", str(folder / "rubric.yml")]
    )
    assert "spot_report, lexical" in done.output and "valid 20 of 20" in done.output, json.dumps(done.output)
