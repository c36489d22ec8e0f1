"""Which degradation each question of a contributed task gets: checked before a model is loaded, or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import extensions
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from datasets import Dataset


def check(documents: Dataset, settings: Mapping[str, Any], folder: Path | None) -> None:
    """Raise UserError, with the row, for what can't be degraded as settings and columns say.

    That is half of a degradation (pictures would stay as they are, and nobody would notice), one that there is none of,
    a modality that there is none of or that it is not for, and one that depends on the modality where nothing tells it.
    """
    columns = documents.column_names
    has = {name: name in settings or name in columns for name in ("degradation", "severity")}
    if "degradation" in settings and not has["severity"]:
        raise UserError(f"degradation: {settings['degradation']}: at which severity? 1 is mild, 2 is severe.")
    if settings.get("severity") and not has["degradation"]:
        raise UserError(
            f"severity: {settings['severity']}: of what? Neither the setting `degradation` nor a column tells."
        )
    if settings.get("rendered") or settings.get("no_image"):
        return
    told = bool(settings.get("modality")) or "modality" in columns
    seen: set[tuple[str, Any, str]] = set()
    for where, name, level, modality in _rows(documents, settings):
        if (name, level, modality) not in seen:
            seen.add((name, level, modality))
            _check_one(where, name, level, modality, told, folder)


def _rows(documents: Dataset, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, str]]:
    """Of each row where it stands, the degradation of its pictures ("" where that is drawn), level and modality."""
    rows = range(len(documents))
    cells = {
        name: [settings[name]] * len(documents)
        if name in settings
        else documents[name]
        if name in documents.column_names
        else [1 if name == "severity" else ""] * len(documents)
        for name in ("degradation", "severity", "modality")
    }
    ids = documents["id"] if "id" in documents.column_names else rows
    of_row = any(name not in settings for name in cells)
    for row in rows:
        name, level, modality = (cells[key][row] for key in ("degradation", "severity", "modality"))
        where = f"row {row + 1} (id {ids[row]!r}): " if of_row else ""
        yield where, "" if name == templates.DRAWN else str(name or ""), level or 0, str(modality or "")


def _check_one(where: str, name: str, level: Any, modality: str, told: bool, folder: Path | None) -> None:
    from lmms_medtasks import degradations

    try:
        if modality:
            degradations.canonical_modality(modality)
        if degradations.check_severity(level) == 0 or not name:
            return
        located = extensions.located(name, folder)
        degradations.canonical_name(located)
        degradations.check_modality(located, modality or None)
        depends = not modality and degradations.depends_on_modality(located)
    except UserError as error:
        raise UserError(f"degradation{', ' if where else ': '}{where}{str(error).partition(' To apply')[0]}") from error
    if depends:
        lacking = (
            "its column `modality` is empty"
            if told
            else ("neither the setting `modality` nor a column `modality` tells")
        )
        raise UserError(
            f"degradation{', ' if where else ': '}{where}{name}: of what modality are the images? Its numbers, or "
            f"whether it may be used, depend on it, and {lacking}. Allowed: "
            f"{', '.join(degradations.modalities_of(located))}."
        )


def with_draws(documents: Dataset, settings: Mapping[str, Any], folder: Path | None) -> Dataset:
    """The documents with one degradation of their modality each, drawn by question; the level is the settings'.

    One of someone's own is written as the YAML of ``folder`` would name it.
    """
    from lmms_medtasks import degradations

    fixed = settings.get("modality")
    if not fixed and "modality" not in documents.column_names:
        raise UserError(
            f"degradation: {templates.DRAWN} draws by modality, which neither a column `modality` nor a setting tells."
        )
    modalities = [fixed] * len(documents) if fixed else documents["modality"]
    drawn = []
    for row, (modality, question) in enumerate(zip(modalities, documents["id"], strict=True)):
        try:
            chosen = degradations.draw_for_question(modality, question, count=1, seed=settings.get("seed", 0))[0]
        except UserError as error:
            where = "modality" if fixed else f"Column 'modality', row {row + 1} (id {question!r})"
            raise UserError(f"{where}: {error}") from error
        drawn.append(extensions.portable(chosen, folder))
    bare = documents.remove_columns([name for name in ("degradation",) if name in documents.column_names])
    return bare.add_column("degradation", drawn)
