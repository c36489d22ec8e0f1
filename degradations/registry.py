"""Which degradations exist, where their code and their numbers are, and which of them is for which modality.

severity.yaml lists them, with a section for each, and modalities.yaml the modalities; both are read when first needed.
A module of operators is imported when one of its names is used. Custom degradations and modalities
(:mod:`lmms_medtasks.degradations.own`, :mod:`lmms_medtasks.degradations.own_modalities`) are allowed wherever ours are.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lmms_medtasks import digests, extensions
from lmms_medtasks.degradations import own_modalities
from lmms_medtasks.degradations.base import ANY, KIND, Degradation, is_custom_degradation
from lmms_medtasks.degradations.own_modalities import GENERAL
from lmms_medtasks.degradations.strength import check_seed, check_severity, interpolate_settings
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.seeding import seeded_generator

if TYPE_CHECKING:
    from lmms_medtasks.degradations.own import CustomDegradation

PACKAGE = "lmms_medtasks.degradations"


@functools.cache
def _load_yaml(file_name: str) -> dict[str, Any]:
    text = resources.files(PACKAGE).joinpath(file_name).read_text(encoding="utf-8")
    return yaml.safe_load(text)


@functools.cache
def load_sections() -> Mapping[str, Mapping[str, Any]]:
    """The sections of severity.yaml, by ``name``, or ``name@Modality`` for an operator of that modality alone."""
    return {name: row for name, row in _load_yaml("severity.yaml").items() if name not in ("version", "draws")}


def severity_version() -> int:
    """The version of severity.yaml, which rises with every change of an image's pixels."""
    return int(_load_yaml("severity.yaml")["version"])


def draws_version() -> int:
    """The part of every seed that rises where all draws are to be others."""
    return int(_load_yaml("severity.yaml")["draws"])


def names() -> tuple[str, ...]:
    """The names, in the order of severity.yaml: the paper's in that of its Table 5."""
    return tuple(name for name in load_sections() if "@" not in name)


def known_names() -> tuple[str, ...]:
    """The names of our degradations, then of those that installed packages offer."""
    return extensions.names(KIND, names())


def modalities() -> tuple[str, ...]:
    """Our modalities by their canonical names, then the custom ones that are known here."""
    return (*_our_modalities(), *own_modalities.list_custom_modalities())


def _our_modalities() -> tuple[str, ...]:
    return tuple(_load_yaml("modalities.yaml")["modalities"])


@functools.cache
def _names_called() -> dict[str, str]:
    table = {name: name for name in names()}
    table.update({other: name for name in names() for other in load_sections()[name].get("called", ())})
    return table


@functools.cache
def modality_spellings() -> dict[str, str]:
    """Our modalities by all their spellings, as :func:`.own_modalities.fold_spelling` has them."""
    rows = _load_yaml("modalities.yaml")["modalities"]
    folded = own_modalities.fold_spelling
    table = {folded(name): name for name in rows}
    table.update({folded(other): name for name, row in rows.items() for other in row["called"]})
    return table


def canonical_name(name: str) -> str:
    """The paper's name for ``name``, which may also be the one that the authors' site uses.

    A reference to a custom degradation gets the folder before its file, the working directory if it names none.

    Raises:
        UserError: No degradation has that name (the message has the nearest one), or a custom one can't be loaded.

    >>> canonical_name("downsample_artifact")
    'low_resolution'
    """
    canonical = _names_called().get(name) if isinstance(name, str) else None
    if canonical is None and is_custom_degradation(name):
        canonical = extensions.resolve_extension_path(name, Path.cwd())
        _load_custom(canonical)
    if canonical is None:
        raise unknown_name_error("degradation", name, known_names())
    known_names()  # refuses an installed one by the name of one of ours
    return canonical


def _resolve(name: str) -> tuple[str, CustomDegradation | None]:
    """The canonical name, and the degradation if it is a custom one."""
    canonical = canonical_name(name)
    return canonical, _load_custom(canonical) if is_custom_degradation(canonical) else None


def _load_custom(canonical: str) -> CustomDegradation:
    from lmms_medtasks.degradations import own

    return own.get(canonical)


def title(name: str) -> str:
    """The name that records and reports show; of a custom degradation without the folder of its file."""
    canonical, custom = _resolve(name)
    return custom.title if custom else canonical


def levels_of(name: str) -> tuple[int, ...]:
    """The levels above 0 that a degradation has: 1 and 2; a custom function may have level 1 only."""
    _, custom = _resolve(name)
    return custom.levels if custom else (1, 2)


def code_of(name: str, modality: str | None = None) -> str:
    """12 hexadecimal digits that change with the code and numbers that decide how ``name`` degrades ``modality``."""
    canonical, custom = _resolve(name)
    code = custom.code if custom else digests.degradations_digest()
    given = own_modalities.list_custom_modalities().get(canonical_modality(modality)) if modality is not None else None
    changed = given.levels.get(canonical) if given is not None else None
    return digests.content_digest(code.encode(), repr(changed).encode()) if changed else code


def canonical_modality(modality: str) -> str:
    """A modality's name for ``modality``, in any case and spelling that modalities.yaml lists.

    Raises:
        UserError: No modality is called that; the nearest one is in the message.

    >>> canonical_modality("x_ray"), canonical_modality("pathology")
    ('X-ray', 'Histopathology')
    """
    if isinstance(modality, str):
        spelling = own_modalities.fold_spelling(modality)
        if (canonical := modality_spellings().get(spelling)) is not None:
            return canonical
        for custom in own_modalities.list_custom_modalities().values():
            if spelling in custom.spellings:
                return custom.name
    raise unknown_name_error("modality", modality, modalities())


def expand_general(listed: Iterable[str]) -> tuple[str, ...]:
    """Names with ours that are for every modality in place of "general"."""
    general = [name for name in names() if is_general(name)]
    return tuple(dict.fromkeys(item for name in listed for item in (general if name == GENERAL else [name])))


def category(name: str) -> str:
    """``artifacts``, ``motion``, ``intensity``, ``noise`` or ``resolution_blur`` (paper, Table 5); "own"."""
    canonical, custom = _resolve(name)
    return "own" if custom else str(load_sections()[canonical]["category"])


def is_general(name: str) -> bool:
    """Whether a degradation is for every one of our modalities."""
    return set(_our_modalities()) <= set(modalities_of(name))


def modalities_of(name: str) -> tuple[str, ...]:
    """The modalities that ``name`` may be applied to without force (paper, Table 5)."""
    canonical, custom = _resolve(name)
    custom_modalities = own_modalities.list_custom_modalities().items()
    if custom:
        listed = custom.made.modalities
        allowed = map(_canonical_or_itself, listed) if listed else _our_modalities()
        listing = (
            of
            for of, modality in custom_modalities
            if not listed or canonical in (canonical_name(other) for other in modality.degradations if other != GENERAL)
        )
        return tuple(dict.fromkeys([*allowed, *listing]))
    ours = load_sections()[canonical]["modalities"]
    own_names = {canonical, GENERAL} if ours == "all" else {canonical}
    added = (of for of, modality in custom_modalities if own_names & set(modality.degradations))
    return (*(_our_modalities() if ours == "all" else ours), *added)


def _canonical_or_itself(modality: str) -> str:
    """The canonical name of a custom degradation's modality; the name itself if that modality is not known here."""
    try:
        return canonical_modality(modality)
    except UserError:
        return modality


def depends_on_modality(name: str) -> bool:
    """Whether a degradation is for some modalities only, or has other numbers or another operator for some.

    Custom modalities don't count: what one task brings changes nothing for another.
    """
    canonical, custom = _resolve(name)
    if custom:
        return bool(custom.made.modalities) or len(custom.rows) > 1
    known = [our_modality for our_modality in _our_modalities() if our_modality in modalities_of(canonical)]
    made = {(_section_name(canonical, of), repr(get_settings(canonical, 1, of))) for of in known}
    return not is_general(canonical) or len(made) > 1


def lengths_of(name: str) -> tuple[str, ...]:
    """The settings, and parameters of a record, that are lengths in pixels; () for a degradation of someone's own."""
    canonical, custom = _resolve(name)
    return () if custom else tuple(load_sections()[canonical].get("lengths", ()))


def source(name: str, modality: str | None = None) -> str:
    """Where the operator and its numbers come from, as severity.yaml says; of a custom degradation its origin."""
    canonical, custom = _resolve(name)
    if custom:
        return custom.origin
    return " ".join(str(load_sections()[_section_name(canonical, modality)]["source"]).split())


def for_modality(modality: str) -> tuple[str, ...]:
    """The degradations that may be applied to ``modality`` without force (paper, Table 5).

    Custom degradations are among them where a custom modality lists them.
    """
    canonical = canonical_modality(modality)
    given = own_modalities.list_custom_modalities().get(canonical)
    if given is not None:
        return expand_general(given.degradations)
    return tuple(name for name in names() if canonical in modalities_of(name))


def drawn_for(modality: str) -> tuple[str, ...]:
    """The degradations that a question of ``modality`` draws from (what the authors' images show)."""
    canonical = canonical_modality(modality)
    given = own_modalities.list_custom_modalities().get(canonical)
    if given is not None:
        return expand_general(given.degradations if given.drawn is None else given.drawn)
    return tuple(name for name in names() if canonical in load_sections()[name].get("drawn_for", ()))


def draw_for_question(
    modality: str, question_id: str | int, count: int = 3, seed: int | str = 0, among: Iterable[str] | None = None
) -> tuple[str, ...]:
    """The ``count`` degradations of a question, drawn without replacement with equal odds (paper, 3.3).

    The draw depends on ``question_id`` and ``seed`` alone. ``among`` narrows the names to draw from. A modality with
    fewer names than ``count`` gets all of them. The names come in the order of Table 5.

    Raises UserError for an unknown modality or name, a ``count`` below 1, or a wrong seed.
    """
    seed = check_seed(seed)
    if count < 1:
        raise UserError(f"A question needs at least one degradation, not {count!r}.")
    allowed = None if among is None else {canonical_name(name) for name in among}
    pool = [name for name in drawn_for(modality) if allowed is None or name in allowed]
    if len(pool) <= count:
        return tuple(pool)
    # The pool's names are not part of the seed: each gets a lot of its own, so narrowing the pool removes names
    # without reshuffling the others.
    lots = {name: seeded_generator("draw", name, question_id, seed).random() for name in pool}
    chosen = set(sorted(pool, key=lambda name: (lots[name], name))[:count])
    return tuple(name for name in pool if name in chosen)


def _section_name(name: str, modality: str | None) -> str:
    section = f"{name}@{canonical_modality(modality)}" if modality is not None else name
    return section if section in load_sections() else name


@functools.cache
def _load_degradation(section: str) -> Degradation:
    module = importlib.import_module(f"{PACKAGE}.{load_sections()[section]['code']}")
    name = section.split("@")[0]
    operators = {degradation.name: degradation for degradation in module.DEGRADATIONS}
    if name not in operators:
        raise ImportError(f"{module.__name__}.DEGRADATIONS has no {name!r}, only {sorted(operators)}")
    return operators[name]


def get(name: str, modality: str | None = None) -> Degradation:
    """The degradation called ``name``; its family is imported now if it was not yet.

    Raises UserError for an unknown name or modality.
    """
    canonical, custom = _resolve(name)
    if custom:
        return custom.made
    return _load_degradation(_section_name(canonical, modality))


def check_modality(name: str, modality: str | None, force: bool = False) -> str | None:
    """``modality`` by its canonical name, if ``name`` is for it or ``force`` is set.

    Raises UserError for an unknown modality, or one that the degradation is not for.
    """
    if modality is None:
        return None
    canonical = canonical_modality(modality)
    allowed = modalities_of(name)
    if not force and canonical not in allowed:
        raise UserError(
            f"{title(name)!r} is not for {canonical!r} images, only for {', '.join(allowed)}. Degradations "
            f"for {canonical}: {', '.join(for_modality(canonical))}. To apply it all the same: "
            "force=True, --force on the command line."
        )
    return canonical


def get_settings(name: str, severity: int, modality: str | None = None) -> Mapping[str, Any]:
    """The numbers of one level: what severity.yaml has under ``shared`` and under the row of level and modality."""
    level = check_severity(severity)
    if level == 0:
        raise UserError("Level 0 is the untouched image and has no parameters.")
    of, custom = _resolve(name)
    canonical = canonical_modality(modality) if modality is not None else ANY
    entry = {"levels": custom.rows} if custom else load_sections()[_section_name(of, modality)]
    rows = entry["levels"]
    row = rows.get(canonical) or rows.get(ANY) or next(iter(rows.values()))
    given = own_modalities.list_custom_modalities().get(canonical)
    changed = given.levels.get(of, {}).get(level, {}) if given is not None else {}
    return {**entry.get("shared", {}), **row[level], **changed}


def get_settings_at(
    name: str, strength: float, modality: str | None = None
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any], float]:
    """The numbers at a ``strength`` above 0: those of the milder and the stronger image, and the latter's share.

    See :func:`lmms_medtasks.degradations.strength.interpolate_settings`.
    """
    canonical, custom = _resolve(name)
    rules: Mapping[str, Any] = {}
    if custom is None:
        rules = load_sections()[_section_name(canonical, modality)].get("strength", {})
    else:
        custom.check_strength(strength)
        if custom.function is not None:
            return None, {"level": strength}, 1.0
    first, second = (get_settings(name, level, modality) for level in (1, 2))
    return interpolate_settings(first, second, rules, strength)
