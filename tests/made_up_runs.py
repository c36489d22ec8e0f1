"""Runs written by hand in the form that the harness writes them, so that their numbers add up."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.board.installed import find_installed_task
from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.task_configs.med_cmr.judging import WEIGHTS

DIGESTS = {"package": "c0de", "prompt": "9409"}
JUDGE = {
    "name": "openai:judge",
    "settings": {"temperature": 0.0},
    "is_paper_judge": False,
    "protocols": [{"protocol": "med_cmr_open", "version": 1, "digest": "d16e57"}],
}
TAGS = {
    "data": "full", "modality": "CT", "severity": 1, "capability": "Counting", "option_count": 4, "dimension": "SOD",
    "form": "mcq", "task_type": "detection_open", "tier": 1, "negative": 0, "grid": "2x2", "paper_task": "t3",
}  # fmt: skip


def choice_rows(trials: Mapping[str, str], *, images: int | None = None, **tags: Any) -> list[dict[str, Any]]:
    """A row a question, id -> its trials ("AAB"; "-" unreadable, "_" empty, "!" failed); the right answer is A.

    ``images``: questions are spread over so many images; default: each has its own. The tags are those that every
    benchmark wants, so that the rows may be of a task of any.
    """
    rows = []
    for number, (name, letters) in enumerate(trials.items()):
        read = tuple({"-": "unreadable", "_": "empty", "!": "failed"}.get(letter, letter) for letter in letters)
        replies = [each for each in read if each != "failed"]
        score = replies.count("A") / len(replies) if replies else None
        cluster = f"image {number % images if images else number}"
        record = QuestionRecord(
            id=name,
            cluster=cluster,
            trials=read,
            expected="A",
            measures={"accuracy": ScoreValue(score)},
            tags={**TAGS, **tags},
        )
        rows.append(
            {
                "doc_id": number,
                "target": "A",
                "filtered_resps": [f"reply {letter} to {name}" for letter in letters],
                "questions": record.to_json(),
                "accuracy": {} if score is None else {"score": score, "cluster": cluster},
                "input": f"prompt of {name}",
            }
        )
    return rows


def judged_rows(
    totals: Mapping[str, float | None],
    judge: str = "openai:judge",
    settled: Collection[str] = (),
    *,
    endpoint: str = "",
    answered: str | None = None,
) -> list[dict[str, Any]]:
    """A row of ``med_cmr_open`` a question, id -> its total; None: the judgement is missing.

    ``settled``: the questions with an empty reply, whose total of 0 is a rule's and no judge's. ``answered``: the model
    that the judge's server at ``endpoint`` named.
    """
    verdict = {"labels": {}, "reason": "", "reply": "", **({} if answered is None else {"model": answered})}
    described = {"name": judge, "protocol": "med_cmr_open", **({"endpoint": endpoint} if endpoint else {})}
    rows = []
    for number, (name, total) in enumerate(totals.items()):
        status = "missing" if total is None else "exact" if name in settled else "judged"
        low, high = (0.0, 100.0) if total is None else (total, total)
        judged = int(total is not None)
        # All parts alike: a total of 100 (1 + 1 + 4 + 4) s / (5 * 10) = 20 s.
        part = ScoreValue(None if total is None else total / 20, low / 20, high / 20, judged, 1)
        record = QuestionRecord(
            id=name,
            cluster=f"image {number}",
            trials=("empty" if name in settled else "ok",),
            expected=None,
            measures={"total": ScoreValue(total, low, high, judged, 1), **dict.fromkeys(WEIGHTS, part)},
            tags={"data": "full", "dimension": "SOD", "form": "open", "parts": "both"},
            judgement=QuestionJudgement(
                described,
                ({"answer": "secret"},),
                (({"status": status, **verdict},),),
            ),
        )
        rows.append(
            {
                "doc_id": number,
                "target": "reference text",
                "filtered_resps": [f"answer to {name}"],
                "questions": record.to_json(),
                "total": {**({} if total is None else {"score": total}), "requested": 1},
                "input": f"prompt of {name}",
            }
        )
    return rows


def write_judged(
    folder: Path,
    totals: Mapping[str, float | None],
    *,
    url: str = "http://h:1/v1",
    model_that_answers: str = "m-1",
    status: str = "judged",
    **chosen: Any,
) -> Path:
    """Write a run of ``med_cmr_open`` as judged at ``url``; verdicts of another ``status`` name no model."""
    answered = model_that_answers if status == "judged" else None
    rows = judged_rows(totals, settled=totals if status == "exact" else (), endpoint=url, answered=answered)
    for row in rows if status != "judged" else ():
        row["questions"]["judgement"]["verdicts"][0][0]["status"] = status
    return write(folder, {"med_cmr_open": rows}, metadata={"judge": {**JUDGE, "endpoint": url}}, **chosen)


def means(rows: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
    """What the harness would report: the mean score of each metric, null where no question has one."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, dict) and name != "questions":
                found.setdefault(f"{name},trials", []).extend([value["score"]] if "score" in value else [])
    return {name: sum(values) / len(values) if values else None for name, values in found.items()}


def write_files(
    folder: Path,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    configs: Mapping[str, Mapping[str, Any]],
    *,
    results: Mapping[str, Mapping[str, Any]] | None = None,
    original: int | None = None,
    samples: bool = True,
    date: str = "20260101_000000",
    **content: Any,
) -> Path:
    """Write a result file and its logs, lines by task, and give the file; ``content``: more of it, by key.

    ``original``: the questions of each task's data, if others than those asked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = {
        "results": results or {task: {"accuracy,trials": 0.5} for task in rows},
        "configs": configs,
        "versions": dict.fromkeys(rows, 1.0),
        "n-samples": {task: {"original": original or len(own), "effective": len(own)} for task, own in rows.items()},
        "date": date,
    }
    path = folder / f"{date}_results.json"
    path.write_text(json.dumps({**said, **content}), "utf-8")
    for task, own in rows.items() if samples else ():
        text = "".join(json.dumps(row, default=dict) + "\n" for row in own)
        (folder / f"{date}_samples_{task}.jsonl").write_text(text, "utf-8")
    return path


def write(
    folder: Path,
    tasks: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    model: str = "model-a",
    arguments: str = "",
    date: str = "20260101_000000",
    versions: Mapping[str, float] | None = None,
    metadata: Mapping[str, Any] | None = None,
    limit: float | None = None,
    original: int | None = None,
    harness: str = "0.7.3",
    reported: Mapping[str, float] | None = None,
    samples: bool = True,
) -> Path:
    """Write a run of these tasks, rows by task, and give its result file."""
    results = {task: {"alias": task, **means(rows), **(reported or {})} for task, rows in tasks.items()}
    known = {task: float(found.version) if (found := find_installed_task(task)) else 1.0 for task in tasks}
    own = {
        "version": next(iter(known.values()), 1.0), "data": "full", "data_digest": "da7a",
        "digests": DIGESTS, "package_version": "1.0",
        **(metadata or {}),
    }  # fmt: skip
    return write_files(
        folder,
        tasks,
        {task: {"task": task, "metadata": own} for task in tasks},
        results=results,
        original=original,
        samples=samples,
        date=date,
        versions={task: (versions or {}).get(task, known[task]) for task in tasks},
        config={"model": "runner", "model_args": f"pretrained={model}{arguments}", "limit": limit},
        lmms_eval_version=harness,
    )
