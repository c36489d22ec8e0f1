"""An entry from a run's result file and the sample log of one task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lmms_medtasks.board import installed
from lmms_medtasks.board.columns import Coded, code_type
from lmms_medtasks.board.entries import Counts, Entry, Judge, Measure, Model, Source
from lmms_medtasks.board.measures import scale
from lmms_medtasks.board.reading import Log
from lmms_medtasks.judges import identity
from lmms_medtasks.report.about import limit
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import model_name, printable

_DIGEST = 12


def entry_of(run: Run, task: str, log: Log) -> Entry:
    """One task of a run with what its log holds; ``problems`` are added later."""
    config = run.content["configs"][task]
    metadata = config.get("metadata") or {}
    measures = _with_unjudged(log, task)
    return Entry(
        suite=installed.suite_of(task, config),
        task=task,
        version=_text(run.content.get("versions", {}).get(task, metadata.get("version", "?"))),
        model=model_of(run.content),
        data=_data(metadata, log),
        data_digest=_text(metadata.get("data_digest", "")),
        fingerprint={_text(name): _text(value) for name, value in (metadata.get("fingerprint") or {}).items()},
        fingerprint_recorded=metadata.get("fingerprint_recorded"),
        judge=_judge(metadata.get("judge"), log),
        harness=_text(metadata.get("harness") or run.content.get("lmms_eval_version") or "?"),
        settings=_settings(run, config, metadata),
        credentialed=bool(metadata.get("agreement")),
        source=_source(run, task, log),
        questions=log.questions,
        measures=measures,
        extra=log.extra,
        counts=counts_of(measures, log.extra, len(log.questions), *_asked(run, task)),
        reported=_reported(run.tasks[task]),
    )


def _data(metadata: Mapping[str, Any], log: Log) -> str:
    """Which data the run read; a contributed task says it in its records alone."""
    if "data" not in metadata and installed.is_contributed({"metadata": metadata}) and len(log.data) == 1:
        return next(iter(log.data))
    return _text(metadata.get("data", "unknown"))


def _with_unjudged(log: Log, task: str) -> dict[str, Measure]:
    """The log's measures, and those of the suite's table of which not one answer was judged: they are not forgotten."""
    none = Coded((None,), np.zeros(len(log.questions), dtype=code_type(1)))
    lost = {
        name: Measure(none, *(log.extra.get(f"{name}.{each}") for each in ("low", "high", "judged", "wanted")))
        for name in (each.removesuffix(".wanted") for each in log.extra if each.endswith(".wanted"))
        if scale(task, name).main and name not in log.measures
    }
    return {**lost, **log.measures}


def model_of(content: Mapping[str, Any]) -> Model:
    """The model of a run; its arguments only as a digest, since they may hold keys."""
    config = content.get("config") or {}
    arguments = config.get("model_args") or ""
    if isinstance(arguments, Mapping):
        parts = [f"{name}={value}" for name, value in arguments.items()]
    else:
        parts = [part.strip() for part in str(arguments).split(",") if part.strip()]
    digest = hashlib.sha256(json.dumps(sorted(parts)).encode()).hexdigest()[:_DIGEST] if parts else ""
    return Model(model_name(content), _text(config.get("model", "not recorded")), digest)


def counts_of(
    measures: Mapping[str, Measure], extra: Mapping[str, Coded], rows: int, original: int | None, effective: int | None
) -> Counts:
    """The counts of an entry from its columns, so that a pack's can be counted again."""
    read = "parse_rate" if "parse_rate.parsed" in extra else "both_parts" if "both_parts.parsed" in extra else "replies"
    # Judgements of a question are the same in each measure that was made of them, but a measure may be of a part.
    judged = wanted = 0
    for part in _disjoint(measures):
        judged, wanted = judged + _sum(part.judged), wanted + _sum(part.wanted)
    return Counts(
        original=original,
        effective=effective,
        rows=rows,
        replies=_sum(extra.get(f"{read}.replies")),
        parsed=_sum(extra.get(f"{read}.parsed")),
        requests=_sum(extra.get("failed_requests.trials")),
        failed=_sum(extra.get("failed_requests.failed")),
        wanted=wanted,
        judged=judged,
    )


def _disjoint(measures: Mapping[str, Measure]) -> list[Measure]:
    """Judged measures of which no two are of one question, in the order of the log."""
    taken: np.ndarray | None = None
    found = []
    for each in measures.values():
        if each.wanted is None:
            continue
        own = each.wanted.codes != 0
        if taken is None or not (taken & own).any():
            taken = own if taken is None else taken | own
            found.append(each)
    return found


def _sum(column: Coded | None) -> int:
    return 0 if column is None else int(np.nansum(column.floats()))


def _asked(run: Run, task: str) -> tuple[int | None, int | None]:
    found = (run.content.get("n-samples") or {}).get(task) or {}
    return found.get("original"), found.get("effective")


def _reported(result: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of the result file; names without the filter's."""
    return {
        _text(name.partition(",")[0]): float(value)
        for name, value in result.items()
        if "_stderr" not in name and isinstance(value, int | float) and not isinstance(value, bool)
    }


def _judge(described: Any, log: Log) -> Judge | None:
    if not isinstance(described, Mapping):
        return Judge(" + ".join(sorted(log.judges)), {}, "", False) if log.judges else None
    prompts = {
        _text(each.get("protocol")): _text(f"version {each.get('version', '?')}, {each.get('digest', '')}")
        for each in described.get("protocols") or []
    }
    names = sorted(log.judges - {"none"}) or [_text(identity.full_name({"name": "none", **described}))]
    settings = _text(json.dumps(described.get("settings") or {}, sort_keys=True))
    return Judge(" + ".join(names), prompts, settings, bool(described.get("is_paper_judge")))


def _settings(run: Run, config: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "limit": limit(run),
        "generation": json.dumps(config.get("generation_kwargs") or {}, sort_keys=True, default=str),
        "gen_kwargs": str((run.content.get("config") or {}).get("gen_kwargs") or ""),
        "image_encoding": str(metadata.get("image_encoding") or ""),
        "checkpoint_sampling_set_aside": str(metadata.get("checkpoint_sampling_set_aside") or ""),
        "agreement": str(metadata.get("agreement") or ""),
        **{name: str(metadata.get(name) or "") for name in installed.TOLD},
        "seed": str((run.content.get("config") or {}).get("random_seed", "")),
    }
    return {name: _text(value) for name, value in found.items() if value}


def _source(run: Run, task: str, log: Log) -> Source:
    samples = run.samples_file(task)
    own = hashlib.sha256(run.path.read_bytes()).hexdigest()
    date = _text(run.content.get("date") or "")
    return Source("run", run.path, samples, date, {run.path.name: own, samples.name: log.sha256})


def _text(value: object) -> str:
    return printable(str(value))
