"""What a run records of a task: its data, and the digests of its prompt, its degradations and of others' code."""

from __future__ import annotations

from functools import partial

from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.harness import provenance, scoring
from lmms_medtasks.suites import registry


def test_a_strangers_folder_with_a_measures_py_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "Their Tasks"
    folder.mkdir()
    (folder / "measures.py").write_text("raise SystemExit\n", "utf-8")
    (folder / "theirs.yaml").write_text("task: theirs\n", "utf-8")
    config = {"task": "theirs", "metric_list": [{"metric": "acc", "aggregation": max}], "metadata": [{"version": 1}]}
    assert provenance.add_provenance(config, None, None, str(folder / "theirs.yaml")) is config
    assert registry.added_suite_folders() == ()


def test_a_folder_with_measures_of_ours_is_known_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "own"
    folder.mkdir()
    for name, text in (("measures.py", ""), ("report.py", "1"), ("own.yaml", "task: own\n")):
        (folder / name).write_text(text, "utf-8")
    config = {"task": "own", "metric_list": [{"metric": "acc", "aggregation": scoring.aggregate}]}
    found = provenance.add_provenance(config, None, None, str(folder / "own.yaml"))["metadata"]
    assert (found["benchmark"], found["data"]) == ("own", "full") and registry.added_suite_folders() == (folder,)
    # What a report looks like moves no number: its file is no part of the digests.
    (folder / "report.py").write_text("2", "utf-8")
    assert provenance.add_provenance(config, None, None, str(folder / "own.yaml"))["metadata"] == found


def completed(*splits):
    """Metadata and printed name of a task that reads these splits of MedQ-Deg."""
    files = [f"medtasks://medq_deg/{split}" for split in splits]
    config = {"task": "own", "dataset_kwargs": {"data_files": {"test": files}}, "metadata": {"version": 1.0}}
    found = provenance.add_provenance(config, None, None)
    return found["metadata"], found.get("task_alias", "own")


def test_a_sample_is_named_with_its_counts_in_the_result_file_and_in_the_table(release, home, monkeypatch):
    prepare_splits("medq_deg", source=release, splits=["clean"])
    metadata, name = completed("clean")
    assert (metadata["data"], metadata["data_counts"]) == ("sample", "clean: 3 questions, 2,153 expected")
    assert name == "own (sample data, clean: 3 questions, 2,153 expected)"
    prepare_splits("medq_deg", source=release, splits=["clean"], accept_counts=True)
    metadata, name = completed("clean")
    assert (metadata["data"], metadata["data_counts"]) == ("full", "clean: 3 questions, 2,153 expected")
    assert name == "own (full data, counts accepted, clean: 3 questions, 2,153 expected)"
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    metadata, name = completed("clean")
    assert metadata["data"] == "mini" and "data_counts" not in metadata and name == "own (mini data)"


def test_a_task_of_full_and_sample_data_is_a_sample(release, home, expecting):
    expecting(ExpectedCounts(("clean",), 3))
    for split in ("clean", "release"):
        prepare_splits("medq_deg", source=release, splits=[split])
    metadata, name = completed("clean")
    assert (metadata["data"], "data_counts" in metadata, name) == ("full", False, "own")
    metadata, _ = completed("clean", "release")
    assert metadata["data"] == "sample" and metadata["data_counts"].startswith("release: 4 questions")


def with_settings(hooks=(), **settings):
    return {"lmms_eval_specific_kwargs": {"default": settings}, "hooks": hooks}


def test_prompt_and_degradations_count_where_the_task_has_them(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    first.write_text("a {question}")
    second.write_text("b {question}")
    one, other = (provenance.task_digests(with_settings(prompt=str(path))) for path in (first, second))
    assert one["prompt"] != other["prompt"] and set(one) == {"degradations", "package", "prompt"}
    for undegraded in (with_settings(severity=0), with_settings(rendered=True)):
        assert set(provenance.task_digests(undegraded)) == {"package"}


def test_code_of_someones_own_counts(tmp_path):
    def hook(): ...

    hook.digested = "a column"
    by_hooks = provenance.task_digests(with_settings([{"name": partial(hook)}]))["own_code"]
    (tmp_path / "hooks.py").write_text("A = 1")
    (tmp_path / "report.py").write_text("A = 1")
    by_folder = provenance.task_digests(with_settings(), tmp_path)["own_code"]
    (tmp_path / "report.py").write_text("A = 2")
    assert provenance.task_digests(with_settings(), tmp_path)["own_code"] == by_folder != by_hooks
    (tmp_path / "hooks.py").write_text("A = 2")
    assert provenance.task_digests(with_settings(), tmp_path)["own_code"] != by_folder


def test_versions_of_libraries_are_recorded_beside_them():
    found = provenance.library_versions()
    assert set(found) == {"numba", "numpy", "pillow", "scipy"} and all(found.values())
