"""What a Med-CMR report says of the runs behind a model's numbers, which may be several: one a task."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import asked, judged
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.med_cmr.analysis import Analysis


def facts(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a part; where its runs differ, both are said."""
    source = analysis.source
    judges = dict.fromkeys(each.judging.said for each in source.asked if each.judging)
    return (*asked.facts(source.asked, ", ").items(), *([("Judge", "; ".join(judges))] if judges else []))


def judge_of(analysis: Analysis) -> str:
    """Who judged the open answers to questions with their image, as the facts say it; "" where no judge judged any."""
    found = analysis.open.get(True)
    return found.judging.said if found and (found.judging.deciding or not found.judging.names) else ""


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """What a reader must know before any number, warnings first."""
    return shared.warnings_first(dict.fromkeys(_flags(analysis)))


def _flags(analysis: Analysis) -> Iterator[Flag]:
    source = analysis.source
    yield from asked.flags(source.asked)
    replies = [each.replies for group in (analysis.choice, analysis.circular, analysis.open) for each in group.values()]
    yield from shared.failed_requests(
        sum(each.failed for each in replies),
        sum(each.requests for each in replies),
        sum(each.unscored for each in replies),
    )
    yield from judged.flags({each.name: each.judging for each in source.asked if each.judging})
    have = "multiple-choice" if source.of("mcq") else "open" if source.of("open") else ""
    if not have:
        yield Flag(
            "note", "No question was asked here as the paper asks it, once and with its image: its table is empty."
        )
    elif not (source.of("mcq") and source.of("open")):
        yield Flag("note", f"Only {have} questions were asked here: the other columns of the paper's table stay empty.")
