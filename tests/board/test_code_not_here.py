"""A main metric that is code, with its folder and without: a problem with the way out."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from lmms_medtasks.board import packing, packs
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.gate import read_rules, run_gate
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import own_metrics, own_parts, registry

TASK = "spots"
PARTS = """
from lmms_medtasks.suites.estimates import Fraction
from lmms_medtasks.suites.suite import Metric

def top(rows):
    return [float(score == 1) for score in rows.column("accuracy.score")]

OWN = Metric("own", Fraction(top=top), main=True)
"""
SAID = "The main metric own can't be computed: parts.py:OWN is not here. Give its folder with --include_path."


@pytest.fixture
def written(tmp_path, runs, monkeypatch):
    """Three runs of a contributed task, its folder, and a function that makes the folder known."""
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / TASK
    folder.mkdir()
    (folder / "parts.py").write_text(PARTS, "utf-8")
    (folder / f"{TASK}.yaml").write_text(f"task: {TASK}\n", "utf-8")
    own = own_metrics.get(f"{folder / 'parts.py'}:OWN")
    metadata = {
        "template": "multiple_choice",
        "benchmark": TASK,
        "own_parts": own_parts.describe_custom_parts([own], None, None),
    }
    metadata["own_parts"]["metrics"][0]["reference"] = "parts.py:OWN"
    for name, right in (("a", 9), ("b", 12), ("c", 0)):
        rows = runs.choice_rows({f"q{row:02}": "A" if row < right else "B" for row in range(20)})
        runs.write(tmp_path / name, {TASK: rows}, model=name, metadata=metadata, reported={"own,trials": right / 20})
    found = {name: tmp_path / name for name in "abc"}
    return SimpleNamespace(**found, folder=folder, give=lambda: registry.add_suite_folders([folder]))


def test_with_the_folder_it_is_ranked_by_packed_and_gated(written):
    written.give()
    board = collect_entries([written.a, written.b])
    assert [entry.main_metrics for entry in board.entries] == [["accuracy", "own"]] * 2 and not board.refused


def test_what_no_test_can_show_not_worse_warns_and_fails_where_it_is_worse(written):
    written.give()
    for baseline, candidate, said in (
        (written.b, written.a, ("can't tell", "warn")),
        (written.b, written.c, ("worse", "fail")),
    ):
        found = run_gate(
            compared_entries.read_compared_runs(baseline), compared_entries.read_compared_runs(candidate), read_rules()
        )
        own = {each.measure: each for each in found.verdicts}["own"]
        assert (own.outcome, own.effect) == said
        assert (own.outcome == "worse") or own.detail.startswith("No test shows")


def test_without_it_a_board_refuses_the_entry_and_names_the_way_out(written):
    board = collect_entries([written.a, written.b])
    assert not board.entries and {(each.code, each.reason) for each in board.refused} == {("metric_not_here", SAID)}
    assert read_rules().action("metric_not_here", old=False) == "fail"


@pytest.mark.parametrize("command", ["compare", "gate", "pack"])
def test_without_it_commands_end_with_the_way_out(written, tmp_path, command):
    pack = ("-o", str(tmp_path / "p.json"), "--signed-off-by", "A <a@b.org>")
    given = [command, str(written.a), *(pack if command == "pack" else (str(written.b),))]
    found = CliRunner().invoke(build_app(), given)
    assert found.exit_code != 0
    assert SAID in f"{found.output}{found.exception or ''}"
    assert CliRunner().invoke(build_app(), [*given, "--include_path", str(written.folder)]).exit_code in (0, 1, 3)
    assert command != "pack" or packs.read_submission(tmp_path / "p.json")[0].main_metrics == ["accuracy", "own"]


def test_a_pack_with_it_is_refused_by_name_where_the_folder_is_not_given(written, tmp_path):
    written.give()
    content = packing.make_submission(collect_entries([written.a]).entries, "A <a@b.org>")
    (tmp_path / "p.json").write_text(json.dumps(content), "utf-8")
    registry._GIVEN.clear()
    with pytest.raises(UserError, match=r"spots: The main metric own can't be computed.*--include_path"):
        packs.read_submission(tmp_path / "p.json")
