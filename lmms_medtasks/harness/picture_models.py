"""The baselines that look at pictures as lmms-eval models: ``medtasks_observer``, ``medtasks_pixel_outlier``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lmms_medtasks import folders
from lmms_medtasks.baselines import blind_answers, pixel_outlier
from lmms_medtasks.baselines.observer import Observer
from lmms_medtasks.harness.baseline_models import Baseline


class ObserverModel(Baseline):
    """``medtasks_observer``: a few filters over the mini phantoms' signals, see :mod:`.observer`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._observer = Observer()
        # A benchmark whose phantoms are of another kind has an observer of its own: None where a prompt is none of its.
        self._others = [folders.module(folder, "observer").reply for folder in folders.having("observer.py")]

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        if not pictures:  # shown nothing, it guesses
            return blind_answers.answer_at_random(prompt, rng)
        found = next((said for reply in self._others if (said := reply(pictures, prompt)) is not None), None)
        return found if found is not None else self._observer.answer(pictures[0], prompt, temperature, rng)


class PixelOutlierModel(Baseline):
    """``medtasks_pixel_outlier``: the panel whose pixel statistics are furthest, see :mod:`.pixel_outlier`."""

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        return pixel_outlier.answer(pictures[0], prompt) if pictures else ""
