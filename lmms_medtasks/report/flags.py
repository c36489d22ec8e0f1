"""What a reader must know before any number of a run: data, limits, levels, changed code, failures, T."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.medq_deg import Analysis
from lmms_medtasks.report.reading import LEVELS, printable

PAPER_TRIALS = 10
_SUSPICIOUS = 0.95

_FAMILIES = {
    "simulated": (
        "Degradations are this package's own, rendered on the fly; the paper's numbers are on its release's images."
    ),
    "release": "The release's own degraded images were used, as in the paper.",
}


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """The flags of a task set, warnings first."""
    found = [*_data(analysis), *_extent(analysis), *_code(analysis), *_answers(analysis), *_trials(analysis)]
    found.append(Flag("note", _FAMILIES[analysis.source.family]))
    return tuple(sorted(found, key=lambda flag: flag.kind != "warning"))


def data_of(analysis: Analysis) -> tuple[str, ...]:
    """The kinds of data ("full", "sample", "mini") that the tasks read, as recorded; ("unknown",) if not recorded."""
    return tuple(dict.fromkeys(printable(str(each.get("data", "unknown"))) for each in _metadata(analysis).values()))


def extent(analysis: Analysis) -> str:
    """Which data was read and how much of it: ``full``, ``mini, --limit 8``."""
    limited = any(effective < original for _, original, effective in _counts(analysis))
    return ", ".join([*data_of(analysis), *([_limit(analysis) or "only a part"] if limited else [])])


def _counts(analysis: Analysis) -> Iterator[tuple[str, int, int]]:
    """Each task's questions in the data and questions asked, where they are recorded."""
    for task in analysis.source.tasks:
        counts = analysis.source.run.content.get("n-samples", {}).get(task) or {}
        if counts.get("original") is not None and counts.get("effective") is not None:
            yield task, counts["original"], counts["effective"]


def _limit(analysis: Analysis) -> str:
    limit = (analysis.source.run.content.get("config") or {}).get("limit")
    if limit is None:
        return ""
    # The harness records --limit 8 as 8.0.
    return f"--limit {limit:g}" if isinstance(limit, float) else f"--limit {limit}"


def _metadata(analysis: Analysis) -> Mapping[str, Mapping[str, Any]]:
    configs = analysis.source.run.content["configs"]
    return {task: configs[task].get("metadata") or {} for task in analysis.source.tasks}


def _data(analysis: Analysis) -> Iterator[Flag]:
    for data in data_of(analysis):
        if data == "unknown":
            yield Flag("warning", "The run does not say which data it read.")
        elif data != "full":
            yield Flag(
                "warning", f"{data.capitalize()} data, not the benchmark: no number here compares with the paper's."
            )


def _extent(analysis: Analysis) -> Iterator[Flag]:
    source = analysis.source
    missing = [f"L{level}" for level in LEVELS if level not in source.levels]
    if missing:
        lacking = " Without L0 there are no drops." if "L0" in missing else ""
        yield Flag("warning", f"Levels missing: {', '.join(missing)}.{lacking} What needs them is left empty.")
    said = f" ({_limit(analysis)})" if _limit(analysis) else ""
    for task, original, effective in _counts(analysis):
        if effective < original:
            yield Flag("warning", f"{task}: only {effective:,} of {original:,} questions were asked{said}.")
        rows = source.run.sample_count(task)
        if rows is not None and rows != effective:
            yield Flag("warning", f"{task}: {rows:,} questions in the log, {effective:,} were asked for.")
    if {0} < set(source.levels) and analysis.paired < analysis.degraded_questions:
        alone = analysis.degraded_questions - analysis.paired
        yield Flag(
            "warning",
            f"{alone:,} of {analysis.degraded_questions:,} degraded questions could not be joined to their clean form: "
            "paired drops leave them out.",
        )


def _code(analysis: Analysis) -> Iterator[Flag]:
    metadata = _metadata(analysis)
    changed = [task for task, each in metadata.items() if each.get("fingerprint_recorded") is False]
    if changed:
        yield Flag(
            "warning",
            f"Prompt, code or degradations of {', '.join(changed)} differ from the released task version (fingerprint "
            "not recorded): numbers need not compare with other runs of it.",
        )
    encodings = {printable(str(each["image_encoding"])) for each in metadata.values() if each.get("image_encoding")}
    for encoding in sorted(encodings):
        yield Flag("warning", f"The model's runner re-encoded the pictures ({encoding}): a degradation of its own.")
    aside = [each["checkpoint_sampling_set_aside"] for each in metadata.values()
             if each.get("checkpoint_sampling_set_aside")]  # fmt: skip
    if aside:
        yield Flag("note", f"Sampling settings of the checkpoint that were set aside: {printable(str(aside[0]))}.")


def _answers(analysis: Analysis) -> Iterator[Flag]:
    levels = analysis.levels
    failed = sum(level.failed for level in levels.values())
    if failed:
        total = failed + sum(level.replies for level in levels.values())
        unscored = sum(level.accuracy.unscored for level in levels.values())
        yield Flag(
            "warning",
            f"{failed:,} of {total:,} requests failed. They are no wrong answers: they are left out, and with them "
            f"{unscored:,} questions that got no reply at all.",
        )
    for number, level in levels.items():
        if level.identical is not None and level.identical >= _SUSPICIOUS:
            yield Flag(
                "warning",
                f"L{number}: all trials gave the same reply on {level.identical:.1%} of the questions. Either the "
                "model has no doubt, or its trials were no independent draws; confidence means nothing then.",
            )
    fewer = sum(level.fewer for level in levels.values())
    if fewer:
        yield Flag("warning", f"{fewer:,} questions have fewer trials than T: C of few votes is higher by chance.")


def _trials(analysis: Analysis) -> Iterator[Flag]:
    trials = analysis.source.trials
    if trials == 1:
        yield Flag("warning", "T = 1: one reply is always unanimous, so there is no confidence to speak of (C is 1).")
    elif trials < PAPER_TRIALS:
        yield Flag(
            "note",
            f"T = {trials}: calibration from so few votes is coarse (C takes few values, and guessing looks confident)"
            f"; the paper uses T = {PAPER_TRIALS} (task medq_deg_calib).",
        )
