"""Check custom degradations against the rules of the built-in ones, on generated images and on the task's."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

from lmms_medtasks import degradations, extensions, pictures
from lmms_medtasks.contribute.loaded import LoadedTask
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.degradations import own, registry
from lmms_medtasks.degradations.base import ANY, is_custom_degradation
from lmms_medtasks.degradations.gallery import psnr
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites.templates import DRAWN

_SEED = "validate"
_LARGE = (1024, 768)
_SHOWN = 5


def check_degradations(task: LoadedTask) -> None:
    """Check every custom degradation that the task names, in its settings or in a column."""
    settings = task.settings
    if settings.get("rendered") or settings.get("no_image"):
        return
    stated = settings.get("degradation")
    column = task.documents["degradation"] if "degradation" in task.documents.column_names else []
    names = [stated] if stated and stated != DRAWN else sorted({name_in_row for name_in_row in column if name_in_row})
    for name in names:
        located = extensions.resolve_extension_path(name, task.path.parent)
        if is_custom_degradation(located):
            _DegradationCheck(task, located, name).all()


class _DegradationCheck:
    def __init__(self, task: LoadedTask, name: str, written: str) -> None:
        self._task, self._name = task, name
        self._own = own.get(degradations.canonical_name(name))
        self._key = f"degradation {written}"
        modalities = self._own.made.modalities
        self._modality = task.settings.get("modality") or (modalities[0] if modalities else None)

    def all(self) -> None:
        """Run all checks, up to the first image that fails."""
        for modality in (*self._own.made.modalities, *(spelling for spelling in self._own.rows if spelling != ANY)):
            try:
                degradations.canonical_modality(modality)
            except UserError as error:
                self._add_problem(f"a modality that it is for, or has settings for: {error}")
        for label, picture in _made_up_images():
            for level in self._own.levels:
                if not self._check_level(label, picture, level):
                    return
        self._check_order()
        if self._own.function is None or self._own.takes == "strength":
            self._check_above_level_2()

    def _add_problem(self, message: str, level: str = "error") -> None:
        self._task.add(message, key=self._key, level=level)  # type: ignore[arg-type]

    def _degrade(self, picture: Image.Image, level: int, modality: str | None) -> Image.Image:
        return degradations.apply(picture, self._name, severity=level, seed=_SEED, modality=modality, force=True)

    def _check_level(self, label: str, picture: Image.Image, level: int) -> bool:
        location = f"level {level}, {label}"
        before = _random_states()
        try:
            first, second = (self._degrade(picture, level, self._modality) for _ in range(2))
            drawn = degradations.sample(
                self._name, severity=level, seed=_SEED, size=picture.size[::-1], modality=self._modality
            )
            restored = self._restore_parameters(drawn)
            again = degradations.apply_parameters(picture, self._name, restored, self._modality)
            unchanged = self._leaves_input(picture, drawn)
        except UserError as error:
            self._add_problem(f"{location}: {error}")
            return False
        except Exception as error:  # noqa: BLE001 (anyone's record may raise anything)
            reason = extensions.describe_exception(error, self._own.file)
            self._add_problem(f"{location}: its parameters can't be stored: {reason}")
            return False
        problem = ""
        if first.tobytes() != second.tobytes():
            problem = "the same seed gave two images: draw random numbers from the generator that is given, only"
        elif again.tobytes() != first.tobytes():
            problem = "the stored parameters give another image: what is drawn must stand in the record"
        elif moved := [name for name, state in _random_states().items() if state != before.get(name, state)]:
            problem = f"it draws from the global generator of {moved[0]}: draw from the one that is given"
        elif not unchanged:
            problem = "it changes the image that it is given: work on a copy"
        if problem:
            self._add_problem(f"{location}: {problem}")
        return not problem

    def _restore_parameters(self, drawn: Any) -> Any:
        """The parameters after pickling and after JSON, which must equal ``drawn``."""
        if pickle.loads(pickle.dumps(drawn)) != drawn:
            raise UserError("its parameters are others after pickling")
        content = json.loads(json.dumps(drawn.to_json()))
        read = degradations.parameters_from_json(self._name, content, self._modality)
        if read != drawn:
            raise UserError(
                f"its parameters are others after a log: {read!r}, not {drawn!r}. Use numbers, texts, tuples"
            )
        return read

    def _leaves_input(self, picture: Image.Image, drawn: Any) -> bool:
        if self._own.function is not None:
            copy = picture.copy()
            strength_argument = {self._own.takes: drawn.level} if self._own.takes else {}
            self._own.function(copy, np.random.default_rng(drawn.seed), **strength_argument)
            return copy.tobytes() == picture.tobytes()
        unit = np.asarray(picture.convert("L"), np.float32) / 255
        given_unit = unit.copy()
        degraded = np.asarray(self._own.made.apply(given_unit, drawn))
        if np.mean((degraded < -_BEYOND) | (degraded > 1 + _BEYOND)) > _MOST:
            raise UserError(
                f"apply gave values from {degraded.min():.3g} to {degraded.max():.3g}. An image comes as 0 to 1 and is "
                "to be given back so; what is outside is cut off. Divide numbers that are meant for 0 to 255 by 255"
            )
        return bool((given_unit == unit).all())

    def _check_order(self) -> None:
        """Warn if level 2 has no lower PSNR than level 1 on an image of the task."""
        distances = []
        for number, (id_, picture, modality) in enumerate(_task_images(self._task)):
            clean = np.asarray(pictures.to_rgb8(picture))
            try:
                ratios = [
                    psnr(clean, np.asarray(pictures.to_rgb8(self._degrade(picture, level, modality or self._modality))))
                    for level in self._own.levels
                ]
            except UserError as error:
                self._add_problem(f"question {id_!r}: {error}")
                return
            if number == 0 and np.isinf(ratios[0]):
                self._add_problem(f"level 1 leaves the image of question {id_!r} as it is", "warning")
            if len(ratios) == 2 and not ratios[1] < ratios[0]:
                distances.append(f"{id_!r}: {ratios[0]:.2f} and {ratios[1]:.2f} dB")
        if distances:
            message = "level 2 is not further from the clean image than level 1, as PSNR tells it, for question"
            self._add_problem(f"{message} {'; '.join(distances)}", "warning")

    def _check_above_level_2(self) -> None:
        """Warn of the first strength above 2 that fails or is milder than 2: settings are extrapolated."""
        picture = _make_image((64, 48), "RGB")
        level_2 = psnr(np.asarray(picture), np.asarray(self._degrade(picture, 2, self._modality)))
        for strength in _STRENGTHS:
            try:
                degraded = degradations.apply(
                    picture, self._name, strength=strength, seed=_SEED, modality=self._modality, force=True
                )
            except UserError as error:
                problem = str(error)
            else:
                ratio = psnr(np.asarray(picture), np.asarray(degraded))
                if ratio <= level_2 + _ALLOWED:
                    continue
                problem = f"it is closer to the clean image than level 2, {ratio:.2f} and {level_2:.2f} dB PSNR."
            if self._own.function is None:
                settings = registry.get_settings_at(self._name, strength, self._modality)[1]
                problem += (
                    f" Beyond level 2 the settings go on as from level 1 to 2 (here {dict(settings)}). Let `sample` "
                    "stop them where they would do less."
                )
            self._add_problem(f"at strength {strength:g}: {problem}", "warning")
            return


_STRENGTHS = tuple(2 + step / 20 for step in range(1, 21))
_ALLOWED = 0.5
"""In dB: by how much a strength above 2 may be milder than level 2, as noise of other draws is."""

_BEYOND, _MOST = 0.5, 0.5
"""Where most values are further than this outside 0 to 1, they are of another scale: noise goes beyond it a little."""


def _made_up_images() -> Iterator[tuple[str, Image.Image]]:
    """Images of the modes and sizes found in data; the large one last."""
    for mode in ("L", "RGB", "RGBA"):
        for size in ((64, 48), (1, 1)):
            yield f"an image of {size[0]} x {size[1]} pixels, mode {mode!r}", _make_image(size, mode)
    yield f"an image of {_LARGE[0]} x {_LARGE[1]} pixels, mode 'RGB'", _make_image(_LARGE, "RGB")


def _make_image(size: tuple[int, int], mode: str) -> Image.Image:
    channels = len(Image.new(mode, (1, 1)).getbands())
    rows, columns = np.mgrid[: size[1], : size[0]]
    planes = [(40 + 3 * rows + (5 + channel) * columns) % 256 for channel in range(channels)]
    return Image.fromarray(np.stack(planes, axis=-1).squeeze(-1 if channels == 1 else ()).astype(np.uint8))


def _task_images(task: LoadedTask) -> Iterator[tuple[str, Image.Image, str | None]]:
    """Id, clean image and modality of the first questions, one image each."""
    for row in range(min(_SHOWN, len(task.documents))):
        doc = task.documents[row]
        modality = task.settings.get("modality") or doc.get("modality") or None
        for picture in images_of(doc)[:1]:
            yield str(doc["id"]), pictures.open_image(picture), modality


def _random_states() -> dict[str, Any]:
    """The state of each global random generator, by module."""
    numpy_state: Any = np.random.get_state()  # noqa: NPY002 (it is looked at, not drawn from)
    states: dict[str, Any] = {
        "random": sys.modules["random"].getstate(),
        "numpy.random": [part.tobytes() if isinstance(part, np.ndarray) else part for part in numpy_state],
    }
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().tolist()
    return states
