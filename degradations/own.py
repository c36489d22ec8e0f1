"""Custom degradations: a :class:`~.base.Degradation` with its levels, or a function of a picture.

A function takes a PIL image and a NumPy generator, and ``level`` (1 or 2) or ``strength`` (0 to 3) if it has several;
it returns a PIL image of the same size and mode. Its parameters are the seed of its generator, the level, and a digest
of its code. A reference names it (:mod:`lmms_medtasks.extensions`).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from lmms_medtasks import digests, extensions, folders
from lmms_medtasks.degradations.base import ANY, KIND, Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.errors import UserError

Rows = Mapping[str, Mapping[int, Mapping[str, Any]]]


@dataclass(frozen=True)
class CustomParameters(Parameters):
    """Arguments of a function: ``seed`` of its generator, ``level`` (None if it takes none), 12 digits of its code."""

    seed: int
    level: float | None
    code: str


@dataclass(frozen=True)
class CustomDegradation:
    """A custom degradation, loaded and checked.

    ``title``: what records call it, without a folder: "parts.py:flip", "package.module:flip", or an installed one's
    name. ``rows``: settings by modality ("any") and level. ``takes``: the argument of a function that says how far to
    go, "" if it has one level only. ``function``: None for a full one.
    """

    title: str
    made: Degradation
    _: KW_ONLY
    rows: Rows
    code: str
    origin: str
    file: Path | None = None
    takes: Literal["", "level", "strength"] = ""
    function: Callable[..., Any] | None = None

    @property
    def levels(self) -> tuple[int, ...]:
        return (1,) if self.function is not None and not self.takes else (1, 2)

    def check_strength(self, strength: float) -> None:
        """Raise UserError for a strength above 0 that a function has not."""
        if self.function is not None and self.takes != "strength" and strength not in self.levels:
            wanted = "level 1 only" if not self.takes else "the levels 1 and 2"
            more = "`level`, or `strength` for numbers from 0 to 3" if not self.takes else "`strength`"
            raise UserError(
                f"The degradation {self.title} has {wanted}, got {strength:g}. A function that takes {more} has more."
            )

    def on_picture(self, image: Any, drawn: CustomParameters) -> Any:
        """``image``, a PIL image or an array of uint8, as the function degrades it; it gets a copy.

        Raises UserError for a function that raises, or that returns anything but a PIL image of the same size and mode.
        """
        assert self.function is not None
        picture = image.copy() if isinstance(image, Image.Image) else _image_of_array(image, self.title)
        size, mode = picture.size, picture.mode
        level_argument = {self.takes: drawn.level} if self.takes else {}
        subject = f"The degradation {self.title} failed on an image of {size[0]} x {size[1]} pixels, mode {mode!r}"
        rng = np.random.default_rng(drawn.seed)
        result = _call_custom(self.function, subject, self.file, picture, rng, **level_argument)
        if not isinstance(result, Image.Image):
            is_array = isinstance(result, np.ndarray)
            shown = f"an array of {result.dtype}, {result.shape}" if is_array else repr(result)[:60]
            hint = "Image.fromarray makes an image of uint8." if is_array else "Is a return missing?"
            raise UserError(f"The degradation {self.title} returned {shown}, expected a PIL image. {hint}")
        if (result.size, result.mode) != (size, mode):
            raise UserError(
                f"The degradation {self.title} returned {result.size[0]} x {result.size[1]} pixels of mode "
                f"{result.mode!r} for {size[0]} x {size[1]} of {mode!r}. Give back the size and mode that came in: "
                "made.resize(picture.size).convert(picture.mode)."
            )
        if not isinstance(image, Image.Image):
            return np.asarray(result).reshape(image.shape)
        result.info = dict(image.info)
        return result


def _call_custom(function: Callable[..., Any], subject: str, file: Path | None, *given: Any, **named: Any) -> Any:
    """What ``function`` returns; whatever it raises becomes a UserError that begins with ``subject``."""
    try:
        return function(*given, **named)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{subject}: {extensions.describe_exception(error, file)}.") from error


@functools.cache
def get(name: str) -> CustomDegradation:
    """The degradation that ``name`` names.

    Raises:
        UserError: It can't be found or imported (:func:`lmms_medtasks.extensions.load_extension`), or is no
            degradation.
    """
    part = extensions.load_extension(KIND, name)
    title = part.name
    if extensions.is_reference(name):
        source, _, attribute = name.rpartition(":")
        title = f"{Path(source).name}:{attribute}" if source.endswith(".py") else name
    files = {part.file, *_source_files(part.value)} - {None}
    code = digests.of_files(sorted(file for file in files if file is not None))
    if isinstance(part.value, Degradation):
        return _wrap_degradation(part, title, code)
    if not callable(part.value) or inspect.isclass(part.value):
        kind = "a class" if inspect.isclass(part.value) else f"a {type(part.value).__name__}"
        raise UserError(
            f"The degradation {title} ({part.origin}) is {kind}. Expected a function of a PIL image and a NumPy "
            "generator, or a lmms_medtasks.degradations.Degradation(name=..., sample=..., apply=..., record=...)."
        )
    return _wrap_function(part, title, code)


def _source_files(value: Any) -> list[Path]:
    """The files in which the functions are defined; the module that names them may only import them."""
    functions = [value.sample, value.apply] if isinstance(value, Degradation) else [value]
    paths = []
    for function in functions:
        try:
            paths.append(Path(inspect.getsourcefile(inspect.unwrap(function)) or ""))
        except (TypeError, OSError):
            continue  # an object that can be called, or written in an interpreter
    return [path for path in paths if path.suffix == ".py"]


def _wrap_function(part: extensions.Extension, title: str, code: str) -> CustomDegradation:
    function = part.value
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        arguments = []
    argument_names = [argument.name for argument in arguments]
    level_arguments = [name for name in ("level", "strength") if name in argument_names]
    required = [
        argument
        for argument in arguments
        if argument.default is argument.empty
        and argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        and argument.name not in level_arguments
    ]
    fits = len(required) == 2 and required == arguments[:2] and required[1].kind is not required[1].KEYWORD_ONLY
    if not fits or len(level_arguments) > 1:
        raise UserError(
            f"The degradation {title} ({part.origin}) must be a function of a PIL image and a NumPy generator, and of "
            f"`level` or `strength` if it has several. It takes {', '.join(argument_names) or 'nothing'}."
        )
    takes: Literal["", "level", "strength"] = level_arguments[0] if level_arguments else ""  # type: ignore[assignment]

    def sample(rng: np.random.Generator, settings: Mapping[str, Any], size: Shape) -> CustomParameters:
        level = float(settings["level"]) if takes == "strength" else int(settings["level"]) if takes else None
        return CustomParameters(int(rng.integers(2**63)), level, code)

    def apply(image: FloatImage, drawn: CustomParameters) -> FloatImage:
        raise UserError(f"{title} is applied to images: degradations.apply_parameters.")

    rows: Rows = {ANY: {1: {"level": 1}, 2: {"level": 2}}}
    made = Degradation(title, sample, apply, CustomParameters)
    return CustomDegradation(
        title, made, rows=rows, code=code, origin=part.origin, file=part.file, takes=takes, function=function
    )


def _wrap_degradation(part: extensions.Extension, title: str, code: str) -> CustomDegradation:
    given: Degradation = part.value
    where = f"The degradation {title} ({part.origin})"
    for name in ("sample", "apply"):
        if not callable(getattr(given, name)):
            raise UserError(f"{where}: {name} is a {type(getattr(given, name)).__name__}, expected a function.")
    record = given.record
    if not (inspect.isclass(record) and issubclass(record, Parameters) and dataclasses.is_dataclass(record)):
        raise UserError(f"{where}: record is {record!r}, expected a frozen dataclass made of degradations.Parameters.")

    def sample(rng: np.random.Generator, settings: Mapping[str, Any], size: Shape) -> Parameters:
        drawn = _call_custom(given.sample, f"{where}: sample failed", part.file, rng, settings, size)
        if not isinstance(drawn, record):
            raise UserError(f"{where}: sample gave {drawn!r}, expected a {record.__name__}, its record.")
        return drawn

    def apply(image: FloatImage, drawn: Any) -> FloatImage:
        subject = f"{where}: apply failed on an array of {image.shape}"
        result = _call_custom(given.apply, subject, part.file, image, drawn)
        if not isinstance(result, np.ndarray) or result.shape != image.shape:
            got = f"an array of {result.shape}" if isinstance(result, np.ndarray) else repr(result)[:60]
            raise UserError(f"{where}: apply gave {got} for an array of {image.shape}, expected one of the same shape.")
        if result.dtype.kind != "f" or not np.isfinite(result).all():
            got = f"{result.dtype} values" if result.dtype.kind != "f" else "NaN or infinity"
            raise UserError(f"{where}: apply gave {got}, expected floats from 0 to 1.")
        return result.astype(np.float32, copy=False)

    made = dataclasses.replace(given, name=title, sample=sample, apply=apply)
    rows = _settings_rows(given.levels, part.file, where)
    return CustomDegradation(title, made, rows=rows, code=code, origin=part.origin, file=part.file)


def _settings_rows(levels: Mapping[Any, Any] | str | None, file: Path | None, where: str) -> Rows:
    """The settings by modality and level, from any of the forms that ``Degradation.levels`` may have."""
    if levels is None:
        return {ANY: {1: {"level": 1}, 2: {"level": 2}}}
    shared: Mapping[str, Any] = {}
    if isinstance(levels, str):
        if file is None or not (file.parent / levels).is_file():
            beside = f"beside {file.name}" if file else "anywhere: its code has no file"
            raise UserError(f"{where}: levels: there is no file {levels!r} {beside}.")
        where = f"{where}, {levels}"
        levels = folders.load_yaml(file.parent / levels)
        if isinstance(levels, Mapping) and "levels" in levels:
            shared, levels = levels.get("shared") or {}, levels["levels"]
    if isinstance(levels, Mapping) and set(levels) == {1, 2}:
        levels = {ANY: levels}
    if not isinstance(levels, Mapping) or not levels:
        raise UserError(f"{where}: levels: got {levels!r}, expected {{1: {{...}}, 2: {{...}}}}.")
    rows = {}
    for modality, of_levels in levels.items():
        if not isinstance(of_levels, Mapping) or set(of_levels) != {1, 2}:
            raise UserError(
                f"{where}: levels, {modality}: got {of_levels!r}, expected settings for the levels 1 and 2."
            )
        if not all(isinstance(settings, Mapping) for settings in of_levels.values()) or set(of_levels[1]) != set(
            of_levels[2]
        ):
            raise UserError(f"{where}: levels, {modality}: expected mappings with the same settings at levels 1 and 2.")
        rows[str(modality)] = {level: {**shared, **of_levels[level]} for level in (1, 2)}
    return rows


def _image_of_array(array: Any, title: str) -> Image.Image:
    fits = isinstance(array, np.ndarray) and array.dtype == np.uint8
    if not fits or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))):
        got = f"an array of {array.dtype}, {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise UserError(f"The degradation {title} is a function of PIL images and arrays of uint8, got {got}.")
    return Image.fromarray(array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array)
