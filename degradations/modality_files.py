"""Files of custom modalities: checked, and made known to this process."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import extensions
from lmms_medtasks.degradations import own_modalities, registry
from lmms_medtasks.degradations.base import is_custom_degradation
from lmms_medtasks.degradations.own_modalities import GENERAL, Modality
from lmms_medtasks.errors import UserError, unknown_name_error


def load_modality_files(paths: Iterable[Path], execute: bool = True) -> None:
    """Make modalities known to this process: those of a file, or of every modalities.yml at or below a folder.

    ``execute``: import the degradations that they name by a reference, too, to see that they are there.

    Raises UserError for a missing or wrong file, or a modality with a spelling of another one.
    """
    for path in paths:
        if not path.exists():
            raise UserError(f"There is no file {path} with modalities.")
        for file in sorted(path.rglob(own_modalities.FILE)) if path.is_dir() else [path]:
            for modality in own_modalities.read_modalities(file.resolve()):
                _check_own(modality, execute)
                own_modalities.add_modality(modality)


def parse_modality_option(text: str | None) -> str | None:
    """The modality that a command line names; "modalities.yml:OCT" loads that file and gives "OCT".

    Any other text, and None, is returned unchanged. Raises UserError as :func:`load_modality_files` does, and for
    what is no text.
    """
    if not isinstance(text, str | None):
        raise UserError(f"A modality is named by a text, such as 'CT', got {text!r:.80} ({type(text).__name__}).")
    file, _, name = (text or "").rpartition(":")
    if not file.endswith((".yml", ".yaml")):
        return text
    load_modality_files([Path(file)])
    return name


def load_run_modalities(folders: Iterable[Path]) -> None:
    """What a process of a run starts with: the modalities below ``folders``, and in files of the variable
    :data:`lmms_medtasks.extensions.MODALITIES`.

    Raises UserError as :func:`load_modality_files` does.
    """
    load_modality_files([folder for folder in folders if folder.is_dir()])
    load_modality_files(Path(path) for path in os.environ.get(extensions.MODALITIES, "").split(os.pathsep) if path)


def modality_variables() -> dict[str, str]:
    """The environment variable with which another process knows the same modalities; {} if there are none."""
    files = sorted({modality.origin for modality in own_modalities.list_given_modalities()})
    return {extensions.MODALITIES: os.pathsep.join(files)} if files else {}


def _check_own(modality: Modality, execute: bool) -> None:
    """Raise UserError for a custom modality whose spellings, degradations or levels are wrong."""
    where = f"{modality.origin}, {modality.name}"
    ours = registry.modality_spellings()
    if taken := sorted(modality.spellings & ours.keys()):
        raise UserError(f"{where}: a spelling of it is one of our modality {ours[taken[0]]!r}. It needs another one.")
    allowed = registry.expand_general(modality.degradations)
    for name in (*allowed, *(modality.drawn or ()), *modality.levels):
        if extensions.is_reference(name) and not execute:
            continue
        try:
            registry.canonical_name(name)
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
    for name in modality.drawn or ():
        if name not in allowed and name != GENERAL:
            raise UserError(f"{where}: drawn has {name!r}, which is not among its degradations: {', '.join(allowed)}.")
    for name, rows in modality.levels.items():
        _check_rows(name, rows, f"{where}, levels, {name}")


def _check_rows(name: str, rows: Any, where: str) -> None:
    if is_custom_degradation(name):
        raise UserError(f"{where}: a degradation of your own has its numbers in its own `levels`.")
    if (
        not isinstance(rows, Mapping)
        or set(rows) != {1, 2}
        or not all(isinstance(row, Mapping) for row in rows.values())
    ):
        raise UserError(f"{where}: got {rows!r}, expected {{1: {{...}}, 2: {{...}}}}.")
    for level in (1, 2):
        known = registry.get_settings(name, level)
        for key, value in rows[level].items():
            if key not in known:
                raise unknown_name_error("setting", key, known, f"{where}, level {level}")
            if not _is_like(value, known[key]):
                raise UserError(
                    f"{where}, level {level}, {key}: got {value!r}, expected a value such as {known[key]!r}."
                )
            ours = [registry.get_settings(name, either)[key] for either in (1, 2)]
            if expected := _out_of_bounds(value, ours):
                raise UserError(
                    f"{where}, level {level}, {key}: got {value!r}, expected {expected}, such as {known[key]!r}."
                )


def _out_of_bounds(value: Any, ours: Sequence[Any]) -> str:
    """What a setting violates: it must be finite, not below 0 unless one of ours is, and a range must rise."""
    numbers, known = _list_numbers(value), [number for setting in ours for number in _list_numbers(setting)]
    if not all(map(math.isfinite, numbers)):
        return "a finite number"
    if numbers and min(known, default=-1) >= 0 and min(numbers) < 0:
        return "0 or more"
    rising = all(isinstance(setting, list) and setting == sorted(setting) for setting in ours)
    return "numbers from the lower to the higher" if rising and numbers != sorted(numbers) else ""


def _list_numbers(value: Any) -> list[float]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, int | float)]


def _is_like(value: Any, known: Any) -> bool:
    if isinstance(known, list):
        return isinstance(value, list) and len(value) == len(known) and all(map(_is_like, value, known))
    if isinstance(known, bool | str):
        return type(value) is type(known)
    return isinstance(value, int | float) and not isinstance(value, bool)
