"""Which run and task lacks judgements, with which other judge beside it; and what nobody recorded is said to be so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from lmms_medtasks.report.quotable import QuotabilityCheck, SuiteResults, quotability_checks, quotability_verdict
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites import registry

PAPER = {"name": "openai:google/gemma-2-9b-it", "is_paper_judge": True}
OTHER = {"name": "openai:other", "is_paper_judge": False}
NONE = {"name": "none", "is_paper_judge": False}
TOLD = {"data": "full", "digests": {"package": "1"}}


def asked(
    model: str,
    judges: Mapping[str, tuple[Mapping[str, Any], str]],
    told: Mapping[str, Any] = TOLD,
    trial: str = "ok",
    name: str = "",
) -> SuiteResults:
    """A model's source: of each task its judge, and whether its one judgement is "judged" or "missing"."""
    rows = [
        {
            "id": task, "cluster": task, "task": task, "run": 0, "line": 1, "expected": None, "trials": [trial],
            "condition": "", "judge": json.dumps({"protocol": "sure_closed", "version": 2, **judge}),
            "judgement": status, "verdict_statuses": [status], "verdict_reasons": [""], "verdict_models": [None],
            "verdict_labels": [None], "system_fingerprints": [],
        }
        for task, (judge, status) in judges.items()
    ]  # fmt: skip
    content = {
        "config": {"model": model, "model_args": ""},
        "configs": {task: {"metadata": told} for task in judges},
        "n-samples": {task: {"original": 1, "effective": 1} for task in judges},
    }
    run = SimpleNamespace(content=content, sample_count=lambda task: 1, path="run")
    source = SimpleNamespace(
        rows=QuestionTable.of_rows(rows), asked=((run, tuple(judges)),), run=run, name=name or model
    )
    return SuiteResults(registry.get("sure_vqa"), source)  # type: ignore[arg-type]


def check(title: str, *given: SuiteResults) -> QuotabilityCheck:
    return next(each for each in quotability_checks(given) if each.title == title)


def judged(*given: SuiteResults) -> QuotabilityCheck:
    return check("judged as in the paper", *given)


def test_the_one_of_two_models_that_lacks_judgements_is_named_and_the_other_is_not() -> None:
    ready = asked("ready", {"sure_slake_modality": (PAPER, "judged")})
    lacks = asked("lacks", {"sure_mimic_age": (NONE, "missing")})
    found = judged(ready, lacks)
    assert found.state == "partly"
    assert "lacks" in found.reason and "sure_mimic_age" in found.reason
    assert "ready" not in found.reason and "sure_slake_modality" not in found.reason
    assert judged(lacks).state == "no" and judged(ready).state == "yes"
    # A contributed task alone has its benchmark's name, which stands once.
    own = judged(asked("own", {"SURE-VQA": (NONE, "missing")}))
    assert own.reason == "no language model judged SURE-VQA: 1 judgement missing"


def test_where_every_judgement_failed_nothing_was_judged() -> None:
    every, some = {"sure_mimic_age": (PAPER, "missing")}, {"sure_slake_modality": (PAPER, "judged")}
    assert judged(asked("m", every)).state == "no"
    assert judged(asked("m", {**every, **some})).state == "partly"
    found = judged(asked("m", {"sure_mimic_age": (OTHER, "missing")}))
    assert "openai:other" not in found.reason and found.badge == "judge: none"


def test_the_judge_that_is_called_the_papers_is_named_with_its_address() -> None:
    local = {**PAPER, "endpoint": "http://localhost:8000/v1", "settings": {"temperature": 0.0}}
    found = judged(asked("m", {"sure_slake_modality": (local, "judged")}))
    assert found.reason == f"by the paper's judge, {PAPER['name']} at http://localhost:8000/v1"


def test_a_missing_judgement_does_not_hide_another_judge() -> None:
    found = judged(asked("m", {"sure_slake_modality": (OTHER, "judged"), "sure_mimic_age": (PAPER, "missing")}))
    assert found.state == "partly"
    assert (
        "1 of 1 judgements are missing in SURE-VQA (sure_mimic_age)" in found.reason and "openai:other" in found.reason
    )
    unjudged = judged(asked("m", {"sure_slake_modality": (OTHER, "judged")}), asked("n", {"a": (NONE, "missing")}))
    assert "openai:other" in unjudged.reason and "SURE-VQA (a, n)" in unjudged.reason


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (TOLD, "yes"),
        ({"data": "full"}, "unknown"),
        ({**TOLD, "image_encoding": "JPEG"}, "no"),
        ({**TOLD, "server": {"model": "a", "answers_as": ["b"]}}, "no"),
    ],
)
def test_a_run_that_recorded_nothing_has_no_clean_runner(told: Mapping[str, Any], state: str) -> None:
    found = check("clean runner", asked("m", {"sure_slake_modality": (PAPER, "judged")}, told))
    assert found.state == state
    assert (found.answer == "Not recorded") is (state == "unknown")
    assert quotability_verdict([found]).startswith({"yes": "Yes", "unknown": "With care", "no": "Not yet"}[state])


def test_a_runner_of_another_version_of_the_harness_is_not_called_clean() -> None:
    told = {**TOLD, "runner_unknown": "not known for this version of the harness (9.9; 0.7.3 was read)"}
    found = check("clean runner", asked("m", {"sure_slake_modality": (PAPER, "judged")}, told))
    assert (found.state, found.reason) == ("partly", f"what it does to images is {told['runner_unknown']}")


def test_empty_replies_are_said_where_all_came() -> None:
    ready = asked("m", {"sure_slake_modality": (PAPER, "judged")})
    assert check("complete", ready).reason == "every question, 1 reply, none failed"
    empty = asked("n", {"sure_slake_modality": (PAPER, "judged")}, trial="empty")
    found = check("complete", ready, empty)
    assert (found.state, found.reason) == ("yes", "every question, 2 replies, none failed")
    found = check("replies can be read", ready, empty)
    assert (found.state, found.reason) == ("no", "0 % of 1 reply in sure_slake_modality (n): 1 of 1 empty")
    other = asked("n", dict.fromkeys("abc", (PAPER, "judged")), trial="empty", name="n (no image)")
    found = check("replies can be read", ready, empty, other)
    assert found.reason == "0 % of 4 replies in 4 tasks of SURE-VQA, asked in several ways (n): 4 of 4 empty"
