"""Make an entry from a run's result file and the sample log of one task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board import installed
from lmms_medtasks.board.columns import codes_of, dictionary_encode
from lmms_medtasks.board.entries import (
    QUESTION,
    EntryJudge,
    EntryModel,
    EntryOrigin,
    EntryQuestions,
    LeaderboardEntry,
    QuestionCounts,
)
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import identity
from lmms_medtasks.record import EMPTY, FAILED
from lmms_medtasks.report.about import limit_text, settings_said
from lmms_medtasks.samples import answering_model
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import date_of, make_printable, model_name, shown_arguments
from lmms_medtasks.samples.table import FIELDS, OWN_COLUMNS, QuestionTable, change_texts
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Metric, Suite
from lmms_medtasks.suites.suite_rows import is_kept as table_is_kept
from lmms_medtasks.suites.suite_rows import numbers_of, task_table

LINE = "line"
"""The column of a run's answers with the line of the log."""

_SHORT, _NAME = 24, 80
"""Characters of an answer, and of a tag, at most: longer ones are texts, not names of groups."""
_GROUPS = 40
"""Distinct texts of an undeclared tag, at most."""
_DIGEST = 12


def entry_of(run: ResultFile, task: str, cache: BuildCache = NO_CACHE, suite: Suite | None = None) -> LeaderboardEntry:
    """One task of a run with its questions and answers; ``problems`` are added later.

    ``cache``: keeps what was read of the log. ``suite``: the declaration, if the task's name does not determine it.

    Raises UserError, with file and line, if the log can't be read or the task's benchmark is unknown.
    """
    config = run.content["configs"][task]
    metadata = config.get("metadata") or {}
    digests = metadata.get("digests") or {}
    told = installed.recorded_declaration(config)
    suite = suite or installed.task_declaration(task, told)
    if suite is None:
        raise UserError(f"{make_printable(task)} is not known here. {installed.ADVICE}")
    rows = task_table(suite, run, task, cache)
    questions, answers = columns_of(suite, rows)
    settings = _entry_settings(run, task, metadata, told)
    asked = run.content.get("n-samples", {}).get(task, {})
    return LeaderboardEntry(
        suite=installed.suite_of(task, suite),
        task=task,
        version=_printable_text(run.content.get("versions", {}).get(task, metadata.get("version", "?"))),
        model=model_of(run.content),
        data=_data_variant(metadata, rows),
        data_digest=_printable_text(metadata.get("data_digest", "")),
        digests={_printable_text(name): _printable_text(value) for name, value in digests.items()},
        package_version=_printable_text(metadata.get("package_version") or "?"),
        package_modified=metadata.get("package_modified"),
        judge=_entry_judge(metadata.get("judge"), judge_names_of(rows)),
        harness=_printable_text(metadata.get("harness") or run.content.get("lmms_eval_version") or "?"),
        settings=settings,
        credentialed=bool(metadata.get("agreement")),
        source=_entry_origin(run, task, cache),
        questions=questions,
        answers=answers,
        metrics=ranked_metrics(suite, rows, installed.printed_metrics(task, settings, suite)),
        counts=counts_of(suite, rows, asked.get("original"), asked.get("effective")),
        at_limit=sum(len(limits) for limits in rows.column("limits_reached") if limits is not None),
        # Without what the harness adds (times, counts).
        reported={name: value for name, value in numbers_of(run.tasks[task]).items() if name in suite.estimates},
    )


def is_kept(run: ResultFile, task: str, cache: BuildCache) -> bool:
    """Whether the cache has the log's table; reads the whole log for its digest."""
    suite = installed.task_declaration(task, installed.recorded_declaration(run.content["configs"][task]))
    return suite is not None and table_is_kept(suite, run, task, cache)


def columns_of(suite: Suite, rows: QuestionTable) -> tuple[EntryQuestions, pa.Table]:
    """The questions, sorted by id, and their answers; compact columns without texts."""
    order = pa.array(np.argsort(rows.column("id"), kind="stable"))
    used = [name for name in rows.columns if name in (*QUESTION, "trials", "judgement") or name not in OWN_COLUMNS]
    known = {name: dictionary_encode(_shorten_long_texts(name, rows.arrow(name)).take(order)) for name in used}
    tags = sorted(name for name in known if is_tag(suite, name, known[name]))
    answers = [name for name in allowed_answer_columns(suite) if name in known]
    asked = {name: known[name] for name in (*QUESTION, *tags) if name in known}
    line = rows.arrow("line").take(order).cast(pa.uint32())
    return questions_of(asked), pa.table({**{name: known[name] for name in answers}, LINE: line})


def allowed_answer_columns(suite: Suite) -> tuple[str, ...]:
    """The columns that answers of a benchmark may have."""
    measures = (f"{measure.name}.{field}" for measure in suite.measures for field in (*FIELDS, "asked"))
    return ("trials", "judgement", *suite.reply_tags, *measures)


def is_tag(suite: Suite, name: str, column: pa.DictionaryArray) -> bool:
    """Whether a column is kept as a tag: a declared one, or without declared tags one that makes groups."""
    if name in suite.tags:
        return name not in suite.reply_tags
    if not suite.default or name in OWN_COLUMNS or name.rpartition(".")[2] in (*FIELDS, "asked"):
        return False
    return not pa.types.is_string(column.type.value_type) or len(column.dictionary) <= _GROUPS


def questions_of(columns: Mapping[str, pa.DictionaryArray]) -> EntryQuestions:
    """Questions with their digest; rows must be sorted by id."""
    digest = hashlib.sha256()
    for name, column in sorted(columns.items()):
        digest.update(f"\1{name}\0{column.dictionary.to_pylist()!r}".encode())
        digest.update(codes_of(column).astype("<u4").tobytes())
    return EntryQuestions(pa.table(dict(columns)), digest.hexdigest())


def _shorten_long_texts(name: str, column: pa.ChunkedArray) -> pa.Array:
    """The column with digests in place of long answers, and nulls in place of long tags."""
    array = column.combine_chunks()
    if name in ("trials", "expected"):
        return change_texts(array, _shorten_value)
    if name in (*QUESTION, "judgement") or not pa.types.is_dictionary(array.type):
        return array
    texts = array.dictionary_decode()
    return pc.if_else(pc.less_equal(pc.utf8_length(texts), _NAME), texts, None)


def _shorten_value(text: str) -> str:
    return text if len(text) <= _SHORT else f"#{hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"


def ranked_metrics(suite: Suite, rows: QuestionTable, named: Collection[str]) -> tuple[str, ...]:
    """The metrics among ``named`` with a number here, in declared order: main ones, and means of a measure.

    Main metrics are included if judgements were requested and none was obtained.
    """
    return tuple(metric.name for metric in suite.metrics if metric.name in named and _is_there(metric, rows))


def _is_there(metric: Metric, rows: QuestionTable) -> bool:
    estimate = metric.estimate
    if not isinstance(estimate, Mean):
        return metric.main and estimate.value(rows) is not None
    asked_rows = rows.where(estimate.where)
    fields = ("score", *["requested"] * metric.main)
    has_any = any(not np.isnan(asked_rows.column(f"{estimate.measure}.{field}")).all() for field in fields)
    return (metric.main or metric.standard_error) and has_any


def judge_names_of(rows: QuestionTable) -> frozenset[str]:
    """The full names of the judges, one for each model that answered."""
    if not any(rows.values("judge")):
        return frozenset()
    answered = {
        (judge, model)
        for judge, models in zip(rows.column("judge"), rows.column("verdict_models"), strict=True)
        if judge is not None
        for model in {*(models or ())} - {None} or {None}
    }
    names = {make_printable(identity.full_name(json.loads(judge), model)) for judge, model in answered}
    return frozenset(identity.without_unanswered(names))


def _data_variant(metadata: Mapping[str, Any], rows: QuestionTable) -> str:
    """The data that the run read; a contributed task records it only with its questions."""
    named = set(rows.column("data"))
    if "data" not in metadata and installed.is_contributed({"metadata": metadata}) and len(named) == 1:
        return str(named.pop() or "unknown")
    return _printable_text(metadata.get("data", "unknown"))


def model_of(content: Mapping[str, Any]) -> EntryModel:
    """The model of a run; its arguments only as a digest, since they may hold keys."""
    config = content.get("config", {})
    arguments = config.get("model_args") or ""
    if isinstance(arguments, Mapping):
        parts = [f"{name}={value}" for name, value in arguments.items()]
    else:
        parts = [part.strip() for part in str(arguments).split(",") if part.strip()]
    digest = hashlib.sha256(json.dumps(sorted(parts)).encode()).hexdigest()[:_DIGEST] if parts else ""
    return EntryModel(model_name(content), _printable_text(config.get("model", "not recorded")), digest)


def counts_of(suite: Suite, rows: QuestionTable, original: int | None, effective: int | None) -> QuestionCounts:
    """The counts of an entry from its questions; a pack's are computed again."""
    _, trials = rows.texts("trials")
    parsed, replies = suite.read_replies(rows)
    requested, obtained = _judgement_counts(suite, rows)
    return QuestionCounts(
        original=original,
        effective=effective,
        rows=len(rows),
        replies=replies,
        parsed=parsed,
        empty=int(np.count_nonzero(pc.equal(trials, EMPTY))),
        requests=len(trials),
        failed=int(np.count_nonzero(pc.equal(trials, FAILED))),
        wanted=requested,
        judged=obtained,
    )


def _judgement_counts(suite: Suite, rows: QuestionTable) -> tuple[int, int]:
    """Judgements requested and obtained; those of a question are counted once, not once a measure."""
    counted = np.zeros(len(rows), dtype=bool)
    requested = obtained = 0.0
    for measure in suite.measures:
        columns = [rows.column(f"{measure.name}.{name}") for name in ("requested", "judged")]
        is_new = ~np.isnan(columns[0]) & ~counted
        counted |= is_new
        requested, obtained = requested + columns[0][is_new].sum(), obtained + np.nansum(columns[1][is_new])
    return int(requested), int(obtained)


def _entry_judge(described: Any, judges: frozenset[str]) -> EntryJudge | None:
    if not isinstance(described, Mapping):
        return (
            EntryJudge(name=" + ".join(sorted(judges)), prompts={}, settings="", is_paper_judge=False)
            if judges
            else None
        )
    prompts = {}
    for protocol in described.get("protocols") or []:
        prompt = installed.prompt_said(protocol.get("version", "?"), protocol.get("digest", ""))
        prompts[_printable_text(protocol.get("protocol"))] = _printable_text(prompt)
    names = sorted(judges - {"none"}) or [_printable_text(identity.full_name({"name": "none", **described}))]
    settings = _printable_text(json.dumps(described.get("settings") or {}, sort_keys=True))
    is_paper_judge = bool(described.get("is_paper_judge"))
    return EntryJudge(name=" + ".join(names), prompts=prompts, settings=settings, is_paper_judge=is_paper_judge)


def _entry_settings(run: ResultFile, task: str, metadata: Mapping[str, Any], told: Mapping[str, str]) -> dict[str, str]:
    config, result = run.content["configs"][task], {} if installed.find_installed_task(task) else run.tasks[task]
    named = {each.partition(",")[0] for each in result if "_stderr" not in each}
    settings = {
        "limit": limit_text(run),
        "data_counts": str(metadata.get("data_counts") or ""),
        "settings": ", ".join(settings_said(metadata)),
        "generation": json.dumps(config.get("generation_kwargs") or {}, sort_keys=True, default=str),
        "image_encoding": str(metadata.get("image_encoding") or ""),
        "other_model": answering_model.describe_answering_model(metadata),
        "arguments": shown_arguments(run.content),
        **told,
        installed.METRICS: ",".join(sorted(named)),
    }
    return {name: _printable_text(value) for name, value in settings.items() if value}


def _entry_origin(run: ResultFile, task: str, cache: BuildCache) -> EntryOrigin:
    results, log = run.path, run.samples_file(task)
    digests = {path.name: cache.digest(path) for path in (results, log)}
    # Of both files: the log records neither the model nor its settings.
    both = hashlib.sha256("".join(digests.values()).encode()).hexdigest()
    date = date_of(run.content)
    return EntryOrigin(kind="run", results=results, samples=log, date=date, sha256=digests, digest=both)


def _printable_text(value: object) -> str:
    return make_printable(str(value))
