"""A change of what decides a task's numbers changes its fingerprint, and the YAMLs record the present one."""

import types

import pytest

from lmms_medtasks import fingerprints
from lmms_medtasks.cli.fingerprint import recorded_and_actual


@pytest.mark.parametrize("entry", recorded_and_actual(), ids=lambda entry: entry[0].stem)
def test_recorded_fingerprint_is_fresh(entry):
    path, recorded, actual = entry
    message = f"{path.name} records a stale fingerprint; see `lmms-medtasks fingerprint --help`"
    assert recorded == actual, message


def config(**settings):
    return {"lmms_eval_specific_kwargs": {"default": settings}, "process_results": fingerprints.digest}


def test_prompt_counts(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    first.write_text("a {question}")
    second.write_text("b {question}")
    digests = [fingerprints.of_task(config(prompt=str(path)))["prompt"] for path in (first, second)]
    assert digests[0] != digests[1]


def test_degradations_count_only_where_pictures_are_degraded():
    assert "degradations" in fingerprints.of_task(config())
    assert "degradations" not in fingerprints.of_task(config(severity=0))
    assert "degradations" not in fingerprints.of_task(config(rendered=True))


def test_code_of_hooks_counts(monkeypatch):
    before = fingerprints.of_task(config())["code"]
    monkeypatch.setattr(fingerprints.inspect, "getsource", lambda module: f"{module.__name__} changed")
    assert fingerprints.of_task(config())["code"] != before


def test_hooks_are_found_at_any_depth():
    def hook(): ...

    nested = {"metric_list": [{"aggregation": hook}], "other": (hook,), "text": "x"}
    found = list(fingerprints._functions(nested))
    assert found == [hook, hook]
    assert isinstance(hook, types.FunctionType)
