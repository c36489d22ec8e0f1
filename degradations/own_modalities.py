"""Custom modalities, beside our seven: their spellings, degradations, and settings for our degradations.

A file ``modalities.yml`` beside a task's YAML holds them, or an entry point of an installed package names a
:class:`Modality`. The harness hands a hook nothing but the document, which names its modality. So the modalities of a
folder are given to the process once (:mod:`.modality_files`). They only add names: ours keep their degradations and
numbers, and two different modalities of one name are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
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
    """A custom modality.

    ``called``: other spellings; case, blanks, hyphens and underscores never count. ``degradations``: its degradations,
    by names or references; "general" stands for ours that are for every modality. ``drawn``: those that a question
    draws from; None: all. ``levels``: settings in place of those for "any" modality, by degradation and level:
    ``{"gaussian_noise": {1: {"sigma": 0.05}, 2: {"sigma": 0.1}}}``. ``origin``: its file or package.
    """

    name: str
    _: KW_ONLY
    called: tuple[str, ...] = ()
    degradations: tuple[str, ...] = (GENERAL,)
    drawn: tuple[str, ...] | None = None
    levels: Mapping[str, Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    @property
    def spellings(self) -> frozenset[str]:
        return frozenset(map(fold_spelling, (self.name, *self.called)))


_GIVEN: dict[str, Modality] = {}
"""One a process, see the module. What is in it was checked."""


def fold_spelling(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def list_custom_modalities() -> Mapping[str, Modality]:
    """All custom modalities by name: the given ones, then those of installed packages.

    Raises UserError for an installed object that is not a :class:`Modality`, or has a spelling of another one.
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

    Raises UserError for a file that can't be read, or does not hold modalities.
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
        if given is not None and not (isinstance(given, list) and all(isinstance(text, str) for text in given)):
            raise UserError(f"{where}: {key}: got {given!r}, expected a list of texts.")

    def locate_references(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(extensions.resolve_extension_path(name, path.parent) for name in names)

    drawn = entry.get("drawn")
    levels = entry.get("levels") or {}
    if not isinstance(levels, Mapping):
        raise UserError(f"{where}: levels: got {levels!r}, expected DEGRADATION: {{1: {{...}}, 2: {{...}}}}.")
    return Modality(
        name,
        called=tuple(entry.get("called") or ()),
        degradations=locate_references(entry.get("degradations") or (GENERAL,)),
        drawn=None if drawn is None else locate_references(drawn),
        levels=levels,
        origin=str(path),
    )


def add_modality(modality: Modality) -> None:
    """Add a checked modality to those of the process; the same one again changes nothing.

    Raises UserError for another modality of that name.
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
