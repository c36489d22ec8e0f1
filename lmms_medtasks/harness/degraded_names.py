"""Names of degraded tasks: ``TASK@gaussian_noise.2``, and what ``lmms-medtasks run --degrade`` makes of its options.

What stands behind the ``@`` is an order: what is done, at which level, and if need be of which modality the pictures
are and another seed. ``metadata: {degrade: ORDER}`` in a task's YAML takes the same text.

============================== ==========================================================================
``gaussian_noise.2``           a degradation of :mod:`lmms_medtasks.degradations`, at level 1 or 2
``gaussian_noise.1.5``         the same at another strength, above 0 and up to 3: levels 1 and 2 are strengths 1 and 2
``sparse_view.1~CT``           the same for pictures of one modality
``low_resolution.1~column=m``  the same, the modality of each question in the column ``m`` of its document
``draw3_1.2~CT``               the first of three that are drawn for each picture, as MedQ-Deg draws them
``corruptions.high``           blur, brightness and noise as SURE-VQA has them: low, medium, high
``my.module.function.1``       a degradation of one's own, such as a function of a picture and a NumPy generator
``parts.py.function.1``        the same in a file of the working directory
``gaussian_noise.0``           untouched, whatever stands before the level: a control
``gaussian_noise.2~seed=7``    other draws
============================== ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks import degradations, folders
from lmms_medtasks.degradations import corruptions, modality_files
from lmms_medtasks.degradations.strength import STRONGEST
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.samples.degraded import MARK

CONTROL = "0"
LEVELS = ("1", "2")
"""Those that stand where no level is given. Others are strengths from 0 to 3."""
CORRUPTIONS = "corruptions"
"""The family of :mod:`lmms_medtasks.degradations.corruptions`, which has levels of its own."""
FILE = "degrade.yml"
"""In a benchmark's folder: how it degrades pictures, as ``--degrade`` names it."""
_OWN_LEVELS = LEVELS
_ALL = "all"
_COLUMN = "column"

_ORDER = re.compile(
    r"(?P<what>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*?)\.(?P<level>\d+(?:\.\d+)?|[a-z]+)(?P<options>(?:~[^~@]*)*)"
)
_DRAW = re.compile(r"draw(?P<count>\d+)_(?P<number>\d+)")
_DRAWS = re.compile(r"draw(?P<count>\d*)")
_FORM = "TASK@DEGRADATION.LEVEL, such as slake_en@gaussian_noise.2"


@dataclass(frozen=True)
class DegradationRequest:
    """What is done to the pictures of a task.

    ``what``: the paper's name of a degradation, ``corruptions``, ``draw3_1`` or the dotted path of someone's own.
    ``level``: "0", "1", "2", a strength such as "1.5", or low, medium, high. ``modality``: its canonical name, or None.
    ``column``: the document's column that has it, or None. ``seed``: of the draws, beside the picture itself.
    """

    what: str
    level: str
    modality: str | None = None
    column: str | None = None
    seed: int = 0

    @property
    def is_control(self) -> bool:
        """Whether nothing is done."""
        return self.level == CONTROL

    @property
    def is_function(self) -> bool:
        """Whether it is one of someone's own that is named by its module or file."""
        return "." in self.what

    @property
    def reference(self) -> str:
        """``what`` as :mod:`lmms_medtasks.extensions` names it: my.module:function."""
        return ":".join(self.what.rpartition(".")[::2]) if self.is_function else self.what

    @property
    def draw(self) -> tuple[int, int] | None:
        """How many degradations are drawn for a picture, and the number of the one that is meant, from 1; or None."""
        match = _DRAW.fullmatch(self.what)
        return (int(match["count"]), int(match["number"])) if match else None


def parse(name: str) -> tuple[str, DegradationRequest]:
    """The base task and the order in the name of a degraded task.

    Raises:
        UserError: Another form, an unknown degradation, level or modality, a base that is degraded already.
    """
    base, _, text = name.partition(MARK)
    if MARK in text:
        raise UserError(f"{name!r}: {name.rpartition(MARK)[0]!r} is degraded already. A task can be degraded once.")
    if not base:
        raise UserError(f"{name!r} names no task before the {MARK}. Write {_FORM}.")
    return base, parse_degradation_request(text, name)


def parse_degradation_request(text: str, where: str) -> DegradationRequest:
    """The order that ``text`` is, what stands behind the ``@``; ``where`` it was found is said in errors.

    Raises UserError as :func:`parse` does.
    """
    match = _ORDER.fullmatch(text)
    if match is None:
        raise UserError(f"{where!r}: {text!r} is no degradation and level. Write {_FORM}.")
    what, level = match["what"], match["level"]
    draw = _DRAW.fullmatch(what)
    if what != CORRUPTIONS and "." not in what and not draw:
        try:
            what = degradations.canonical_name(what)
        except UserError:
            names = (*degradations.known_names(), CORRUPTIONS, "draw3_1")
            raise unknown_name_error("degradation", what, names, repr(where)) from None
    if draw and not 1 <= int(draw["number"]) <= int(draw["count"]):
        raise UserError(f"{where!r}: {what} is none of the draws draw{draw['count']}_1 to _{draw['count']}.")
    _check_level(what, level, where)
    options = _parse_options(match["options"], where)
    made = DegradationRequest(what, level, **options)
    _check_modality(made, where)
    return made


def levels_of(what: str) -> tuple[str, ...]:
    """The levels that ``what`` has a name for, beside 0."""
    return corruptions.list_strengths() if what == CORRUPTIONS else _OWN_LEVELS if "." in what else LEVELS


def _check_level(what: str, level: str, where: str) -> None:
    """Raise UserError for a level that ``what`` has not, or that is written in another way than the shortest one."""
    if level in (CONTROL, *levels_of(what)):
        return
    takes_strength = what != CORRUPTIONS and "." not in what
    if takes_strength and _is_number(level) and float(level) <= STRONGEST:
        if level != (shortest := _shorten_level(level)):
            raise UserError(f"{where!r}: write the level {level} as {shortest}, so that one task has one name.")
        return
    allowed = (
        f"{', '.join(LEVELS)}, a strength up to {STRONGEST:g} such as 1.5"
        if takes_strength
        else ", ".join(levels_of(what))
    )
    raise UserError(
        f"{where!r}: {what} has no level {level!r}. Allowed: {allowed}, and {CONTROL} for the untouched images."
    )


def _shorten_level(level: str) -> str:
    """``1.50`` -> 1.5, ``1.0`` -> 1; what is no number as it is."""
    return f"{float(level):.12g}" if _is_number(level) else level


def needs_modality(made: DegradationRequest) -> bool:
    """Whether it can be done only where the modality of the pictures is known: drawn, or for some modalities only."""
    if made.is_control or made.what == CORRUPTIONS or made.is_function:
        return False
    return made.draw is not None or not degradations.is_general(made.what)


def names(tasks: Sequence[str], degrade: str, modality: str | None, seed: int, control: bool) -> list[str]:
    """The names of the degraded tasks that ``lmms-medtasks run --degrade`` asks for, those of one task together.

    ``degrade``: degradations with their levels, ``gaussian_noise:0.5,1,1.5,2,motion_blur:1``; ``all:1,2``, those that
    there are for the modality; ``draw3:1,2``; ``corruptions``; ``my.module:function``; the name of a benchmark, whose
    folder says in :data:`FILE` how it degrades. Where no level is given, 1 and 2 (low, medium, high of corruptions, 1
    of a function). ``modality``: one, or ``column:NAME``. ``control``: the untouched pictures once more, as level 0.

    Raises UserError as :func:`parse` does, and for ``all`` and draws without a modality.
    """
    column = (modality or "").partition(":")[2] if (modality or "").startswith(f"{_COLUMN}:") else None
    if modality is not None and (column == "" or modality == _COLUMN):
        raise UserError("--modality column:NAME names the column of the documents that has the modality.")
    modality = modality_files.parse_modality_option(modality)
    canonical = None if modality is None or column else _canonical_modality(modality, "--modality")
    pairs = [
        (what, level)
        for head, levels in _split_items(degrade)
        for what in _expand_item(_benchmark_degradations(head), canonical, column)
        for level in levels or _default_levels(what)
    ]
    if control:
        pairs = [(pairs[0][0], CONTROL), *pairs]
    about = f"~{canonical}" if canonical else f"~{_COLUMN}={column}" if column else ""
    about_seed = f"~seed={seed}" if seed else ""
    suffixes = [
        f"{what}.{level}{'' if _takes_no_modality(what, level) else about}{about_seed}"
        for what, level in dict.fromkeys(pairs)
    ]
    for suffix in suffixes:
        parse_degradation_request(suffix, f"--degrade {degrade}")
    return [f"{task}{MARK}{suffix}" for task in tasks for suffix in suffixes]


def _benchmark_degradations(head: str) -> str:
    """How the benchmark called ``head`` degrades; ``head`` itself where there is none that says so."""
    folder = next((each for each in folders.folders_with_file(FILE) if each.name == head), None)
    return str(folders.read_yaml(folder / FILE)["degrade"]) if folder else head


def _parse_options(text: str, where: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for each in text.split("~")[1:]:
        key, equals, value = each.partition("=")
        if not equals:
            key, value = "modality", _canonical_modality(each, where)
        elif key not in (_COLUMN, "seed") or not value or (key == "seed" and not re.fullmatch(r"-?\d+", value)):
            raise UserError(f"{where!r}: {each!r} is none of ~MODALITY, ~column=NAME, ~seed=NUMBER.")
        if key in options:
            raise UserError(f"{where!r} has two of ~{key}.")
        options[key] = int(value) if key == "seed" else value
    if "modality" in options and _COLUMN in options:
        raise UserError(f"{where!r} names a modality and a column that has it: give one of both.")
    return options


def _canonical_modality(text: str, where: str) -> str:
    try:
        return degradations.canonical_modality(text)
    except UserError as error:
        raise UserError(f"{where!r}: {error}") from None


def _check_modality(made: DegradationRequest, where: str) -> None:
    if made.is_control:
        return
    given = made.modality or made.column
    if given and made.what == CORRUPTIONS:
        raise UserError(f"{where!r}: {made.what} is the same for all modalities. Leave ~{given} out.")
    if needs_modality(made) and not given:
        only = "draws among those of a modality" if made.draw else f"is for {_list_modalities(made.what)} only"
        raise UserError(
            f"{where!r}: {made.what} {only}. Say of which modality the images are: {made.what}.{made.level}~CT, or "
            f"~column=NAME for the column that has it (--modality CT, --modality column:NAME)."
        )
    if made.modality:
        check_modality_allowed(made, made.modality, where)


def check_modality_allowed(made: DegradationRequest, modality: str, where: str) -> None:
    """Raise UserError where pictures of ``modality``, a canonical name, can't be degraded as ordered."""
    if made.draw:
        count, drawn = made.draw[0], degradations.drawn_for(modality)
        if count > len(drawn):
            raise UserError(
                f"{where}: {count} are to be drawn, and there are {len(drawn)} for {modality}: {', '.join(drawn)}."
            )
    elif made.is_control or made.is_function:
        return  # one of someone's own is imported later, and checked then
    elif modality not in degradations.modalities_of(made.what):
        raise UserError(
            f"{where}: {made.what} is not for {modality}, only for {_list_modalities(made.what)}. "
            f"For {modality} there are: {', '.join(degradations.for_modality(modality))}."
        )


def _list_modalities(what: str) -> str:
    return ", ".join(degradations.modalities_of(what))


def _split_items(degrade: str) -> list[tuple[str, list[str]]]:
    """``a:1,2,b`` -> a with its levels, b with none."""
    items: list[tuple[str, list[str]]] = []
    for token in (each.strip() for each in degrade.split(",")):
        head, colon, last = token.rpartition(":")
        if _is_level(token) and items:
            items[-1][1].append(_shorten_level(token))
        elif colon and _is_level(last):
            items.append((head, [_shorten_level(last)]))
        else:
            items.append((token, []))
    if not all(head for head, _ in items):
        raise UserError(
            f"--degrade {degrade!r} names no degradation. Write --degrade gaussian_noise:2,motion_blur:1,2."
        )
    return items


def _is_level(text: str) -> bool:
    return _is_number(text) or text in corruptions.list_strengths()


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None


def _expand_item(head: str, modality: str | None, column: str | None) -> list[str]:
    """The degradations that stand in a name for one of --degrade."""
    draws = _DRAWS.fullmatch(head)
    if head != _ALL and not draws:
        return [head.replace(":", ".")]
    if modality is None and column is None:
        raise UserError(
            f"--degrade {head} takes those that there are for the images' modality: give --modality, one of "
            f"{', '.join(degradations.modalities())}, or column:NAME."
        )
    if draws:
        count = int(draws["count"] or 3)
        return [f"draw{count}_{number}" for number in range(1, count + 1)]
    if modality is not None:
        return list(degradations.for_modality(modality))
    return [name for name in degradations.names() if degradations.is_general(name)]


def _default_levels(what: str) -> tuple[str, ...]:
    return levels_of(what)[:1] if "." in what else levels_of(what)


def _takes_no_modality(what: str, level: str) -> bool:
    return level == CONTROL or what == CORRUPTIONS
