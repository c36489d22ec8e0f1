"""The option that says how sure intervals and tests are, for commands that make them."""

from __future__ import annotations

from typing import Annotated

import typer

from lmms_medtasks.statistics import confidence


def _use(context: typer.Context, level: float) -> float:
    context.with_resource(confidence.at(level))
    return level


Confidence = Annotated[
    float,
    typer.Option(
        "--confidence",
        metavar="SHARE",
        callback=_use,
        help="The probability with which an interval holds the true number; 1 less it is the level of the tests.",
    ),
]
"""Holds for as long as the command runs, see :func:`lmms_medtasks.statistics.confidence.at`."""
