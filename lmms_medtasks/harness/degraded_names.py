"""Names of degraded tasks such as ``TASK@gaussian_noise.2``, and the options of ``lmms-medtasks run --degrade``.

The text after the ``@`` is a request: a degradation, its level, and optionally the pictures' modality, a seed and
``lengths=share``. ``metadata: {degrade: REQUEST}`` in a task's YAML takes the same text.

============================== ==========================================================================
``gaussian_noise.2``           a degradation of :mod:`lmms_medtasks.degradations`, at level 1 or 2
``gaussian_noise.1.5``         the same at another strength, above 0 and up to 3: levels 1 and 2 are strengths 1 and 2
``sparse_view.1~CT``           the same for pictures of one modality
``low_resolution.1~column=m``  the same, the modality of each question in the column ``m`` of its document
``draw3_1.2~CT``               the first of three that are drawn for each picture, as MedQ-Deg draws them
``corruptions.high``           blur, brightness and noise as SURE-VQA has them: low, medium, high
``my.module.function.1``       a custom degradation, such as a function of a picture and a NumPy generator
``parts.py.function.1``        the same in a file of the working directory
``gaussian_noise.0``           unchanged pictures as a control, whatever the degradation
``gaussian_noise.2~seed=7``    other draws
``bubble.2~lengths=share``     lengths are the same share of each picture, not the paper's pixels
============================== ==========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks import degradations, folders
from lmms_medtasks.degradations import corruptions, modality_files, own_modalities
from lmms_medtasks.degradations.base import PIXELS, SHARE
from lmms_medtasks.degradations.strength import STRONGEST
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.samples.degraded import MARK

CONTROL = "0"
LEVELS = ("1", "2")
"""The default levels. Others are strengths from 0 to 3."""
CORRUPTIONS = "corruptions"
"""The family of :mod:`lmms_medtasks.degradations.corruptions`, which has its own levels."""
FILE = "degrade.yml"
"""In a benchmark's folder: how it degrades pictures, in the form of ``--degrade``."""
_ALL = "all"
_COLUMN = "column"
_LENGTHS = "lengths"

_ORDER = re.compile(
    r"(?P<what>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*?)\.(?P<level>\d+(?:\.\d+)?|[a-z]+)(?P<options>(?:~[^~@]*)*)"
)
_DRAW = re.compile(r"draw(?P<count>\d+)_(?P<number>\d+)")
_DRAWS = re.compile(r"draw(?P<count>\d*)")
_FORM = "TASK@DEGRADATION.LEVEL, such as slake_en@gaussian_noise.2"


@dataclass(frozen=True)
class DegradationRequest:
    """A degradation of the pictures of a task.

    ``what``: the paper's name of a degradation, ``corruptions``, ``draw3_1`` or the dotted path of a custom one.
    ``level``: "0", "1", "2", a strength such as "1.5", or low, medium, high. ``modality``: its canonical name, or None.
    ``column``: the document's column with the modality, or None. ``seed``: of the draws, beside the picture itself.
    ``lengths``: "pixels" or "share" (:func:`lmms_medtasks.degradations.apply`).
    """

    what: str
    level: str
    modality: str | None = None
    column: str | None = None
    seed: int = 0
    lengths: str = PIXELS

    @property
    def is_control(self) -> bool:
        """Whether the pictures stay unchanged."""
        return self.level == CONTROL

    @property
    def is_function(self) -> bool:
        """Whether it is a custom degradation, which is named by its module or file."""
        return "." in self.what

    @property
    def reference(self) -> str:
        """``what`` in the form of :mod:`lmms_medtasks.extensions`: my.module:function."""
        return ":".join(self.what.rpartition(".")[::2]) if self.is_function else self.what

    @property
    def has_lengths(self) -> bool:
        """Whether ``~lengths=share`` can make a difference: it has lengths in pixels, or is drawn."""
        if self.is_control or self.is_function or self.what == CORRUPTIONS:
            return False
        return self.draw is not None or bool(degradations.lengths_of(self.what))

    @property
    def draw(self) -> tuple[int, int] | None:
        """How many degradations are drawn for a picture, and the number of this one, from 1; None if not drawn."""
        match = _DRAW.fullmatch(self.what)
        return (int(match["count"]), int(match["number"])) if match else None


def parse_degraded_name(name: str) -> tuple[str, DegradationRequest]:
    """The base task and the request in the name of a degraded task.

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
    """Parse the text after the ``@``. ``where``: its location, for errors. Raises UserError if it is malformed."""
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
    order = DegradationRequest(what, level, **_parse_options(match["options"], where))
    _check_modality(order, where)
    if order.lengths != PIXELS and not order.has_lengths:
        raise UserError(
            f"{where!r}: {what} has no lengths in pixels at level {level}, so both choices are the same. Leave "
            f"~lengths={order.lengths} out. It is for {list_with_lengths()}, and draws."
        )
    return order


def list_with_lengths() -> str:
    """The names of the degradations that have lengths in pixels, for messages."""
    return ", ".join(name for name in degradations.names() if degradations.lengths_of(name))


def levels_of(what: str) -> tuple[str, ...]:
    """The named levels of ``what``, without 0."""
    return corruptions.list_strengths() if what == CORRUPTIONS else LEVELS


def _check_level(what: str, level: str, where: str) -> None:
    """Raise UserError for a level that ``what`` does not have, or that is not in its shortest form."""
    if level in (CONTROL, *levels_of(what)):
        return
    takes_strength = what != CORRUPTIONS and "." not in what
    if takes_strength and _is_number(level) and float(level) <= STRONGEST:
        if level != (shortest := _shorten_level(level)):
            raise UserError(f"{where!r}: write the level {level} as {shortest}, so that one task has one name.")
        return
    allowed = ", ".join(levels_of(what)) + (f", a strength up to {STRONGEST:g} such as 1.5" if takes_strength else "")
    raise UserError(
        f"{where!r}: {what} has no level {level!r}. Allowed: {allowed}, and {CONTROL} for the untouched images."
    )


def _shorten_level(level: str) -> str:
    """``1.50`` -> 1.5, ``1.0`` -> 1; other texts unchanged."""
    return f"{float(level):.12g}" if _is_number(level) else level


def degraded_names(
    tasks: Sequence[str],
    degrade: str,
    modality: str | None,
    seed: int,
    control: bool,
    lengths: str = PIXELS,
) -> list[str]:
    """The names of the degraded tasks for ``lmms-medtasks run --degrade``, those of one task together.

    ``degrade``: degradations with their levels, ``gaussian_noise:0.5,1,1.5,2,motion_blur:1``; ``all:1,2``, all of the
    modality; ``draw3:1,2``; ``corruptions``; ``my.module:function``; the name of a benchmark with a file :data:`FILE`.
    The default levels are 1 and 2 (low, medium, high for corruptions, 1 for a function). ``modality``: one, or
    ``column:NAME``. ``control``: also level 0, the unchanged pictures. ``lengths``: "share" stands in the
    names of those that have lengths in pixels.

    Raises UserError as :func:`parse_degraded_name` does, and for ``all`` and draws without a modality.
    """
    degradations.check_lengths(lengths)
    column = (modality or "").partition(":")[2] if (modality or "").startswith(f"{_COLUMN}:") else None
    if modality is not None and (column == "" or modality == _COLUMN):
        raise UserError("--modality column:NAME names the column of the documents that has the modality.")
    modality = modality_files.parse_modality_option(modality)
    canonical = None if modality is None or column else _canonical_modality(modality, "--modality")
    pairs = [
        (what, level)
        for head, levels in split_items(degrade)
        for what in _expand_item(_benchmark_degradations(head), canonical, column)
        for level in levels or levels_of(what)[: 1 if "." in what else None]
    ]
    if control:
        pairs = [(pairs[0][0], CONTROL), *pairs]
    modality_option = f"~{canonical}" if canonical else f"~{_COLUMN}={column}" if column else ""
    seed_option = f"~seed={seed}" if seed else ""
    suffixes = []
    for what, level in dict.fromkeys(pairs):
        suffix = f"{what}.{level}{'' if CONTROL == level or what == CORRUPTIONS else modality_option}{seed_option}"
        has_lengths = parse_degradation_request(suffix, f"--degrade {degrade}").has_lengths
        suffixes.append(f"{suffix}~{_LENGTHS}={lengths}" if has_lengths and lengths != PIXELS else suffix)
    if lengths != PIXELS and not any(f"~{_LENGTHS}=" in suffix for suffix in suffixes):
        raise UserError(
            f"--degrade-lengths {lengths}: nothing of --degrade {degrade} has lengths in pixels, so both choices are "
            f"the same. Leave the option out. It is for {list_with_lengths()}, and draws."
        )
    return [f"{task}{MARK}{suffix}" for task in tasks for suffix in suffixes]


ROTATION = (
    "object_rotation turns images, and right answers stay: where a question asks for a position (left, upper right), a "
    "model that names the one now seen is scored wrong."
)
"""What a user of that degradation is told."""


def describe_beyond_paper(degrade: str, modality: str | None) -> str:
    """What "all" of ``--degrade`` takes that no image of the authors' shows for the modality; "" if nothing.

    ``degrade`` and ``modality``: as for :func:`degraded_names`, which has checked them.
    """
    if modality is None or _ALL not in (head for head, _ in split_items(degrade)):
        return ""
    custom = own_modalities.list_custom_modalities()  # the paper says nothing of them
    drawn = {of: degradations.drawn_for(of) for of in degradations.modalities() if of not in custom}
    if modality.startswith(f"{_COLUMN}:"):
        where = "some modalities"
        names = [
            f"{name} (only {', '.join(of for of in drawn if name in drawn[of])})"
            for name in _expand_item(_ALL, None, modality)
            if not all(name in listed for listed in drawn.values())
        ]
    else:
        where = degradations.canonical_modality(str(modality_files.parse_modality_option(modality)))
        names = [name for name in degradations.for_modality(where) if name not in drawn.get(where, (name,))]
    if not names:
        return ""
    return (
        f"--degrade all takes degradations that MedQ-Deg does not draw for {where}, because no image of its authors "
        f"shows them there: {', '.join(names)}. Without them: --degrade draw3."
    )


def _benchmark_degradations(head: str) -> str:
    """The degradations in the file of the benchmark ``head``; without such a file ``head`` itself."""
    folder = next((folder for folder in folders.folders_with_file(FILE) if folder.name == head), None)
    return str(folders.read_yaml(folder / FILE)["degrade"]) if folder else head


def _parse_options(text: str, where: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for option in text.split("~")[1:]:
        key, equals, value = option.partition("=")
        if not equals:
            key, value = "modality", _canonical_modality(option, where)
        elif not re.fullmatch({_COLUMN: ".+", "seed": r"-?\d+", _LENGTHS: SHARE}.get(key, r"(?!)"), value):
            raise UserError(
                f"{where!r}: {option!r} is none of ~MODALITY, ~column=NAME, ~seed=NUMBER, ~{_LENGTHS}={SHARE} (without "
                "it, lengths are the paper's pixels)."
            )
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


def _check_modality(order: DegradationRequest, where: str) -> None:
    if order.is_control:
        return
    given = order.modality or order.column
    if given and order.what == CORRUPTIONS:
        raise UserError(f"{where!r}: {order.what} is the same for all modalities. Leave ~{given} out.")
    if not given and order.what != CORRUPTIONS and not order.is_function:
        only = ""
        if order.draw:
            only = "draws among those of a modality"
        elif not degradations.is_general(order.what):
            only = f"is for {', '.join(degradations.modalities_of(order.what))} only"
        if only:
            raise UserError(
                f"{where!r}: {order.what} {only}. Say of which modality the images are: {order.what}.{order.level}~CT, "
                f"or ~column=NAME for the column that has it (--modality CT, --modality column:NAME)."
            )
    if order.modality:
        check_modality_allowed(order, order.modality, where)


def check_modality_allowed(order: DegradationRequest, modality: str, where: str) -> None:
    """Raise UserError if pictures of ``modality``, a canonical name, can't be degraded as requested."""
    if order.draw:
        count, drawn = order.draw[0], degradations.drawn_for(modality)
        if count > len(drawn):
            raise UserError(
                f"{where}: {count} are to be drawn, and there are {len(drawn)} for {modality}: {', '.join(drawn)}."
            )
        return
    if order.is_control or order.is_function:
        return  # a custom degradation is imported and checked later
    modalities = degradations.modalities_of(order.what)
    if modality not in modalities:
        raise UserError(
            f"{where}: {order.what} is not for {modality}, only for {', '.join(modalities)}. "
            f"For {modality} there are: {', '.join(degradations.for_modality(modality))}."
        )


def split_items(degrade: str, option: str = "--degrade") -> list[tuple[str, list[str]]]:
    """``a:1,2,b`` -> a with its levels, b with none. UserError if no degradation is named. ``option``: whose text."""
    items: list[tuple[str, list[str]]] = []
    for token in map(str.strip, degrade.split(",")):
        head, colon, last = token.rpartition(":")
        if _is_level(token) and items:
            items[-1][1].append(_shorten_level(token))
        elif colon and _is_level(last):
            items.append((head, [_shorten_level(last)]))
        else:
            items.append((token, []))
    if not all(head for head, _ in items):
        raise UserError(f"{option} {degrade!r} names no degradation. Write {option} gaussian_noise:2,motion_blur:1,2.")
    return items


def _is_level(text: str) -> bool:
    return _is_number(text) or text in corruptions.list_strengths()


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None


def _expand_item(head: str, modality: str | None, column: str | None) -> list[str]:
    """The degradations, as in a task's name, for an item of --degrade."""
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
