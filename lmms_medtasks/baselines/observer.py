"""``medtasks_observer``: a small model of an observer for the phantoms of the mini data, for smoke tests and examples.

Of every fact that a phantom can show it knows a few filters' responses (:mod:`.observer_filters`): the mean for each
value of the fact and the covariance within a value, measured on other phantoms than those of the mini data
(``tools/observer_training.py``). The responses to a picture are compared with those means in units of the covariance,
as a Hotelling observer does (Barrett and Myers, Foundations of Image Science, 2004, 14.3). It sees the picture and the
prompt, as any model does, and nothing else. A fact without filters it cannot see: it guesses.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks.baselines.observer_filters import FILTERS, View, responses
from lmms_medtasks.baselines.phantom_questions import Question, added_questions, all_questions
from lmms_medtasks.baselines.read_prompts import open_reply, read_prompt, spoken_answers

INTERNAL_NOISE = 0.5
"""Variance of the observer's internal noise, in multiples of each response's own variance between phantoms."""

DEGREES_OF_FREEDOM = 6.0
"""Of the Student t distribution that responses are taken to follow: far from all it knows, the observer gets unsure."""


@functools.cache
def knowledge() -> dict[str, Any]:
    """Modality/fact -> ``means``: value -> mean responses, and ``within``: their covariance."""
    text = resources.files("lmms_medtasks.baselines").joinpath("observer.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@functools.cache
def _questions() -> dict[str, Question]:
    return {_folded(each.text): each for each in (*all_questions(), *added_questions())}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def log_likelihoods(found: NDArray[np.float64], known: Mapping[str, Any]) -> dict[str, float]:
    """Value -> log likelihood of the responses ``found``, up to a constant: of a Student t distribution."""
    within = np.array(known["within"])
    within = within + np.diag(INTERNAL_NOISE * np.diag(within) + 1e-9)
    offset = np.array(list(known["means"].values())) - found
    distance = np.einsum("vi,vi->v", offset, np.linalg.solve(within, offset.T).T)
    scores = -0.5 * (DEGREES_OF_FREEDOM + len(found)) * np.log1p(distance / DEGREES_OF_FREEDOM)
    return dict(zip(known["means"], scores.tolist(), strict=True))


class Observer:
    """Answers the mini data's questions from pictures; to anything else every option is equally likely to it.

    Of an open question it knows, besides the picture, which answers are possible: those of the mini data's question.
    """

    def __init__(self) -> None:
        self._last: tuple[Image.Image, Question, dict[str, float]] | None = None  # so that trials cost one look

    def probabilities(self, image: Image.Image, prompt: str, temperature: float = 1.0) -> dict[str, float]:
        """Option letter -> probability: softmax of log likelihoods over ``temperature``, at 0 all on the largest.

        Equal where the question or the picture says nothing to the observer; ties at temperature 0 share the
        probability. The values add up to 1; empty for an open question.
        """
        asked = read_prompt(prompt)
        question = _questions().get(_folded(asked.question))
        scores: Mapping[str, float] = {}
        if question is not None and set(map(_folded, asked.options.values())) == set(map(_folded, question.options)):
            scores = {_folded(option): score for option, score in self._scores(image, question).items()}
        return _softmax({letter: scores.get(_folded(text), 0.0) for letter, text in asked.options.items()}, temperature)

    def answer(self, image: Image.Image, prompt: str, temperature: float, rng: np.random.Generator) -> str:
        """A letter drawn from :meth:`probabilities`; to an open question of the mini data the text of an option that it
        knows to be possible, drawn alike, with a line of reasoning if the prompt asks for it; else the empty text."""
        probabilities = self.probabilities(image, prompt, temperature)
        if probabilities:
            return _drawn(probabilities, rng)
        question = _questions().get(_folded(read_prompt(prompt).question))
        scores = self._scores(image, question) if question is not None else {}
        if not scores:
            possible = spoken_answers(prompt)
            return possible[int(rng.integers(len(possible)))] if possible else ""
        chosen = _drawn(_softmax(scores, temperature), rng)
        return open_reply(prompt, f"matched filters see this most of {len(scores)} possible findings.", chosen)

    def _scores(self, image: Image.Image, question: Question) -> dict[str, float]:
        if self._last is None or self._last[0] is not image or self._last[1] is not question:
            self._last = (image, question, _option_scores(image, question))
        return self._last[2]


def _softmax(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    """Probabilities from log likelihoods over ``temperature``; at 0 all on the largest, ties share it."""
    if not scores:
        return {}
    values = np.array(list(scores.values()))
    values -= values.max()
    weights = np.exp(values / temperature) if temperature > 0 else (values == 0).astype(float)
    return dict(zip(scores, (weights / weights.sum()).tolist(), strict=True))


def _drawn(probabilities: Mapping[str, float], rng: np.random.Generator) -> str:
    return str(rng.choice(list(probabilities), p=list(probabilities.values())))


def _option_scores(image: Image.Image, question: Question) -> dict[str, float]:
    """Option -> log of the mean likelihood over the facts that make it right; empty for a picture without content."""
    view = View(image)
    if float(np.ptp(view.rgb)) < 2.0:
        return {}
    facts: dict[str, dict[str, float]] = {}
    for fact in question.facts:
        owner = "any" if fact == "modality" else question.modalities[0]
        if (owner, fact) in FILTERS:
            facts[fact] = log_likelihoods(responses(view, owner, fact), knowledge()[f"{owner}/{fact}"])
        else:  # the values that the question names, and any other, are equally likely
            named = (condition.get(fact, ()) for condition in question.options.values())
            facts[fact] = dict.fromkeys(("other", *(value for values in named for value in values)), 0.0)
    possible = {fact: question.modalities if fact == "modality" else tuple(facts[fact]) for fact in facts}
    cases: dict[str, list[float]] = {option: [] for option in question.options}
    for combination, option in question.cases(possible):
        cases[option].append(sum(facts[fact][value] for fact, value in combination.items()))
    return {option: float(np.logaddexp.reduce(scores) - np.log(len(scores))) for option, scores in cases.items()}
