"""The degradation of each question, checked before a model is asked: a run would end at the first that can't be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_yaml.settings import DRAWN

if TYPE_CHECKING:
    from datasets import Dataset

_COLUMNS = ("degradation", "severity", "modality")


def check(documents: Dataset, settings: Mapping[str, Any]) -> None:
    """Raise UserError for the first document whose degradation, level or modality there is not, or not together.

    A column counts where the settings don't say the same for all. Each combination is looked at once.
    """
    if settings.get("rendered") or settings.get("no_image"):
        return
    columns = {
        name: documents[name][:]
        for name in _COLUMNS
        if name in documents.column_names and (name == "modality" or settings.get(name, DRAWN) == DRAWN)
    }
    if not columns:
        return
    fixed = {name: settings.get(name) for name in _COLUMNS}
    seen = set()
    for row in range(len(documents)):
        values = {**fixed, **{name: column[row] for name, column in columns.items()}}
        if settings.get("modality"):
            values["modality"] = settings["modality"]
        key = tuple(values[name] for name in _COLUMNS)
        if key in seen:
            continue
        seen.add(key)
        try:
            _check(values)
        except UserError as error:
            said = str(error).partition(" To apply")[0]  # by force: not from a table
            raise UserError(f"Row {row + 1} (id {documents['id'][row]!r}): {said}") from error


def _check(values: Mapping[str, Any]) -> None:
    from lmms_medtasks import degradations

    name, severity, modality = (values[key] or None for key in _COLUMNS)
    if modality:
        degradations.canonical_modality(modality)
    if degradations.check_severity(severity or 0) == 0 or not name:
        return
    degradations.canonical_name(name)
    if modality:
        degradations.check_modality(name, modality)
    elif degradations.depends_on_modality(name):
        raise UserError(
            f"degradation {name}: of what modality is the picture? Its column `modality` is empty. Allowed: "
            f"{', '.join(degradations.modalities_of(name))}."
        )
