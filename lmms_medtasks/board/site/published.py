"""The papers' tables as they are printed, without a row of ours."""

from __future__ import annotations

from dataclasses import replace

from lmms_medtasks.report.document import Table
from lmms_medtasks.report.reported_suites import printed_tables
from lmms_medtasks.suites import registry


def tables(suite: str) -> list[Table]:
    """The published tables of a suite, folded; [] where it has none."""
    found = printed_tables(suite) if suite in registry.names() else []
    return [replace(each, key=f"published-{each.key}", folded=True) for each in found]
