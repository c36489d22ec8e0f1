"""Which degradations exist, where their code and their numbers are, and which of them is for which modality.

Everything here is read from modalities.yaml and severity.yaml when it is first asked for; a family of degradations is
imported only when one of its names is used.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import numpy as np
import yaml

from lmms_medtasks import fingerprints
from lmms_medtasks.degradations.base import Degradation
from lmms_medtasks.degradations.strength import anchors, check_strength
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.fingerprints import SourceTrees
from lmms_medtasks.seeding import generator

PACKAGE = "lmms_medtasks.degradations"

MODULES: Mapping[str, str] = {
    "limited_angle": f"{PACKAGE}.ct",
    "sparse_view": f"{PACKAGE}.ct",
    "low_dose": f"{PACKAGE}.ct",
    "bias_field_artifact": f"{PACKAGE}.mri",
    "undersampling_artifact": f"{PACKAGE}.mri",
    "ghosting_artifact": f"{PACKAGE}.mri",
    "object_movement@MRI": f"{PACKAGE}.mri",
    "blood_cell_artifact": f"{PACKAGE}.histopathology",
    "dark_spots_artifact": f"{PACKAGE}.histopathology",
    "bubble": f"{PACKAGE}.histopathology",
    "object_rotation": f"{PACKAGE}.motion",
    "object_movement": f"{PACKAGE}.motion",
    "adjust_brightness": f"{PACKAGE}.intensity",
    "exposure": f"{PACKAGE}.intensity",
    "reduce_contrast": f"{PACKAGE}.intensity",
    "gaussian_noise": f"{PACKAGE}.noise",
    "low_resolution": f"{PACKAGE}.resolution",
    "motion_blur": f"{PACKAGE}.blur",
    "gaussian_blur": f"{PACKAGE}.blur",
}
"""Section of severity.yaml -> module with its code. ``name@Modality``: an operator of that modality alone."""


@functools.cache
def _read(file_name: str) -> dict[str, Any]:
    text = resources.files(PACKAGE).joinpath(file_name).read_text(encoding="utf-8")
    return yaml.safe_load(text)


def severity_version() -> int:
    """The version of severity.yaml, part of every seed."""
    return int(_read("severity.yaml")["version"])


def names() -> tuple[str, ...]:
    """The eighteen names, in the order of the paper's Table 5."""
    return tuple(_read("modalities.yaml")["degradations"])


def modalities() -> tuple[str, ...]:
    """The seven modalities as they are written everywhere."""
    return tuple(_read("modalities.yaml")["modalities"])


@functools.cache
def _names_called() -> dict[str, str]:
    rows = _read("modalities.yaml")["degradations"]
    table = {name: name for name in rows}
    table.update({other: name for name, row in rows.items() for other in row.get("called", ())})
    return table


@functools.cache
def _modalities_called() -> dict[str, str]:
    rows = _read("modalities.yaml")["modalities"]
    table = {_folded(name): name for name in rows}
    table.update({_folded(other): name for name, row in rows.items() for other in row["called"]})
    return table


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def canonical_name(name: str) -> str:
    """The paper's name for ``name``, which may also be the one that the authors' site uses.

    Raises:
        UserError: No degradation has that name; the nearest one is in the message.

    >>> canonical_name("downsample_artifact")
    'low_resolution'
    """
    found = _names_called().get(name) if isinstance(name, str) else None
    if found is None:
        raise unknown("degradation", name, names())
    return found


def canonical_modality(modality: str) -> str:
    """One of the seven modality names for ``modality``, in any case and spelling that modalities.yaml lists.

    Raises:
        UserError: No modality is called that; the nearest one is in the message.

    >>> canonical_modality("x_ray"), canonical_modality("pathology")
    ('X-ray', 'Histopathology')
    """
    found = _modalities_called().get(_folded(modality)) if isinstance(modality, str) else None
    if found is None:
        raise unknown("modality", modality, modalities())
    return found


def category(name: str) -> str:
    """``artifacts``, ``motion``, ``intensity``, ``noise`` or ``resolution_blur`` (paper, Table 5)."""
    return str(_read("modalities.yaml")["degradations"][canonical_name(name)]["category"])


def modalities_of(name: str) -> tuple[str, ...]:
    """The modalities that ``name`` may be applied to without force (paper, Table 5)."""
    allowed = _read("modalities.yaml")["degradations"][canonical_name(name)]["modalities"]
    return modalities() if allowed == "all" else tuple(allowed)


def depends_on_modality(name: str) -> bool:
    """Whether a degradation is for some modalities only, or has other numbers or another operator for some."""
    known = modalities_of(name)
    made = {(_section(canonical_name(name), each), repr(settings(name, 1, each))) for each in known}
    return set(known) != set(modalities()) or len(made) > 1


def source(name: str, modality: str | None = None) -> str:
    """Where the operator and its numbers come from, as severity.yaml tells it."""
    return " ".join(str(_read("severity.yaml")[_section(canonical_name(name), modality)]["source"]).split())


def for_modality(modality: str) -> tuple[str, ...]:
    """The degradations that may be applied to ``modality`` without force (paper, Table 5)."""
    canonical = canonical_modality(modality)
    return tuple(name for name in names() if canonical in modalities_of(name))


def drawn_for(modality: str) -> tuple[str, ...]:
    """The degradations that a question of ``modality`` draws from (what the authors' images show)."""
    canonical = canonical_modality(modality)
    rows = _read("modalities.yaml")["degradations"]
    return tuple(name for name in names() if canonical in rows[name]["drawn_for"])


def draw_for_question(
    modality: str, question_id: str | int, count: int = 3, seed: int | str = 0, among: Iterable[str] | None = None
) -> tuple[str, ...]:
    """The ``count`` degradations of a question, drawn without replacement with equal odds (paper, 3.3).

    The draw depends on ``question_id`` and ``seed`` alone. ``among`` narrows the names to draw from. A modality with
    fewer names than ``count`` gets all of them. The names come in the order of Table 5.

    Raises:
        UserError: An unknown modality or name, a ``count`` below 1, or a seed that is none.
    """
    seed = check_seed(seed)
    if count < 1:
        raise UserError(f"A question needs at least one degradation, not {count!r}.")
    kept = None if among is None else {canonical_name(name) for name in among}
    pool = [name for name in drawn_for(modality) if kept is None or name in kept]
    if len(pool) <= count:
        return tuple(pool)
    # The pool's names are not part of the seed: each gets a lot of its own, so narrowing the pool removes names
    # without reshuffling the others.
    lots = {name: generator("draw", name, question_id, seed).random() for name in pool}
    chosen = set(sorted(pool, key=lambda name: (lots[name], name))[:count])
    return tuple(name for name in pool if name in chosen)


def _section(name: str, modality: str | None) -> str:
    own = f"{name}@{canonical_modality(modality)}" if modality is not None else name
    return own if own in MODULES else name


@functools.cache
def _load(section: str) -> Degradation:
    module = importlib.import_module(MODULES[section])
    name = section.split("@")[0]
    found = {degradation.name: degradation for degradation in module.DEGRADATIONS}
    if name not in found:
        raise ImportError(f"{MODULES[section]}.DEGRADATIONS has no {name!r}, only {sorted(found)}")
    return found[name]


def get(name: str, modality: str | None = None) -> Degradation:
    """The degradation called ``name``; its family is imported now if it was not yet.

    Raises:
        UserError: An unknown name or modality.
    """
    return _load(_section(canonical_name(name), modality))


def check_severity(severity: object) -> int:
    """``severity`` if it is the integer 0, 1 or 2.

    Raises:
        UserError: Anything else, ``True`` and ``1.0`` included.
    """
    if not _is_integer(severity):
        raise UserError(f"Severity must be the integer 0, 1 or 2, got {severity!r} ({type(severity).__name__}).")
    level = int(severity)  # type: ignore[call-overload]
    if level not in (0, 1, 2):
        raise UserError(
            f"Severity must be 0 (untouched), 1 (mild) or 2 (severe), got {severity!r}. For what is between or beyond "
            "them: strength, a number from 0 to 3."
        )
    return level


def check_level(severity: object, strength: object) -> float:
    """The one of the two that is not None, checked, as a float: severity 1 is strength 1.0.

    Raises:
        UserError: Neither or both are given, or one of them is wrong.
    """
    if (severity is None) == (strength is None):
        got = "neither" if severity is None else f"severity={severity!r} and strength={strength!r}"
        raise UserError(f"Give either severity (0, 1 or 2) or strength (a number from 0 to 3), got {got}.")
    return float(check_severity(severity)) if strength is None else check_strength(strength)


def check_seed(seed: object) -> int | str:
    """``seed`` if it is a whole number of any sign, or a text; NumPy's integers as Python's.

    Raises:
        UserError: Anything else: ``None``, ``1.5`` and ``True`` would hide that the draw is another one than meant.
    """
    if isinstance(seed, str):
        return str(seed)
    if not _is_integer(seed):
        raise UserError(
            f"A seed must be a whole number or a text, got {seed!r} ({type(seed).__name__}). The same seed gives the "
            "same draw; leave it out for seed 0."
        )
    return int(seed)  # type: ignore[call-overload]


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_modality(name: str, modality: str | None, force: bool = False) -> str | None:
    """``modality`` by its canonical name, if ``name`` is for it or ``force`` is set.

    Raises:
        UserError: An unknown modality, or one that the degradation is not for.
    """
    if modality is None:
        return None
    canonical = canonical_modality(modality)
    allowed = modalities_of(name)
    if not force and canonical not in allowed:
        raise UserError(
            f"{canonical_name(name)!r} is not for {canonical!r} images, only for {', '.join(allowed)}. Degradations "
            f"for {canonical}: {', '.join(for_modality(canonical))}. To apply it all the same: "
            "force=True, --force on the command line."
        )
    return canonical


def settings(name: str, severity: int, modality: str | None = None) -> Mapping[str, Any]:
    """The numbers of one level: what severity.yaml has under ``shared`` and under the row of level and modality."""
    level = check_severity(severity)
    if level == 0:
        raise UserError("Level 0 is the untouched image and has no parameters.")
    section = _section(canonical_name(name), modality)
    entry = _read("severity.yaml").get(section)
    if entry is None:
        raise UserError(f"severity.yaml has no section {section!r}.")
    rows = entry["levels"]
    canonical = canonical_modality(modality) if modality is not None else "any"
    row = rows.get(canonical) or rows.get("any") or next(iter(rows.values()))
    return {**entry.get("shared", {}), **row[level]}


def settings_at(
    name: str, strength: float, modality: str | None = None
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any], float]:
    """The numbers at a ``strength`` above 0: those of the milder and the stronger image, and the latter's share.

    See :func:`lmms_medtasks.degradations.strength.anchors`.
    """
    first, second = (settings(name, level, modality) for level in (1, 2))
    rules = _read("severity.yaml")["strength"].get(_section(canonical_name(name), modality), {})
    return anchors(first, second, rules, strength)


def fingerprint(trees: SourceTrees | None = None) -> str:
    """12 hexadecimal digits that change with every number and all code that decides how a degraded image looks.

    Comments and docstrings change nothing. Response caches that take it into their key notice a change. ``trees`` are
    the modules to look at, the installed ones by default.
    """
    return _fingerprint(trees or fingerprints.installed())


@functools.cache
def _fingerprint(trees: SourceTrees) -> str:
    return trees.digest({PACKAGE, *MODULES.values()})
