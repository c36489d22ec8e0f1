"""The papers' tables as they are printed, without a row of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lmms_medtasks.report.document import Table


def tables(suite: str) -> list[Table]:
    """The published tables of a suite, folded; [] where it has none."""
    found = _SUITES.get(suite)
    return [replace(each, key=f"published-{each.key}", folded=True) for each in (found() if found else [])]


def _medq_deg() -> list[Table]:
    from lmms_medtasks.report.medq_deg import published

    return [published.levels((), ()), published.capabilities((), ()), published.categories((), ())]


def _med_cmr() -> list[Table]:
    from lmms_medtasks.report.med_cmr import published

    return [published.table((), ())]


def _medobvious() -> list[Table]:
    from lmms_medtasks.report.medobvious import published

    return [published.formats((), ()), published.tiers((), ())]


def _sure_vqa() -> list[Table]:
    from lmms_medtasks.report.sure_vqa import published

    return published.paper()


def _bones_joints() -> list[Table]:
    from lmms_medtasks.report.bones_joints import published

    return [published.table({})]


_SUITES: Mapping[str, Callable[[], list[Table]]] = {
    "medq_deg": _medq_deg,
    "med_cmr": _med_cmr,
    "medobvious": _medobvious,
    "sure_vqa": _sure_vqa,
    "bones_joints": _bones_joints,
}
