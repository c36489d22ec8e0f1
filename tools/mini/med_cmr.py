"""The mini data of Med-CMR: some of the phantoms' questions about a few pictures, in the form of its release."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.baselines.phantoms import PhantomQuestion, all_questions
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.seeding import seeded_generator
from tools.mini import design, phantoms
from tools.mini.design import Picture
from tools.mini.files import png

Pair = tuple[Picture, PhantomQuestion]

MCQ_PER_DIMENSION, OPEN_PER_DIMENSION = 10, 5
MCQ_PICTURES, OPEN_PICTURES = 3, 1
"""Pictures of each modality."""


def drawn_documents() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The canonical documents: data set -> split -> rows. No question is asked of one picture in both splits."""
    drawn = _Drawn()
    open_pairs = _pairs("open", OPEN_PER_DIMENSION, OPEN_PICTURES, set())
    mcq_pairs = _pairs("mcq", MCQ_PER_DIMENSION, MCQ_PICTURES, {(p.id, q.name) for p, q in open_pairs})
    asked = design.ordered(mcq_pairs, "med_cmr")
    mcq_rows = [
        _row("mcq", number, each.picture, each.question, drawn, list(each.options), LETTERS[each.right])
        for number, each in enumerate(asked, start=1)
    ]
    open_rows = [
        _row("open", number, picture, question, drawn, [], question.answer(picture.facts) or "")
        for number, (picture, question) in enumerate(open_pairs, start=1)
    ]
    return {"med_cmr": {"mcq": mcq_rows, "open": open_rows}}


@functools.cache
def _form() -> Mapping[str, Any]:
    text = Path(__file__).with_name("med_cmr.yml").read_text("utf-8")
    form: dict[str, Any] = yaml.safe_load(text)
    return form


class _Drawn(dict[str, bytes]):
    """Picture id -> PNG, drawn when first asked for, so that rows about one picture share the same bytes object."""

    def of(self, picture: Picture) -> bytes:
        if picture.id not in self:
            self[picture.id] = png(phantoms.draw(picture.modality, picture.facts, picture.rng()))
        return self[picture.id]


def _pictures(count: int) -> list[Picture]:
    """Of each modality the ``count`` pictures of the mini set that most questions can be asked about."""
    found = {asked.picture.id: asked.picture for asked in design.asked()}
    chosen = []
    for modality in phantoms.MODALITIES:
        own = [picture for picture in found.values() if picture.modality == modality]
        own.sort(key=lambda picture: (-len(_askable(picture)), picture.id))
        chosen += own[:count]
    return chosen


def _askable(picture: Picture) -> list[PhantomQuestion]:
    own = [question for question in all_questions() if question.modalities == (picture.modality,)]
    return [question for question in own if question.answer(picture.facts) is not None]


def _pairs(split: str, per_dimension: int, picture_count: int, taken: set[tuple[str, str]]) -> list[Pair]:
    """``per_dimension`` pairs of each dimension, dimensions taking turns; those ``taken`` (picture, question) are out.

    Taken first is what was asked least: the question, the answer to it, then the picture.
    """
    pictures = _pictures(picture_count)
    load: Counter[Any] = Counter()
    columns = []
    for dimension, names in _form()["dimensions"].items():
        rng = seeded_generator("mini med_cmr", split, dimension)
        pool = [
            (picture, question, float(rng.random()))
            for picture in pictures
            for question in _askable(picture)
            if question.name in names and (picture.id, question.name) not in taken
        ]
        column: list[Pair] = []
        while pool and len(column) < per_dimension:
            best = min(pool, key=lambda each: (*_loads(load, each[0], each[1]), each[2]))
            pool.remove(best)
            picture, question, _ = best
            load.update([question.name, (question.name, question.answer(picture.facts)), picture.id])
            column.append((picture, question))
        columns.append(column)
    return [pair for pair in chain.from_iterable(zip_longest(*columns)) if pair is not None]


def _loads(load: Counter[Any], picture: Picture, question: PhantomQuestion) -> tuple[int, int, int]:
    return load[question.name], load[question.name, question.answer(picture.facts)], load[picture.id]


def _row(
    split: str, number: int, picture: Picture, question: PhantomQuestion, drawn: _Drawn, options: list[str], answer: str
) -> dict[str, Any]:
    dimension = next(name for name, names in _form()["dimensions"].items() if question.name in names)
    return {
        "id": f"{split}-{number}",
        "image": {"bytes": drawn.of(picture), "path": None},
        "images": [],
        "question": question.text,
        "options": options,
        "answer": answer,
        "image_id": picture.id,
        "data": "mini",
        "dimension": dimension,
        "index": str(number),
        "subtype": question.name,
        "question_type": question.capability,
        "modality": picture.modality,
        "organ_system": _form()["organ_systems"][picture.modality],
        "visual_description": _description(picture),
    }


def _description(picture: Picture) -> str:
    """What the picture shows, as a sentence made from its facts."""
    facts = "; ".join(f"{fact}: {value}" for fact, value in picture.facts.items() if fact != "modality")
    return f"A drawn {picture.modality} picture that shows {facts}."
