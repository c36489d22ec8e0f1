"""Judged runs written by hand, in the form that the harness writes them, and a protocol for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lmms_medtasks.judges import registry
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.record import QuestionJudgement, QuestionRecord

STARS = {str(number): float(number) for number in range(1, 6)}


@pytest.fixture
def protocol(tmp_path, monkeypatch) -> JudgeProtocol:
    """Two dimensions of 1 to 5; its total is the first and four times the second."""
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Rate <this>.\n{{question}}\n{{reference}}\n{{answer}}\n")
    made = JudgeProtocol(
        name="agreement_sample:PROTOCOL",
        prompt=str(prompt),
        version=1,
        dimensions=(ScoreDimension("coherence", STARS), ScoreDimension("visual_accuracy", STARS)),
        fields=("question", "reference", "answer"),
        paper_judge="a judge",
        item=lambda doc, reply: None,
        total=lambda numbers: numbers["coherence"] + 4 * numbers["visual_accuracy"],
    )
    use(monkeypatch, made)
    yield made
    registry.forget_custom_protocols()


@pytest.fixture
def change_protocol(protocol, monkeypatch) -> Callable[..., JudgeProtocol]:
    """Gives the protocol other attributes."""

    def change(**attributes: Any) -> JudgeProtocol:
        changed = replace(protocol, **attributes)
        use(monkeypatch, changed)
        return changed

    return change


def use(monkeypatch: pytest.MonkeyPatch, protocol: JudgeProtocol) -> None:
    monkeypatch.setitem(sys.modules, "agreement_sample", SimpleNamespace(PROTOCOL=protocol))
    registry.forget_custom_protocols()


@pytest.fixture
def write_run(tmp_path, protocol) -> Callable[..., Path]:
    """Writes a judged run and gives its folder; see :func:`_write`."""

    def write(scores: Mapping[str, Sequence[str]], name: str = "run", **chosen: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        _write(folder, scores, **chosen)
        return folder

    return write


def _write(
    folder: Path,
    scores: Mapping[str, Sequence[str]],
    *,
    model: str = "m",
    judge: str = "openai:j",
    description: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    task: str = "open",
    withheld: bool = False,
    answers_as: str | None = None,
) -> None:
    """``scores``: question to replies, each its judgings with spaces between: ``34`` (a digit a dimension), ``-``
    missing, ``=55`` by a rule; ``!`` a failed request."""
    rows = []
    for id, replies in scores.items():
        texts = [(answers or {}).get(id, f"answer of {model} to {id}") for _ in replies]
        items = [
            None if reply == "!" else {"question": f"question {id}", "reference": "ref", "answer": text}
            for reply, text in zip(replies, texts, strict=True)
        ]
        judgement = QuestionJudgement(
            judge={"name": judge, "protocol": "agreement_sample:PROTOCOL", **(description or {})},
            items="withheld" if withheld else tuple(items),
            verdicts=tuple(
                () if reply == "!" else tuple(verdict(each, answers_as) for each in reply.split()) for reply in replies
            ),
            replies=tuple(f"digest of {text}" for text in texts) if withheld else None,
        )
        trials = tuple("failed" if reply == "!" else "ok" for reply in replies)
        record = QuestionRecord(id, f"image of {id}", trials, None, {}, {}, judgement=judgement)
        rows.append({"score": {"score": 1.0}, "questions": record.to_json()})
    content = {
        "results": {task: {"score,trials": 1.0}, "other": {}},
        "configs": {
            task: {"lmms_eval_specific_kwargs": {"default": {"judge": "agreement_sample:PROTOCOL"}}},
            "other": {},
        },
        "config": {"model": "some_runner", "model_args": f"pretrained={model}"},
    }
    (folder / "x_results.json").write_text(json.dumps(content))
    (folder / f"x_samples_{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def verdict(text: str, model: str | None = None) -> dict[str, Any]:
    status = "missing" if text == "-" else "exact" if text.startswith("=") else "judged"
    digits = text.lstrip("-=")
    labels = dict(zip(("coherence", "visual_accuracy"), digits, strict=False))
    named = model if status == "judged" else None
    return {"status": status, "labels": labels, "reason": "", "reply": "", "model": named}
