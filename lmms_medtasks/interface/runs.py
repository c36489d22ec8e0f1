"""Runs: their questions as a data frame, and two of them compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.board.comparison import compared_entries, comparison_document, measure_comparison
from lmms_medtasks.board.comparison.measure_comparison import TELLING, RunsComparison
from lmms_medtasks.errors import UserError, check_count
from lmms_medtasks.interface.columns import task_names
from lmms_medtasks.record import FAILED, KEY, NO_ANSWER, record_from_json
from lmms_medtasks.report.run_report import RunReport
from lmms_medtasks.samples.degraded import PICTURES, SCORES, find_base_task
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import (
    RunPaths,
    distinct_names,
    find_result_files,
    list_logged_replies,
    list_run_paths,
    make_printable,
    model_name,
)
from lmms_medtasks.samples.table import OWN_COLUMNS, QuestionTable
from lmms_medtasks.statistics.confidence import DEFAULT, use_level
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.suite_rows import task_table
from lmms_medtasks.visible_text import replace_invisible

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS: Mapping[str, str] = {
    "run": "name of the run: its model's, with the date and a number where several have it",
    "model": "the checkpoint, or the harness's name of the model",
    "task": "name of the task",
    "id": "id of the question, unique in a task; of a task without records of ours the number of its document",
    "cluster": "what questions share that are not independent: the image, item or case",
    "pair": "names the question whose other forms (levels, wordings) are paired with this one; the id by default",
    "trial": "number of the reply to the question, from 0",
    "reply": "the reply's text; missing where the request failed, or the data's terms keep replies out of logs",
    "reading": "the answer that was read; missing where none was read, or a judge reads replies",
    "outcome": "ok, ambiguous, refused, unreadable, cut, empty or failed; missing where the harness read it",
    "ended": "why the reply ended: stop, length (the limit of new tokens) or error; missing where nobody said",
    "answer": "the correct answer in the terms of reading, or the reference; missing where it is withheld",
    "correct": "1.0 where reading is answer, else 0.0; NaN for a failed request, and where a judge decides",
    "score": "the question's score over all its trials, of which the task's main metric is the mean; NaN without one, "
    "as in other tasks of the harness that were not asked on degraded images too",
    "measure": "which measure score is of; missing where a task of the harness has several",
}
"""Column of :func:`read_runs` -> its meaning. After them come ``score.NAME`` for each measure, and the tags."""

_MAIN = ("accuracy", "score")
_NOT_TAGS = OWN_COLUMNS | {"reply"}


def read_runs(runs: RunPaths, *, include_path: RunPaths = ()) -> DataFrame:
    """The questions of runs as a data frame: a row for each run, task, question and trial.

    Args:
        runs: A folder with result files somewhere below, a ``*_results.json``, several of these, or what
            :func:`evaluate` gave.
        include_path: Folders of benchmarks that are not installed and declare measures of their own.

    Returns:
        A data frame with the columns that docs/python.md lists, texts but for ``trial`` (int), ``correct`` and
        ``score`` (float); behind them ``score.NAME`` (float) for each measure, and the tags that a benchmark breaks
        results down by, such as ``modality`` (``tag_NAME`` where a column has its name). ``score`` is of the question,
        the same in each of its trials: :func:`accuracy` and :func:`difference` count a question once.

    Raises:
        UserError: A path that is not there or holds no run, a run without a sample log (``--log_samples``), a log that
            is cut off or of another version.

    Example:
        >>> frame = read_runs("runs/")  # doctest: +SKIP
        >>> frame.groupby(["model", "modality"]).score.mean()  # doctest: +SKIP
    """
    import pandas as pd

    registry.add_suite_folders(list_run_paths(include_path))
    found_runs = find_result_files(list_run_paths(runs))
    names = distinct_names(found_runs, [tuple(run.tasks) for run in found_runs])
    rows = [row for run, name in zip(found_runs, names, strict=True) for row in _iter_rows(run, make_printable(name))]
    if not rows:
        location = ", ".join(map(str, list_run_paths(runs)))
        raise UserError(f"No sample log in {location}: there are result files only. Run with --log_samples.")
    frame = pd.DataFrame(rows).dropna(axis="columns", how="all")
    measures = sorted(name for name in frame.columns if name.startswith("score."))
    return frame.reindex(columns=list(dict.fromkeys([*COLUMNS, *measures, *frame.columns])))


def _iter_rows(run: ResultFile, name: str) -> Iterator[dict[str, Any]]:
    configs: Mapping[str, Mapping[str, Any]] = run.content.get("configs") or {}
    model = make_printable(model_name(run.content))
    for task, config in configs.items():
        if not run.samples_file(task).is_file():
            continue
        # A degraded task of ours has records of its base's benchmark.
        suite = registry.find_suite(find_base_task(task, config) or task, config)
        for row in _iter_benchmark_rows(suite, run, task) if suite else _iter_harness_rows(run, task):
            yield {"run": name, "model": model, "task": make_printable(task), **row}


def _iter_benchmark_rows(suite: Suite, run: ResultFile, task: str) -> Iterator[dict[str, Any]]:
    """The questions of a benchmark's task, read as for its report."""
    table = task_table(suite, run, task)
    logged = {line: _logged_replies(row, f"{run.samples_file(task)}, line {line}") for line, row in run.rows(task)}
    main = _main_measure(suite, run, task, table.measures)
    scores = {name: _counted_scores(table, name) for name in table.measures}
    columns = {name: table.column(name) for name in ("id", "cluster", "pair")}
    columns |= {f"score.{name}": values for name, values in scores.items()}
    for name in table.columns:
        if name not in _NOT_TAGS and "." not in name:
            columns[f"tag_{name}" if name in COLUMNS else name] = table.column(name)
    readings = zip(*map(table.column, ("trials", "expected", "judgement", "line")), strict=True)
    for index, (trials, expected, judgement, line) in enumerate(readings):
        texts, answer, ended = logged[line]
        question = {name: values[index] for name, values in columns.items()}
        question |= {"answer": answer, "score": scores[main][index] if main else float("nan"), "measure": main}
        for trial, read in enumerate(trials):
            text = texts[trial] if trial < len(texts) else None
            yield {**question, **_reading_fields(read, judgement is not None, expected), "trial": trial,
                   "ended": ended[trial] if trial < len(ended) else None,
                   "reply": None if read == FAILED else text}  # fmt: skip


def _logged_replies(row: Mapping[str, Any], where: str) -> tuple[list[str | None], str | None, list[str | None]]:
    """The replies of a question, its right answer (neither if the data's terms withhold them), and their endings."""
    record = record_from_json(row.get(KEY), where)
    ended = [note.get("ended") for note in record.replies]
    if record.judgement is not None and isinstance(record.judgement.items, str):
        return [], None, ended
    return _reply_texts(row), record.right_answer, ended


def _reading_fields(read: str, judged: bool, expected: str | None) -> dict[str, Any]:
    is_read = read != FAILED and read not in NO_ANSWER
    is_known = not judged and read != FAILED and (expected is not None or not is_read)
    return {
        "reading": read if is_read and not judged else None,
        "outcome": "ok" if is_read else read,
        "correct": float(is_read and read == expected) if is_known else float("nan"),
    }


def _counted_scores(table: QuestionTable, measure: str) -> np.ndarray:
    """(n,) floats: the scores that count in a mean of the measure; NaN for other rows."""
    counted = table.scored(measure)
    scores = np.full(len(table), np.nan)
    scores[counted.rows] = counted.column(f"{measure}.score")
    return scores


def _main_measure(suite: Suite, run: ResultFile, task: str, measures: Sequence[str]) -> str | None:
    """The measure of the task's main metric; else accuracy or score, else its first one."""
    reported = {key.partition(",")[0] for key in run.tasks.get(task, {})}
    main = [
        getattr(main_metric.estimate, "measure", None)
        for main_metric in suite.main_metrics
        if main_metric.name in reported
    ]
    return next((measure for measure in (*main, *_MAIN, *measures) if measure in measures), None)


def _iter_harness_rows(run: ResultFile, task: str) -> Iterator[dict[str, Any]]:
    """The questions of any other task, as the harness logged them."""
    for _, row in run.rows(task):
        logged: Mapping[str, float] = row.get(SCORES) or {}
        scores = {key.partition(",")[0]: value for key, value in logged.items()}
        only = next(iter(scores)) if len(scores) == 1 else None
        pictures = [str(picture.get("picture")) for picture in row.get(PICTURES) or ()]
        name = str(row.get("doc_id"))
        for trial, text in enumerate(_reply_texts(row) or [None]):
            yield {
                "id": name,
                "cluster": pictures[0] if pictures else name,
                "pair": name,
                "trial": trial,
                "reply": text,
                "answer": replace_invisible(str(row.get("target", ""))),
                "correct": float("nan"),
                "score": float(scores[only]) if only and scores[only] is not None else float("nan"),
                "measure": only,
                **{f"score.{key}": value for key, value in scores.items()},
            }


def _reply_texts(row: Mapping[str, Any]) -> list[str | None]:
    """The replies in a row of a sample log, without invisible characters."""
    replies = list_logged_replies(row.get("filtered_resps"))
    return [replace_invisible(reply) if isinstance(reply, str) else None for reply in replies]


class RunComparison(RunReport):
    """The comparison of two models, as ``lmms-medtasks compare`` writes it. A notebook shows it as its page.

    Attributes:
        compared: The numbers, a comparison a task and measure.
    """

    def __init__(self, compared: RunsComparison) -> None:
        super().__init__(comparison_document.comparison_report(compared))
        self.compared = compared

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it: what ``lmms-medtasks compare --format json`` prints."""
        with use_level(self.confidence):
            return comparison_document.comparison_to_json(self.compared)


def compare(
    first: RunPaths,
    second: RunPaths,
    *,
    tasks: Sequence[str] = (),
    questions: int = TELLING,
    confidence: float = DEFAULT,
    include_path: RunPaths = (),
) -> RunComparison:
    """Two models compared question by question, on each task that both were run on.

    Degraded tasks (``TASK@…``) are left out: reports have what each run lost.
    Differences are the second less the first over the same questions, with intervals and tests over images,
    Holm-corrected over all rows: what ``lmms-medtasks compare`` prints.

    Args:
        first, second: The result folder, ``*_results.json`` or pack of one model each, or what :func:`evaluate` gave.
        tasks: Only these tasks.
        questions: Questions shown of each task, at most: those on which the two differ most.
        confidence: The probability with which an interval holds the true difference, 0.5 to 0.9999; 1 less it is the
            level of the tests.
        include_path: Folders of benchmarks that are not installed and declare measures of their own.

    Returns:
        A :class:`~lmms_medtasks.interface.runs.RunComparison` with ``tables``, ``html``, ``markdown``,
        ``to_dict()`` and ``save(path)``. A notebook shows the page.

    Raises:
        UserError: A confidence that is none; a side that is not there, has nothing that can be compared, or several
            entries on a task; no task in common; a task that a side has no result of.

    Example:
        >>> compare("runs/base", "runs/tuned").tables["differences"]  # doctest: +SKIP
    """
    registry.add_suite_folders(list_run_paths(include_path))
    check_count(questions, "questions")
    names = task_names([tasks] if isinstance(tasks, str) else tasks)
    with use_level(confidence):
        sides = []
        for paths in map(list_run_paths, (first, second)):
            if len(paths) != 1:
                raise UserError(f"A side of a comparison is one folder or file, got {len(paths)}.")
            sides.append(compared_entries.read_compared_runs(paths[0], tasks=names))
        return RunComparison(measure_comparison.compare(*sides, telling=questions))
