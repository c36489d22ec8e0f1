"""``medtasks_observer``: a model observer in the sense of image-quality research, for the phantoms of the mini data.

For every fact that a phantom can show there is a bank of filters matched to the signals (:mod:`.observer_grey`,
:mod:`.observer_colour`). Their responses are compared with the mean responses that each value of the fact gives,
prewhitened by the responses' covariance: a channelised Hotelling observer (Myers and Barrett, J. Opt. Soc. Am. A 4,
1987; Barrett and Myers, Foundations of Image Science, 2004, 14.3) with more than two classes. The covariance is the sum
of what varies between phantoms, the observer's internal noise, and the noise that the picture itself seems to have.

It sees the picture and the prompt, as any model does, and nothing else.
"""

from __future__ import annotations

import functools
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks.baselines import observer_colour, observer_grey
from lmms_medtasks.baselines.observer_view import View
from lmms_medtasks.baselines.phantom_questions import Question, added_questions, all_questions
from lmms_medtasks.baselines.prompts import open_reply, read_prompt, spoken_answers

FEATURES = {**observer_grey.FEATURES, **observer_colour.FEATURES}

INTERNAL_NOISE = 0.5
"""Variance of the observer's internal noise, in multiples of each response's own variance between phantoms."""

DEGREES_OF_FREEDOM = 6.0
"""Of the Student t distribution that responses are taken to follow: far from all it knows, the observer gets unsure."""

UNFAMILIAR = 6.0
"""Mean squared distance of the responses from a value's mean, in variances, at which the value explains them no better
than that the picture shows something else, which says nothing about the value."""

REMEMBERED = 256
"""Pairs of picture and prompt whose probabilities are kept, so that trials cost one look."""


@dataclass(frozen=True)
class Knowledge:
    """What the observer knows about one fact: its values, their mean responses (values, filters), and spreads."""

    values: tuple[str, ...]
    means: NDArray[np.float64]
    within: NDArray[np.float64]
    noise: NDArray[np.float64]


@functools.cache
def knowledge() -> dict[tuple[str, str], Knowledge]:
    """(modality, fact) -> what observer.json says of it."""
    return {
        tuple(name.split("/")): Knowledge(  # type: ignore[misc]
            values=tuple(entry["means"]),
            means=np.array(list(entry["means"].values())),
            within=np.array(entry["within"]),
            noise=np.array(entry["noise"]),
        )
        for name, entry in _file()["facts"].items()
    }


@functools.cache
def _file() -> dict[str, Any]:
    text = resources.files("lmms_medtasks.baselines").joinpath("observer.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


@functools.cache
def _questions() -> dict[str, Question]:
    known = {fact for _, fact in FEATURES}  # not the sex of a phantom
    return {_folded(each.text): each for each in (*all_questions(), *added_questions()) if known.issuperset(each.facts)}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def log_likelihoods(responses: NDArray[np.float64], known: Knowledge, extra_noise: float) -> dict[str, float]:
    """Value -> log likelihood of ``responses``, up to a constant; ``extra_noise`` is a variance in squared levels.

    The likelihood is that of the value, or of a picture of something else, where it is the same for all values.
    """
    within = known.within + np.diag(INTERNAL_NOISE * np.diag(known.within) + extra_noise * known.noise + 1e-9)
    offset = known.means - responses
    distance = np.einsum("vi,vi->v", offset, np.linalg.solve(within, offset.T).T)
    size = len(responses)
    floor = _log_density(np.array([UNFAMILIAR * size]), size)
    scores = np.logaddexp(_log_density(distance, size), floor)
    return dict(zip(known.values, scores.tolist(), strict=True))


def _log_density(distance: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Of a Student t distribution of ``size`` dimensions at squared Mahalanobis distances, up to a constant."""
    return -0.5 * (DEGREES_OF_FREEDOM + size) * np.log1p(distance / DEGREES_OF_FREEDOM)


class Observer:
    """Answers the mini data's questions from pictures; to anything else every option is equally likely to it.

    Of an open question it knows, besides the picture, which answers are possible: those of the mini data's question.
    """

    def __init__(self) -> None:
        self._remembered: OrderedDict[tuple[int, str], dict[str, float]] = OrderedDict()

    def responses(self, image: Image.Image, prompt: str) -> dict[str, float]:
        """Option letter -> log likelihood of the picture if that option were right, up to a constant.

        All zero where the question or the picture says nothing to the observer; empty for an open question.
        """
        asked = read_prompt(prompt)
        question = _questions().get(_folded(asked.question))
        letters = {_folded(text): letter for letter, text in asked.options.items()}
        nothing = dict.fromkeys(asked.options, 0.0)
        if question is None or set(letters) != {_folded(option) for option in question.options}:
            return nothing
        key = (hash((image.size, image.mode, image.tobytes())), prompt)
        if key not in self._remembered:
            scores = _option_scores(image, question)
            self._remembered[key] = {letters[_folded(option)]: score for option, score in scores.items()} or nothing
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        found = self._remembered[key]
        return {letter: found[letter] for letter in asked.options}

    def probabilities(self, image: Image.Image, prompt: str, temperature: float = 1.0) -> dict[str, float]:
        """Option letter -> probability: softmax of :meth:`responses` over ``temperature``, at 0 all on the largest.

        Ties at temperature 0 share the probability. The values add up to 1; empty for an open question.
        """
        return _softmax(self.responses(image, prompt), temperature)

    def answer(self, image: Image.Image, prompt: str, temperature: float, rng: np.random.Generator) -> str:
        """A letter drawn from :meth:`probabilities`; to an open question of the mini data the text of an option that it
        knows to be possible, drawn alike, with a line of reasoning if the prompt asks for it; else the empty text."""
        probabilities = self.probabilities(image, prompt, temperature)
        if probabilities:
            return _drawn(probabilities, rng)
        question = _questions().get(_folded(read_prompt(prompt).question))
        scores = _option_scores(image, question) if question is not None else {}
        if not scores:
            possible = spoken_answers(prompt)
            return possible[int(rng.integers(len(possible)))] if possible else ""
        chosen = _drawn(_softmax(scores, temperature), rng)
        return open_reply(prompt, f"matched filters see this most of {len(scores)} possible findings.", chosen)


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
    if float(view.rgb.max() - view.rgb.min()) < 2.0:
        return {}
    facts = {fact: _fact_scores(view, question, fact) for fact in question.facts}
    cases: dict[str, list[float]] = {option: [] for option in question.options}
    for combination, option in question.cases({fact: tuple(scores) for fact, scores in facts.items()}):
        cases[option].append(sum(facts[fact][value] for fact, value in combination.items()))
    return {option: _log_mean_exp(scores) for option, scores in cases.items()}


def _fact_scores(view: View, question: Question, fact: str) -> Mapping[str, float]:
    owner = "any" if fact == "modality" else question.modalities[0]
    texture = np.mean([_file()["texture"][modality] for modality in question.modalities])
    extra = max(view.noise_level() ** 2 - float(texture) ** 2, 0.0)
    scores = log_likelihoods(FEATURES[owner, fact](view), knowledge()[owner, fact], extra)
    if fact == "modality":
        return {value: scores[value] for value in question.modalities}
    return scores


def _log_mean_exp(scores: Sequence[float]) -> float:
    top = max(scores)
    return float(top + np.log(np.mean(np.exp(np.array(scores) - top))))
