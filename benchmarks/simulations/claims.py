"""One row of the table of claims against measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """What is claimed in one setting, and what a simulation measured.

    Attributes:
        about: the number or the test, such as "interval of a mean" or "gate".
        setting: the data that were made up: images, questions an image, trials, the true value.
        claimed: in words and numbers, such as "covers 95 %" or "false alarms at most 5 %".
        measured: the same figure as it was counted, such as "94.1 %".
        repeats: data sets that it was counted over.
    """

    about: str
    setting: str
    claimed: str
    measured: str
    repeats: int


def as_markdown(claims: Sequence[Claim]) -> str:
    """A table of claims."""
    lines = ["| about | setting | claimed | measured | data sets |", "|---|---|---|---|---|"]
    lines += [
        f"| {each.about} | {each.setting} | {each.claimed} | {each.measured} | {each.repeats} |" for each in claims
    ]
    return "\n".join(lines) + "\n"
