"""What a Bones and Joints report says of the runs behind a model's numbers, which may be several."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import asked, judged
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.bones_joints.analysis import Analysis
from lmms_medtasks.report.bones_joints.reading import Source
from lmms_medtasks.report.document import Flag
from lmms_medtasks.task_configs.bones_joints.forms import forms


def facts(source: Source) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a part; where its runs differ, both are said."""
    found = asked.facts(source.asked, "; ")
    found["Tasks"] = "; ".join(each.label for each in source.asked)
    judgings = [each.judging for each in source.asked if each.judging]
    judges = dict.fromkeys(name for each in judgings for name in each.names or ("none",))
    return (*found.items(), *([("Judge", ", ".join(judges))] if judges else []))


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """What a reader must know before any number, warnings first."""
    return shared.warnings_first(dict.fromkeys(_flags(analysis)))


def _flags(analysis: Analysis) -> Iterator[Flag]:
    source = analysis.source
    yield from asked.flags(source.asked)
    records = [record for each in source.asked for record in each.records]
    replied = [record["failed"] < len(record["trials"]) for record in records]
    yield from shared.failed_requests(
        sum(record["failed"] for record in records),
        sum(len(record["trials"]) for record in records),
        replied.count(False),
    )
    yield from judged.flags({each.name: each.judging for each in source.asked if each.judging})
    missing = [task.numeral for task in forms().values() if not source.of(task.key, "text", "images", "reports")]
    if missing:
        yield Flag("note", f"Not asked here: Task {', '.join(missing)}.")
    for said, found in analysis.shortcuts.items():
        if found.rate.estimate == 1.0 and found.n > 1:
            yield Flag(
                "warning",
                f"With the images of Task III {said} all {found.n} answers stayed the same: the model does not look.",
            )
