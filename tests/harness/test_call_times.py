"""Seconds of the model's calls by task: without what comes once, written once, and only where asked for."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lmms_medtasks.harness import call_times, stamps


class Model:
    """Each call takes as many seconds as the clock is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.durations = 0.0, [6.0]
        monkeypatch.setattr(call_times, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def generate_until(self, requests: list[Any], suffix: str = "") -> list[str]:
        self.now += self.durations.pop(0)
        return [f"{request.task_name}{suffix}" for request in requests]


def requests(task: str, count: int, repeats: int = 1) -> list[Any]:
    return [SimpleNamespace(task_name=task, repeats=repeats) for _ in range(count)]


def task(name: str, questions: int, pictures: int) -> Any:
    return SimpleNamespace(
        config=SimpleNamespace(task=name),
        eval_docs=range(questions),
        doc_to_visual=lambda doc: ["x"] * pictures or None,
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stamps.CALL_TIMES, str(tmp_path / "times.json"))
    monkeypatch.delenv("RANK", raising=False)
    return tmp_path / "times.json"


@pytest.mark.parametrize(("first", "seconds"), [(40.0, 24.0), (6.0, 24.0), (2.0, 20.0)])
def test_what_comes_once_is_not_taken_for_each_question(
    file: Path, monkeypatch: pytest.MonkeyPatch, first: float, seconds: float
) -> None:
    lm = Model(monkeypatch)
    with call_times.record_call_times(lm, [task("a", 30, 2), task("b", 3, 0), task("never", 1, 1)]):
        lm.durations = [first, 18.0, 3.0]
        assert lm.generate_until(requests("a", 8, repeats=2), suffix="!") == ["a!"] * 8
        lm.generate_until(requests("b", 1))
    # Of a 2 requests came in the first call and 6 in 18 s. Of 30 questions the first 20 are looked at.
    assert json.loads(file.read_text()) == {
        "a": {"seconds": seconds, "requests": 8, "pictures": 40, "seen": 20},
        "b": {"seconds": 3.0, "requests": 1, "pictures": 0, "seen": 3},
    }


def test_the_model_has_its_own_function_again_also_after_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = Model(monkeypatch)
    with pytest.raises(ValueError, match="stop"), call_times.record_call_times(lm, []):
        lm.generate_until(requests("a", 1))
        raise ValueError("stop")
    assert lm.generate_until.__func__ is Model.generate_until and not file.exists()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("variable", "rank"), [("", "0"), ("set", "1")])
def test_without_the_variable_and_on_other_ranks_nothing_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch, variable: str, rank: str
) -> None:
    if not variable:
        monkeypatch.delenv(stamps.CALL_TIMES)
    monkeypatch.setenv("RANK", rank)
    lm = Model(monkeypatch)
    with call_times.record_call_times(lm, [task("a", 1, 1)]):
        assert ("generate_until" in vars(lm)) == bool(variable)  # each process makes the same calls
    assert not file.exists()
