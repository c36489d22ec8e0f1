"""Modalities of someone's own, beside our seven: their spellings, degradations, and numbers of our degradations.

A file ``modalities.yml`` beside a task's YAML holds them, or an entry point of an installed package names a
:class:`Modality`. A modality is a name in data (a column's value, ``--modality``), and the harness hands a hook nothing
but the document. So what a folder brings is given to the process once (:mod:`.modality_files`), as the folders of
benchmarks are. It only ever adds a name: ours keep theirs, their degradations and numbers, and two modalities of one
name that are not the same are refused. What was given before changes no number of a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmms_medtasks import extensions, folders
from lmms_medtasks.errors import UserError, unknown_name_error

FILE = "modalities.yml"
GENERAL = "general"
"""In the list of a modality's degradations: ours that are for every modality."""

_KEYS = ("called", "degradations", "drawn", "levels")


@dataclass(frozen=True)
class Modality:
    """A modality of someone's own.

    ``called``: other spellings; case, blanks, hyphens and underscores never count. ``degradations``: which are for it,
    by names or references; "general" stands for ours that are for every modality. ``drawn``: those of them that a
    question draws from; None: all. ``levels``: settings in place of those for "any" modality, by degradation and level:
    ``{"gaussian_noise": {1: {"sigma": 0.05}, 2: {"sigma": 0.1}}}``. ``origin``: the file or package that it is of.
    """

    name: str
    called: tuple[str, ...] = ()
    degradations: tuple[str, ...] = (GENERAL,)
    drawn: tuple[str, ...] | None = None
    levels: Mapping[str, Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    @property
    def spellings(self) -> frozenset[str]:
        """Its name and :attr:`called`, as :func:`fold_spelling` has them."""
        return frozenset(map(fold_spelling, (self.name, *self.called)))


_GIVEN: dict[str, Modality] = {}
"""One a process, see the module. What is in it was checked."""


def fold_spelling(text: str) -> str:
    """A spelling without case and signs."""
    return "".join(character for character in text.casefold() if character.isalnum())


def list_custom_modalities() -> Mapping[str, Modality]:
    """All custom modalities by name: the given ones, then those of installed packages.

    Raises:
        UserError: An installed package's is no :class:`Modality`, or is called as another one is.
    """
    modalities = dict(_GIVEN)
    for name in extensions.installed_extensions("modality"):
        part = extensions.load_extension("modality", name)
        modality = part.value
        if not isinstance(modality, Modality) or modality.name != name:
            got = f"one called {modality.name!r}" if isinstance(modality, Modality) else f"a {type(modality).__name__}"
            raise UserError(f"{part.origin}: the modality {name!r} ({part.reference}) is {got}, expected "
                            f"Modality(name={name!r}, ...) of lmms_medtasks.degradations.")  # fmt: skip
        if modality.origin != part.origin:
            modality = replace(modality, origin=part.origin)
        _check_spellings(modality, modalities)
        modalities[name] = modality
    return modalities


def read_modalities(path: Path) -> list[Modality]:
    """The modalities of a file; references to Python files in it have its folder before them.

    Raises:
        UserError: It can't be read, or says something else than modalities.
    """
    content = folders.load_yaml(path)
    if not isinstance(content, Mapping) or not content:
        raise UserError(f"{path} holds no modalities: expected NAME: {{called: [...], degradations: [...], ...}}.")
    return [_read_modality(str(name), entry or {}, path) for name, entry in content.items()]


def _read_modality(name: str, entry: Any, path: Path) -> Modality:
    where = f"{path}, {name}"
    if not isinstance(entry, Mapping):
        raise UserError(f"{where}: got {entry!r}, expected a mapping with the keys {', '.join(_KEYS)}.")
    for key in entry:
        if key not in _KEYS:
            raise unknown_name_error("key", key, _KEYS, where)
    for key in ("called", "degradations", "drawn"):
        given = entry.get(key)
        if given is not None and not (isinstance(given, list) and all(isinstance(each, str) for each in given)):
            raise UserError(f"{where}: {key}: got {given!r}, expected a list of texts.")

    def locate_references(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(extensions.resolve_extension_path(each, path.parent) for each in names)

    drawn = entry.get("drawn")
    levels = entry.get("levels") or {}
    if not isinstance(levels, Mapping):
        raise UserError(f"{where}: levels: got {levels!r}, expected DEGRADATION: {{1: {{...}}, 2: {{...}}}}.")
    return Modality(
        name,
        tuple(entry.get("called") or ()),
        locate_references(entry.get("degradations") or (GENERAL,)),
        None if drawn is None else locate_references(drawn),
        levels,
        str(path),
    )


def add_modality(modality: Modality) -> None:
    """Add a checked modality to those of the process; the same one again changes nothing.

    Raises:
        UserError: Another one is called so.
    """
    earlier = _GIVEN.get(modality.name)
    if earlier == modality:
        return
    _check_spellings(modality, list_custom_modalities())
    _GIVEN[modality.name] = modality


def _check_spellings(modality: Modality, others: Mapping[str, Modality]) -> None:
    for other in others.values():
        if modality.spellings & other.spellings and modality != other:
            raise UserError(
                f"{modality.origin} and {other.origin} both have a modality {modality.name!r}, and they are not the "
                "same. Call one of them otherwise, or run their tasks one after the other."
            )


def list_given_modalities() -> tuple[Modality, ...]:
    """The modalities that were given to this process, for another one."""
    return tuple(_GIVEN.values())
