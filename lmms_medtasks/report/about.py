"""What a report says of the run behind a table, for every suite: its model, its data, and how much of it was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.report.document import Cell
from lmms_medtasks.samples import run_options
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import date_of, make_printable, model_name
from lmms_medtasks.suites import paper

OWN = "this run"

ACCEPTED = ", counts accepted"
"""What stands behind "full" of data that was called so although it has another number of questions than the release."""


def task_metadata(run: ResultFile, tasks: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """Each task's metadata, as the run recorded it."""
    return {task: paper.recorded_metadata(run.content["configs"][task]) for task in tasks}


def data_kinds(run: ResultFile, tasks: Sequence[str]) -> tuple[str, ...]:
    """The kinds of data ("full", "sample", "mini", "1000 images of full") that the tasks read, as recorded.

    "unknown" where not recorded; "full, counts accepted" where it has not the release's number of questions.
    """
    return tuple(dict.fromkeys(_data_kind(each) for each in task_metadata(run, tasks).values()))


def _data_kind(told: Mapping[str, Any]) -> str:
    data = make_printable(str(told.get("data", "unknown")))
    return f"{data}{ACCEPTED}" if data.rpartition(" of ")[2] == "full" and told.get("data_counts") else data


def other_data(asked: Iterable[Iterable[tuple[ResultFile, Sequence[str]]]]) -> list[str]:
    """The tasks whose data differ among these sources; each source is given by its runs and their tasks."""
    digests: dict[str, set[str]] = {}
    for source_runs in asked:
        for run, tasks in source_runs:
            for task, told in task_metadata(run, tasks).items():
                if told.get("data_digest"):
                    digests.setdefault(task, set()).add(str(told["data_digest"]))
    return [task for task, found in digests.items() if len(found) > 1]


def question_counts(run: ResultFile, tasks: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Each task's questions in the data and questions asked, where they are recorded."""
    for task in tasks:
        counts = run.content.get("n-samples", {}).get(task) or {}
        if counts.get("original") is not None and counts.get("effective") is not None:
            yield task, counts["original"], counts["effective"]


def changed_run_settings(run: ResultFile, tasks: Sequence[str]) -> str:
    """The settings that the user changed: ``paper settings``, ``temperature=0 instead of 0.7``; "" for none."""
    return ", ".join(dict.fromkeys(said for told in task_metadata(run, tasks).values() for said in settings_said(told)))


def settings_said(told: Mapping[str, Any]) -> list[str]:
    """As :func:`changed_run_settings`, of one task, a text each; ``told``: the task's metadata."""
    name, own = paper.settings_label(told), told.get("own_prompt")
    prompt = [f"own prompt {own.get('name')} ({own.get('digest')})"] if isinstance(own, Mapping) else []
    changes = told["settings"]["changes"] if name == paper.THINKING else {}
    # Their limit is lowered to a model's room, and runs of other limits are other runs.
    limit = f" ({changes.get('max_new_tokens')} new tokens)" if changes else ""
    settings = [f"{name} settings{limit}"] if name else []
    return list(map(make_printable, [*settings, *prompt, *run_options.describe_changed_options(told)]))


def limit_text(run: ResultFile) -> str:
    """``--limit 8``, or "" if the run had none."""
    value = (run.content.get("config") or {}).get("limit")
    if value is None:
        return ""
    # The harness records --limit 8 as 8.0.
    return f"--limit {value:g}" if isinstance(value, float) else make_printable(f"--limit {value}")


def subset_text(told: Mapping[str, Any]) -> str:
    """``1000 of 4306 images, seed 0``, or "" for a task of which all questions were asked; ``told``: its metadata."""
    drawn = told.get("subset")
    if not isinstance(drawn, Mapping):
        return ""
    size, units, unit, seed = (drawn.get(name) for name in ("size", "units", "unit", "seed"))
    return make_printable(f"{size} of {units} {unit}s, seed {seed}")


def data_extent(run: ResultFile, tasks: Sequence[str]) -> str:
    """Which data was read and how much of it: ``full``, ``mini, --limit 8``."""
    limited = any(effective < original for _, original, effective in question_counts(run, tasks))
    return ", ".join([*data_kinds(run, tasks), *([limit_text(run) or "only a part"] if limited else [])])


def run_extent(run: ResultFile, tasks: Sequence[str]) -> str:
    """Data as :func:`data_extent` and settings as :func:`changed_run_settings`: ``mini, --limit 8, paper settings``."""
    return ", ".join(filter(None, (data_extent(run, tasks), changed_run_settings(run, tasks))))


def own_results_cell(data: str, *apart: str, mark: str = "") -> Cell:
    """The label of our row among published ones, ``this run (mini, --limit 8)``; ``data``: of :func:`run_extent`."""
    said = [*([] if data == "full" else [data]), *apart]
    return Cell(f"{OWN} ({'; '.join(said)})" if said else OWN, mark=mark)


def run_facts(run: ResultFile, tasks: Sequence[str], *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a run's part; ``more`` are the suite's own."""
    config = run.content.get("config") or {}
    versions = sorted({str(run.content.get("versions", {}).get(task, "?")) for task in tasks})
    return (
        ("Model", model_name(run.content)),
        ("Harness model", make_printable(str(config.get("model", "not recorded")))),
        ("Tasks", ", ".join(tasks)),
        *more,
        ("Data", ", ".join(data_kinds(run, tasks))),
        *([("Settings", said)] if (said := changed_run_settings(run, tasks)) else []),
        ("Task version", ", ".join(versions)),
        ("Run", date_of(run.content) or make_printable(run.path.name)),
    )
