"""What a Med-CMR report says of the runs behind a model's numbers, which may be several: one a task."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import about, judged
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.med_cmr.analysis import Analysis
from lmms_medtasks.report.med_cmr.reading import Source


def facts(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a part; where its runs differ, both are said."""
    found: dict[str, list[str]] = {}
    judges = dict.fromkeys(each.judging.said for each in analysis.source.asked if each.judging)
    for run, tasks in analysis.source.by_run():
        for name, text in about.facts(run, tasks):
            found.setdefault(name, []).append(text)
    whole = tuple((name, ", ".join(dict.fromkeys(texts))) for name, texts in found.items())
    return (*whole, *([("Judge", "; ".join(judges))] if judges else []))


def judge_of(analysis: Analysis) -> str:
    """Who judged the open answers to questions with their image, as the facts say it; "" without such answers."""
    found = analysis.open.get(True)
    return found.judging.said if found else ""


def extent(source: Source) -> str:
    """``mini, --limit 8``; of several runs, each if they differ."""
    return "; ".join(dict.fromkeys(about.extent(run, tasks) for run, tasks in source.by_run()))


def origin(source: Source) -> tuple[tuple[str, str], ...]:
    """What each row of the CSV files says of its run."""
    tasks = ", ".join(each.task for each in source.asked)
    judges = ", ".join(dict.fromkeys(each.judging.shown for each in source.asked if each.judging))
    own = (("run model", source.model), ("run task set", tasks), ("run data", extent(source)))
    return (*own, ("run judge", judges)) if judges else own


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """What a reader must know before any number, warnings first."""
    return shared.warnings_first(dict.fromkeys(_flags(analysis)))


def _flags(analysis: Analysis) -> Iterator[Flag]:
    source = analysis.source
    for run, tasks in source.by_run():
        yield from shared.data(run, tasks)
        yield from shared.extent(run, tasks)
        yield from shared.code(run, tasks)
    replies = [each.replies for group in (analysis.choice, analysis.circular, analysis.open) for each in group.values()]
    yield from shared.failed_requests(
        sum(each.failed for each in replies),
        sum(each.requests for each in replies),
        sum(each.unscored for each in replies),
    )
    for asked in source.asked:
        if asked.judging:
            yield from judged.flags(asked.judging, asked.task)
    have = "multiple-choice" if source.of("mcq") else "open" if source.of("open") else ""
    if not have:
        yield Flag(
            "note", "No question was asked here as the paper asks it, once and with its image: its table is empty."
        )
    elif not (source.of("mcq") and source.of("open")):
        yield Flag("note", f"Only {have} questions were asked here: the other columns of the paper's table stay empty.")
