"""``lmms-medtasks judge``: what can be wrong before it judges. What it does is in tests/judges/test_rejudging.py."""

import json

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli import judge
from lmms_medtasks.errors import UserError


@pytest.fixture
def call(monkeypatch):
    monkeypatch.delenv("MEDTASKS_JUDGE", raising=False)

    def invoke(*arguments):
        return CliRunner().invoke(judge.app, list(map(str, arguments)))

    return invoke


def run_of(folder, config, log='{"x": 1}\n'):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x_results.json").write_text(json.dumps({"results": {"t": {}}, "configs": {"t": config}}))
    if log is not None:
        (folder / "x_samples_t.jsonl").write_text(log)
    return folder


JUDGED = {"lmms_eval_specific_kwargs": {"default": {"judge": "med_cmr_open"}}}


@pytest.mark.parametrize(
    ("config", "log", "arguments", "said"),
    [
        ({}, "", [], "Nothing to judge in"),
        (JUDGED, None, [], "Runs need --log_samples"),
        (JUDGED, "", [], "No judge: the run had none. Name one with --judge provider:model, or set MEDTASKS_JUDGE"),
        (JUDGED, "", ["--judge", "gpt-4o"], "The judge 'gpt-4o' names no provider"),
        (JUDGED, "", ["--judge", "lexical", "--max-cost", "1"], "--max-cost says nothing without a price"),
        (JUDGED, "", ["--task", "u"], "Task 'u' is not judged in this run. Judged: t."),
    ],
)
def test_mistakes(call, tmp_path, config, log, arguments, said):
    done = call(run_of(tmp_path / "run", config, log), *arguments)
    assert isinstance(done.exception, UserError)
    assert said in str(done.exception)


def test_no_run(call, tmp_path):
    done = call(tmp_path)
    assert isinstance(done.exception, UserError) and "No *_results.json in" in str(done.exception)
    done = call(tmp_path / "nowhere.json")
    assert isinstance(done.exception, UserError) and "is not there" in str(done.exception)


def test_two_judges_in_one_run(call, tmp_path):
    folder = run_of(tmp_path / "run", JUDGED)
    configs = {}
    for task, name in (("t", "openai:a"), ("u", "openai:b")):
        configs[task] = {**JUDGED, "metadata": {"judge": {"name": name, "protocols": []}}}
        (folder / f"x_samples_{task}.jsonl").write_text("")
    (folder / "x_results.json").write_text(json.dumps({"results": {"t": {}, "u": {}}, "configs": configs}))
    done = call(folder)
    assert "had different judges: openai:a, openai:b. Name one with --judge" in str(done.exception)


def test_check_says_what_a_judge_falls_short_in(call, tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    done = call("check", "--judge", "lexical", "--protocol", "open_answer")
    assert done.exit_code == 1
    assert "open_answer, lexical: failed: right above others in 0 of 32 pairs" in done.stdout
    assert "verdicts: 40 times 0" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--judge", "lexical"], "Name the protocols to check with --protocol: bones_joints_answer"),
        (["--protocol", "open_answer"], "No judge: name one with --judge"),
        (["--judge", "lexical", "--protocol", "open_answers"], "Unknown judge protocol 'open_answers'"),
    ],
)
def test_mistakes_of_check(call, arguments, said):
    done = call("check", *arguments)
    assert isinstance(done.exception, UserError) and said in str(done.exception)
