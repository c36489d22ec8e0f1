"""What a reader must know before any number of a MedQ-Deg run: beside what all runs have, its levels, pairs and T."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.medq_deg.analysis import Analysis
from lmms_medtasks.report.medq_deg.reading import LEVELS

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
    run, tasks = analysis.source.run, analysis.source.tasks
    return shared.warnings_first(
        [
            *shared.data(run, tasks),
            *_levels(analysis),
            *shared.extent(run, tasks),
            *_pairs(analysis),
            *shared.code(run, tasks),
            *_answers(analysis),
            *_trials(analysis),
            Flag("note", _FAMILIES[analysis.source.family]),
        ]
    )


def _levels(analysis: Analysis) -> Iterator[Flag]:
    missing = [f"L{level}" for level in LEVELS if level not in analysis.source.levels]
    if missing:
        lacking = " Without L0 there are no drops." if "L0" in missing else ""
        yield Flag("warning", f"Levels missing: {', '.join(missing)}.{lacking} What needs them is left empty.")


def _pairs(analysis: Analysis) -> Iterator[Flag]:
    if {0} < set(analysis.source.levels) and analysis.paired < analysis.degraded_questions:
        alone = analysis.degraded_questions - analysis.paired
        yield Flag(
            "warning",
            f"{alone:,} of {analysis.degraded_questions:,} degraded questions could not be joined to their clean form: "
            "paired drops leave them out.",
        )


def _answers(analysis: Analysis) -> Iterator[Flag]:
    levels = analysis.levels
    failed = sum(level.failed for level in levels.values())
    requests = failed + sum(level.replies for level in levels.values())
    yield from shared.failed_requests(failed, requests, sum(level.accuracy.unscored for level in levels.values()))
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
