"""What a run records of a task that is not ours."""

from __future__ import annotations

from lmms_medtasks.harness import provenance, scoring
from lmms_medtasks.suites import registry


def test_a_strangers_folder_with_a_measures_py_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "Their Tasks"
    folder.mkdir()
    (folder / "measures.py").write_text("raise SystemExit\n", "utf-8")
    (folder / "theirs.yaml").write_text("task: theirs\n", "utf-8")
    config = {"task": "theirs", "metric_list": [{"metric": "acc", "aggregation": max}], "metadata": [{"version": 1}]}
    assert provenance.complete(config, None, None, str(folder / "theirs.yaml")) is config
    assert registry.given() == ()


def test_a_folder_with_measures_of_ours_is_known_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "own"
    folder.mkdir()
    for name, text in (("measures.py", ""), ("report.py", "1"), ("own.yaml", "task: own\n")):
        (folder / name).write_text(text, "utf-8")
    config = {"task": "own", "metric_list": [{"metric": "acc", "aggregation": scoring.aggregate}]}
    found = provenance.complete(config, None, None, str(folder / "own.yaml"))["metadata"]
    assert (found["benchmark"], found["data"]) == ("own", "full") and registry.given() == (folder,)
    # What a report looks like moves no number: its file is no part of the fingerprint.
    (folder / "report.py").write_text("2", "utf-8")
    assert provenance.complete(config, None, None, str(folder / "own.yaml"))["metadata"] == found
