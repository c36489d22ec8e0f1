"""The published rows that stand below a task's table, in its columns, and the papers' tables without a row of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lmms_medtasks.board import installed
from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.published import PublishedScores, scores
from lmms_medtasks.report.reported_suites import printed_tables
from lmms_medtasks.suites import registry


def published(task: str, told: Mapping[str, str]) -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task whose folder is neither installed nor given: who knows what it is. ``told``: an entry's settings.
    """
    suite = installed.declaration(task, told)
    return [] if suite is None else list(scores(suite, task))


def tables(suite: str) -> list[Frame]:
    """The published tables of a suite, folded; [] where it has none."""
    found = printed_tables(suite) if suite in registry.names() else []
    return [replace(each, key=f"published-{each.key}", folded=True) for each in found]
