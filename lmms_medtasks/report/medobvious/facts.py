"""What a MedObvious report says of the run behind its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import about
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.medobvious.reading import AS_RELEASED, NEUTRAL, Source
from lmms_medtasks.statistics import triage

_ALWAYS = 0.97
_FEW = 20


def facts(source: Source) -> tuple[tuple[str, str], ...]:
    """The facts at the head of a part."""
    items = len({record["item"] for record in source.records})
    asked = f"{len(source.records):,} about {items:,} items"
    return about.facts(source.run, source.tasks, ("Asked", source.variant or "as released"), ("Questions", asked))


def extent(source: Source) -> str:
    """``mini, --limit 8``, and the way of asking if it is not the release's."""
    said = about.extent(source.run, source.tasks)
    return f"{said}; {source.variant}" if source.variant else said


def origin(source: Source) -> tuple[tuple[str, str], ...]:
    """What each row of the CSV files says of its run."""
    return about.origin(source.run, source.tasks, ", ".join(source.tasks))


def flags(source: Source) -> tuple[Flag, ...]:
    """What a reader must know before any number, warnings first."""
    return shared.warnings_first(_flags(source))


def _flags(source: Source) -> Iterator[Flag]:
    records = source.records
    yield from shared.data(source.run, source.tasks)
    yield from shared.extent(source.run, source.tasks)
    yield from shared.code(source.run, source.tasks)
    unscored = sum("score" not in record for record in records)
    yield from shared.failed_requests(
        sum(record["failed"] for record in records), sum(len(record["trials"]) for record in records), unscored
    )
    if source.repeated:
        yield Flag("note", f"{source.repeated:,} questions were asked by several tasks: the first one's replies count.")
    if source.variant == AS_RELEASED and "mini" not in about.data_of(source.run, source.tasks):
        yield Flag(
            "note",
            "In the release the words of a question tell whether there is an outlier. Run medobvious_noimage and "
            f"medobvious_neutral ({NEUTRAL}) beside it to see how much of these numbers they explain.",
        )
    yield from _one_answer(source)


def _one_answer(source: Source) -> Iterator[Flag]:
    """A model that says the same of nearly everything: its good sign is no merit."""
    read = [record["trials"][0] for record in source.records]
    known = [trial for trial in read if trial not in (triage.FAILED, *triage.UNREAD)]
    if len(known) < _FEW:
        return
    claims = sum(map(triage.claims_outlier, known)) / len(known)
    if claims >= _ALWAYS:
        yield Flag("warning", f"{claims:.0%} of the answers that were read claim an outlier: it finds one everywhere.")
    if claims <= 1 - _ALWAYS:
        yield Flag("warning", f"{1 - claims:.0%} of the answers that were read claim none: it finds one nowhere.")
