"""Uniform over the options: what chance gets."""

from __future__ import annotations

import numpy as np

from lmms_medtasks.baselines.prompts import read_prompt


def answer(prompt: str, rng: np.random.Generator) -> str:
    """A letter drawn uniformly from the prompt's options; "" for an open question."""
    letters = list(read_prompt(prompt).options)
    return letters[int(rng.integers(len(letters)))] if letters else ""
