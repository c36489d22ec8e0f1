"""Seconds of the model's calls by task: shared by the requests of a call, written once, and only where asked for."""

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
        self.now, self.seconds = 0.0, 6.0
        monkeypatch.setattr(call_times, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def generate_until(self, requests: list[Any], suffix: str = "") -> list[str]:
        self.now += self.seconds
        return [f"{request.task_name}{suffix}" for request in requests]


def requests(*tasks: str) -> list[Any]:
    return [SimpleNamespace(task_name=task) for task in tasks]


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


def test_a_calls_seconds_are_shared_by_its_requests(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = Model(monkeypatch)
    with call_times.record_call_times(lm, [task("a", 30, 2), task("b", 3, 0), task("never", 1, 1)]):
        assert lm.generate_until(requests("a", "a", "b"), suffix="!") == ["a!", "a!", "b!"]
        lm.seconds = 1.0
        lm.generate_until(requests("b"))
    # Six seconds in three: two of them are of a; one more is of b. Of 30 questions the first 20 are looked at.
    assert json.loads(file.read_text()) == {
        "a": {"seconds": 4.0, "requests": 2, "pictures": 40, "seen": 20},
        "b": {"seconds": 3.0, "requests": 2, "pictures": 0, "seen": 3},
    }


def test_the_model_has_its_own_function_again_also_after_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = Model(monkeypatch)
    with pytest.raises(ValueError, match="stop"), call_times.record_call_times(lm, []):
        lm.generate_until(requests("a"))
        raise ValueError("stop")
    assert lm.generate_until.__func__ is Model.generate_until and not file.exists()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("variable", "rank"), [("", "0"), ("set", "1")])
def test_without_the_variable_and_on_other_ranks_nothing_is_timed(
    file: Path, monkeypatch: pytest.MonkeyPatch, variable: str, rank: str
) -> None:
    if not variable:
        monkeypatch.delenv(stamps.CALL_TIMES)
    monkeypatch.setenv("RANK", rank)
    lm = Model(monkeypatch)
    with call_times.record_call_times(lm, [task("a", 1, 1)]):
        assert "generate_until" not in vars(lm)
    assert not file.exists()
