"""``medtasks_observer``: a small model of an observer for the phantoms of the mini data, for smoke tests and examples.

For every fact that a phantom can show it knows the responses of a few filters (:data:`FILTERS`): the mean for each
value of the fact and the covariance within a value, measured on phantoms that are not in the mini data
(``tools/observer_training.py``). The responses to a picture are compared with those means in units of the covariance,
as a Hotelling observer does (Barrett and Myers, Foundations of Image Science, 2004, 14.3). It sees the picture and the
prompt, as any model does, and nothing else. A fact without filters it cannot see: it guesses.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.phantoms import PhantomQuestion, Point, added_questions, all_questions
from lmms_medtasks.baselines.read_prompts import open_reply, read_prompt, spoken_answers
from lmms_medtasks.data.table_cells import fold_cell

SIDE = 128
"""Every picture is resampled to SIDE by SIDE pixels; places are in unit coordinates, [-1, 1], x right and y down."""

Plane = NDArray[np.float64]

_PLANES = {  # weights of red, green and blue; levels are 0..255
    "grey": (0.30, 0.59, 0.11),
    "r": (1.0, 0.0, 0.0),
    "g": (0.0, 1.0, 0.0),
    "b": (0.0, 0.0, 1.0),
    "red": (1.0, -0.5, -0.5),
    "green": (-0.5, 1.0, -0.5),
    "blue": (-0.5, -0.5, 1.0),
}


class FilterBank(NamedTuple):
    """Responses of one kind and several radii at some places, the largest within ``reach`` of each.

    ``kind``: "level" (mean within a radius), "spot" (a disc of that radius, brighter than its surroundings), "hole"
    (darker), "either" (brighter or darker), "texture" (log of the standard deviation of detail finer than the radius).
    ``ranked``: largest response first, wherever it is, so that things can be counted.
    """

    kind: str
    plane: str
    radii: tuple[float, ...]
    places: Sequence[Point]
    reach: float = 0.0
    ranked: bool = False

    def responses(self, view: FilteredImage) -> list[float]:
        """One response a radius and place."""
        values = []
        for radius in self.radii:
            plane = view.response(self.kind, self.plane, radius)
            largest = [_largest_near(plane, point, self.reach) for point in self.places]
            values += sorted(largest, reverse=True) if self.ranked else largest
        return values


class FilteredImage:
    """A picture on the fixed grid, and the responses computed so far."""

    def __init__(self, image: Image.Image) -> None:
        small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        self.rgb = np.asarray(small, dtype=np.float64)
        self._known: dict[tuple[str, str, float], Plane] = {}

    def response(self, kind: str, plane: str, radius: float) -> Plane:
        """The response of a kind of :class:`FilterBank` at every pixel, (SIDE, SIDE)."""
        key = (kind, plane, radius)
        if key not in self._known:
            self._known[key] = self._compute_response(kind, plane, radius)
        return self._known[key]

    def _compute_response(self, kind: str, plane: str, radius: float) -> Plane:
        if kind == "level":
            return _blur_plane(self.rgb @ np.array(_PLANES[plane]), radius)
        if kind == "texture":
            detail = self.rgb @ np.array(_PLANES[plane]) - self.response("level", plane, radius)
            return np.log(np.sqrt(_blur_plane(detail**2, 0.15)) + 1.0)
        spot = self.response("level", plane, 0.6 * radius) - self.response("level", plane, 1.3 * radius)
        return {"spot": spot, "hole": -spot, "either": np.abs(spot)}[kind]


def _blur_plane(plane: Plane, radius: float) -> Plane:
    return ndimage.gaussian_filter(plane, radius * SIDE / 2, mode="nearest", truncate=3.0)


def _largest_near(plane: Plane, point: Point, reach: float) -> float:
    column, row = (min(max(round((v + 1.0) * SIDE / 2 - 0.5), 0), SIDE - 1) for v in point)
    span = round(reach * SIDE / 2)
    return float(plane[max(row - span, 0) : row + span + 1, max(column - span, 0) : column + span + 1].max())


def _lattice_points(count: int, reach: float) -> list[Point]:
    steps = np.linspace(-reach, reach, count).tolist()
    return [(x, y) for y in steps for x in steps]


def _mirror_points(*points: Point) -> list[Point]:
    return [(side * x, y) for side in (-1, 1) for x, y in points]


_WHOLE = (0.5,), [(0.0, 0.0)]  # radii and places of the whole picture
_KIDNEYS = [*places.CT_KIDNEYS.values()]
_TUMOURS = [*places.MRI_MASS_SITES.values()]
_ANGLES = [*places.XRAY_ANGLES.values()]
_MASSES, _BEHIND = ([places.at_depth(d, a) for a in places.ULTRASOUND_MASS_ANGLES.values()] for d in (0.53, 0.77))
_CYSTS = [places.at_depth(0.27, angle) for angle in places.ULTRASOUND_CYST_ANGLES]
_QUARTERS = [*places.HISTOPATHOLOGY_QUARTERS.values()]
_POLYPS = [*places.ENDOSCOPY_POLYPS.values()]
_RINGS = [(r * x, r * y) for r in (0.24, 0.36, 0.47, 0.58, 0.84) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
_RED_MARK = [FilterBank("level", "red", (0.12,), _lattice_points(3, 0.5))]

FILTERS: Mapping[tuple[str, str], Sequence[FilterBank]] = {
    ("CT", "lesions"): [FilterBank("hole", "grey", (0.05,), places.CT_LESION_SITES, 0.05, ranked=True)],
    ("CT", "stones"): [
        FilterBank("spot", "grey", (0.03,), _KIDNEYS, 0.06),
        FilterBank("level", "grey", (0.016,), [*_KIDNEYS, (-0.44, 0.0)], 0.06),
    ],
    ("CT", "spleen"): [
        FilterBank(
            "level", "grey", (0.02,), [(0.55 - 0.3 * d, 0.10 + d) for d in (-0.29, -0.24, -0.18, 0, 0.18, 0.24, 0.29)]
        )
    ],
    ("CT", "vessel"): [FilterBank("level", "grey", (0.03,), [places.CT_AORTA, *_mirror_points((0.17, 0.52))])],
    ("CT", "mark"): _RED_MARK,
    ("MRI", "spots"): [FilterBank("spot", "grey", (0.03,), places.MRI_SPOT_SITES, 0.04, ranked=True)],
    ("MRI", "mass"): [FilterBank("spot", "grey", (0.10,), _TUMOURS, 0.06)],
    ("MRI", "core"): [FilterBank("spot", "grey", (0.03, 0.06, 0.10), _TUMOURS, 0.06, ranked=True)],
    ("MRI", "ventricles"): [
        FilterBank("either", "grey", (0.04, 0.10), _mirror_points((0.075, -0.16), (0.085, -0.24), (0.152, 0.28)))
    ],
    ("MRI", "weighting"): [
        FilterBank("level", "grey", (0.03,), _mirror_points((0.36, -0.12), (0.075, -0.16), (0.20, 0.03), (0.635, 0.0)))
    ],
    ("MRI", "mark"): _RED_MARK,
    ("X-ray", "nodules"): [FilterBank("spot", "grey", (0.045,), places.XRAY_NODULE_SITES, 0.04, ranked=True)],
    ("X-ray", "opacity"): [FilterBank("spot", "grey", (0.13,), [*places.XRAY_OPACITY_SITES.values()], 0.04)],
    ("X-ray", "heart"): [
        FilterBank("level", "grey", (0.025,), [(x, 0.28) for x in (0.12, 0.28, 0.34, 0.40, 0.46, 0.52, 0.62)])
    ],
    ("X-ray", "density"): [
        FilterBank("level", "grey", (0.05,), _mirror_points((0.34, -0.40), (0.46, -0.02), (0.44, 0.32)))
    ],
    ("X-ray", "effusion"): [FilterBank("level", "grey", (0.05,), [*_ANGLES, *_mirror_points((0.60, 0.12))])],
    ("X-ray", "device"): [
        FilterBank("spot", "grey", (0.055, 0.10), [(0.58, -0.40), (-0.55, -0.38)], 0.03),
        FilterBank("spot", "grey", (0.016,), _mirror_points((0.028, -0.9), (0.028, -0.72), (0.028, -0.54)), 0.02),
    ],
    ("X-ray", "mark"): _RED_MARK,
    ("Ultrasound", "cysts"): [FilterBank("hole", "grey", (0.045,), _CYSTS, 0.035, ranked=True)],
    ("Ultrasound", "place"): [FilterBank("either", "grey", (0.12,), _MASSES, 0.04)],
    ("Ultrasound", "size"): [FilterBank("either", "grey", (0.08, 0.13, 0.19), _MASSES, 0.04, ranked=True)],
    ("Ultrasound", "echo"): [
        FilterBank(kind, "grey", (0.12,), _MASSES, 0.04, ranked=True) for kind in ("spot", "hole")
    ],
    ("Ultrasound", "behind"): [
        FilterBank(kind, "grey", (0.12,), _BEHIND, 0.04, ranked=True) for kind in ("spot", "hole")
    ],
    ("Ultrasound", "mark"): _RED_MARK,
    ("Dermoscopy", "milia"): [FilterBank("spot", "g", (0.03,), _lattice_points(3, 0.2), 0.1, ranked=True)],
    ("Dermoscopy", "veil"): [FilterBank("level", "b", (0.1,), _RINGS[:12])],
    ("Dermoscopy", "size"): [FilterBank("level", "g", (0.03,), _RINGS[::2])],
    ("Dermoscopy", "pigment"): [FilterBank("level", plane, (0.15,), [(0.0, 0.0)]) for plane in ("r", "g", "b")],
    ("Dermoscopy", "mark"): [FilterBank("level", "green", (0.1,), _lattice_points(3, 0.6))],
    ("Histopathology", "mitoses"): [
        FilterBank("hole", "r", (0.055,), places.HISTOPATHOLOGY_MITOSIS_SITES, 0.025, ranked=True)
    ],
    ("Histopathology", "inflammation"): [FilterBank("level", "r", (0.14,), _QUARTERS)],
    ("Histopathology", "cells"): [
        FilterBank("texture", "r", (0.04,), _QUARTERS),
        *(FilterBank("level", plane, *_WHOLE) for plane in ("r", "g")),
    ],
    ("Histopathology", "stain"): [FilterBank("level", plane, *_WHOLE) for plane in ("r", "g", "b")],
    ("Histopathology", "pattern"): [
        FilterBank("spot", "g", (0.20,), _QUARTERS, 0.10, ranked=True),
        FilterBank("texture", "g", (0.02, 0.05, 0.1), [(0.0, 0.0)]),
    ],
    ("Histopathology", "mark"): [FilterBank("level", plane, (0.03, 0.08), [(0.0, 0.0)]) for plane in ("r", "g")],
    ("Endoscopy", "ulcers"): [FilterBank("spot", "g", (0.05,), places.ENDOSCOPY_ULCER_SITES, 0.03, ranked=True)],
    ("Endoscopy", "polyp"): [FilterBank("spot", "red", (0.13,), _POLYPS, 0.06)],
    ("Endoscopy", "kind"): [FilterBank("spot", "red", (0.05, 0.1, 0.2), _POLYPS, 0.09, ranked=True)],
    ("Endoscopy", "bleeding"): [
        FilterBank("level", "grey", (0.03,), [(0.72, 0.12), (0.20, 0.72), (0.35, 0.73), (0.20, 0.55)])
    ],
    ("Endoscopy", "tool"): [
        FilterBank("level", "red", (0.02,), [(-0.255, 0.82), (-0.52, 0.12)]),
        FilterBank(
            "spot", "b", (0.03,), [(-0.28, 0.39), (0.04, 0.33), (-0.07, 0.11), (-0.18, 0.34), (-0.08, 0.35)], 0.02
        ),
    ],
    ("Endoscopy", "lumen"): [FilterBank("level", "grey", (0.08,), [*places.ENDOSCOPY_LUMENS.values()])],
    ("Endoscopy", "mucosa"): [
        FilterBank("level", plane, (0.08,), [(-0.74, 0.30), (0.74, 0.28)]) for plane in ("r", "g", "b")
    ],
    ("Endoscopy", "mark"): [FilterBank("level", "green", (0.05,), _lattice_points(4, 0.6), 0.15)],
    ("any", "modality"): [
        FilterBank("level", "grey", (0.12,), _lattice_points(4, 0.75)),
        *(FilterBank("level", plane, *_WHOLE) for plane in ("red", "blue")),
    ],
}
"""(modality, fact) -> its filters. The structure of a skin lesion and the shape of a mass are beyond such filters."""


def filter_responses(view: FilteredImage, owner: str, fact: str) -> NDArray[np.float64]:
    """All responses of a fact's filters, in order."""
    return np.array([value for bank in FILTERS[owner, fact] for value in bank.responses(view)])


INTERNAL_NOISE = 0.5
"""Variance of the observer's internal noise, in multiples of each response's own variance between phantoms."""

DEGREES_OF_FREEDOM = 6.0
"""Of the Student t distribution that responses are taken to follow: far from all it knows, the observer gets unsure."""


@functools.cache
def load_knowledge() -> dict[str, Any]:
    """Modality/fact -> ``means``: value -> mean responses, and ``within``: their covariance."""
    text = resources.files("lmms_medtasks.baselines").joinpath("observer.json").read_text("utf-8")
    means_by_fact: dict[str, Any] = json.loads(text)
    return means_by_fact


@functools.cache
def _load_questions() -> dict[str, PhantomQuestion]:
    return {fold_cell(question.text): question for question in (*all_questions(), *added_questions())}


def log_likelihoods(observed: NDArray[np.float64], known: Mapping[str, Any]) -> dict[str, float]:
    """Value -> log likelihood of the responses ``observed``, up to a constant: of a Student t distribution."""
    within = np.array(known["within"])
    within = within + np.diag(INTERNAL_NOISE * np.diag(within) + 1e-9)
    offset = np.array(list(known["means"].values())) - observed
    distance = np.einsum("vi,vi->v", offset, np.linalg.solve(within, offset.T).T)
    scores = -0.5 * (DEGREES_OF_FREEDOM + len(observed)) * np.log1p(distance / DEGREES_OF_FREEDOM)
    return dict(zip(known["means"], scores.tolist(), strict=True))


class PhantomObserver:
    """Answers the mini data's questions from pictures; to anything else every option is equally likely to it.

    Of an open question it knows, besides the picture, which answers are possible: those of the mini data's question.
    """

    def __init__(self) -> None:
        self._last: tuple[Image.Image, PhantomQuestion, dict[str, float]] | None = None  # so that trials cost one look

    def probabilities(self, image: Image.Image, prompt: str, temperature: float = 1.0) -> dict[str, float]:
        """Option letter -> probability: softmax of log likelihoods over ``temperature``, at 0 all on the largest.

        Equal where the question or the picture says nothing to the observer; ties at temperature 0 share the
        probability. The values add up to 1; empty for an open question.
        """
        shown = read_prompt(prompt)
        question = _load_questions().get(fold_cell(shown.question))
        options = {letter: fold_cell(text) for letter, text in shown.options.items()}
        scores: Mapping[str, float] = {}
        if question is not None and set(options.values()) == set(map(fold_cell, question.options)):
            scores = {fold_cell(option): score for option, score in self._cached_scores(image, question).items()}
        return _softmax_scores({letter: scores.get(option, 0.0) for letter, option in options.items()}, temperature)

    def answer(self, image: Image.Image, prompt: str, temperature: float, rng: np.random.Generator) -> str:
        """A letter drawn from :meth:`probabilities`; to an open question of the mini data the text of an option that it
        knows to be possible, drawn alike, with a line of reasoning if the prompt asks for it; else the empty text."""
        probabilities = self.probabilities(image, prompt, temperature)
        if probabilities:
            return _draw_option(probabilities, rng)
        question = _load_questions().get(fold_cell(read_prompt(prompt).question))
        scores = self._cached_scores(image, question) if question is not None else {}
        if not scores:
            possible = spoken_answers(prompt)
            return possible[int(rng.integers(len(possible)))] if possible else ""
        chosen = _draw_option(_softmax_scores(scores, temperature), rng)
        return open_reply(prompt, f"matched filters see this most of {len(scores)} possible findings.", chosen)

    def _cached_scores(self, image: Image.Image, question: PhantomQuestion) -> dict[str, float]:
        if self._last is None or self._last[0] is not image or self._last[1] is not question:
            self._last = (image, question, _option_scores(image, question))
        return self._last[2]


def _softmax_scores(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    """Probabilities from log likelihoods over ``temperature``; at 0 all on the largest, ties share it."""
    if not scores:
        return {}
    values = np.array(list(scores.values()))
    values -= values.max()
    weights = np.exp(values / temperature) if temperature > 0 else (values == 0).astype(float)
    return dict(zip(scores, (weights / weights.sum()).tolist(), strict=True))


def _draw_option(probabilities: Mapping[str, float], rng: np.random.Generator) -> str:
    return str(rng.choice(list(probabilities), p=list(probabilities.values())))


def _option_scores(image: Image.Image, question: PhantomQuestion) -> dict[str, float]:
    """Option -> log of the mean likelihood over the facts that make it right; empty for a picture without content."""
    view = FilteredImage(image)
    if float(np.ptp(view.rgb)) < 2.0:
        return {}
    facts: dict[str, dict[str, float]] = {}
    for fact in question.facts:
        owner = "any" if fact == "modality" else question.modalities[0]
        if (owner, fact) in FILTERS:
            facts[fact] = log_likelihoods(filter_responses(view, owner, fact), load_knowledge()[f"{owner}/{fact}"])
        else:  # the values that the question names, and any other, are equally likely
            named = (condition.get(fact, ()) for condition in question.options.values())
            facts[fact] = dict.fromkeys(("other", *(value for values in named for value in values)), 0.0)
    possible = {fact: question.modalities if fact == "modality" else tuple(facts[fact]) for fact in facts}
    cases: dict[str, list[float]] = {option: [] for option in question.options}
    for combination, option in question.cases(possible):
        cases[option].append(sum(facts[fact][value] for fact, value in combination.items()))
    return {option: float(np.logaddexp.reduce(scores) - np.log(len(scores))) for option, scores in cases.items()}
