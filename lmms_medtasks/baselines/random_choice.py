"""Uniform over the answers that a prompt allows: what chance gets."""

from __future__ import annotations

import numpy as np

from lmms_medtasks.baselines.read_prompts import open_reply, read_prompt, spoken_answers, wants_reasoning


def answer(prompt: str, rng: np.random.Generator) -> str:
    """One of the prompt's options by its letter; else one of the answers that it says are possible: "yes" or "no", or a
    position in a grid or "none".

    Any other open question has nothing to draw from. Where it asks for reasoning and answer, the reply has both parts
    and says that there is no answer, which a judge should find wrong; else it is "".
    """
    if wants_reasoning(prompt):
        return open_reply(prompt, "there are no options to draw one from at random.", "I cannot answer.")
    answers = list(read_prompt(prompt).options) or spoken_answers(prompt)
    return answers[int(rng.integers(len(answers)))] if answers else ""
