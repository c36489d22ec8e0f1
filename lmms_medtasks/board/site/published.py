"""The papers' tables as they are printed, without a row of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lmms_medtasks.report.document import Table
from lmms_medtasks.report.suite_report import printed_tables
from lmms_medtasks.suites import registry


def tables(suite: str) -> list[Table]:
    """The published tables of a suite, folded; [] where it has none."""
    if suite in registry.names():
        return [replace(each, key=f"published-{each.key}", folded=True) for each in printed_tables(suite)]
    found = _SUITES.get(suite)
    return [replace(each, key=f"published-{each.key}", folded=True) for each in (found() if found else [])]


def _med_cmr() -> list[Table]:
    from lmms_medtasks.report.med_cmr import published

    return [published.table((), ())]


def _sure_vqa() -> list[Table]:
    from lmms_medtasks.report.sure_vqa import published

    return published.paper()


def _bones_joints() -> list[Table]:
    from lmms_medtasks.report.bones_joints import published

    return [published.table({})]


_SUITES: Mapping[str, Callable[[], list[Table]]] = {
    "med_cmr": _med_cmr,
    "sure_vqa": _sure_vqa,
    "bones_joints": _bones_joints,
}
