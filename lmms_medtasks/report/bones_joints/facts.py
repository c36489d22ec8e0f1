"""What a Bones and Joints report says of the runs behind a model's numbers, which may be several."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import about, judged
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.bones_joints.analysis import Analysis
from lmms_medtasks.report.bones_joints.reading import Source
from lmms_medtasks.report.document import Flag
from lmms_medtasks.sources.bones_joints_forms import forms


def facts(source: Source) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a part; where its runs differ, both are said."""
    found: dict[str, list[str]] = {}
    for run, tasks in source.by_run():
        for name, text in about.facts(run, tasks):
            found.setdefault(name, []).append(text)
    found["Tasks"] = [each.label for each in source.asked]
    judgings = [each.judging for each in source.asked if each.judging]
    judges = dict.fromkeys(name for each in judgings for name in each.names or ("none",))
    whole = tuple((name, "; ".join(dict.fromkeys(texts))) for name, texts in found.items())
    return (*whole, *([("Judge", ", ".join(judges))] if judges else []))


def extent(source: Source) -> str:
    """``mini, --limit 8``; of several runs, each if they differ."""
    return "; ".join(dict.fromkeys(about.extent(run, tasks) for run, tasks in source.by_run()))


def origin(source: Source) -> tuple[tuple[str, str], ...]:
    """What each row of the CSV files says of its run."""
    tasks = ", ".join(each.name for each in source.asked)
    return (("run model", source.model), ("run task set", tasks), ("run data", extent(source)))


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """What a reader must know before any number, warnings first."""
    return shared.warnings_first(dict.fromkeys(_flags(analysis)))


def _flags(analysis: Analysis) -> Iterator[Flag]:
    source = analysis.source
    for run, tasks in source.by_run():
        yield from shared.data(run, tasks)
        yield from shared.extent(run, tasks)
        yield from shared.code(run, tasks)
    records = [record for each in source.asked for record in each.records]
    replied = [record["failed"] < len(record["trials"]) for record in records]
    yield from shared.failed_requests(
        sum(record["failed"] for record in records),
        sum(len(record["trials"]) for record in records),
        replied.count(False),
    )
    for asked in source.asked:
        if asked.judging:
            yield from judged.flags(asked.judging, asked.name)
    missing = [task.numeral for task in forms().values() if not source.of(task.key, "text", "images", "reports")]
    if missing:
        yield Flag("note", f"Not asked here: Task {', '.join(missing)}.")
    for said, found in analysis.shortcuts.items():
        if found.rate.estimate == 1.0 and found.n > 1:
            yield Flag(
                "warning",
                f"With the images of Task III {said} all {found.n} answers stayed the same: the model does not look.",
            )
