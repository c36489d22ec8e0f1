"""Which phantoms are drawn, and which questions are asked about them, so that every answer is equally frequent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.baselines.phantoms import PhantomQuestion, all_questions
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from tools.mini import phantoms

PICTURES = 20
"""Pictures of each modality."""

ROUNDS = 2
"""How often each option of a question is the right one."""

SHARED_ROUNDS = 4
"""The same for a question that several modalities share: how often each modality is asked."""

_ATTEMPTS = 200


@dataclass(frozen=True)
class Picture:
    """What is drawn: the picture's id, its modality and the facts that it shows ("modality" is one of them)."""

    id: str
    modality: str
    facts: dict[str, str]

    def rng(self) -> np.random.Generator:
        """The generator that draws this picture: it depends on the id alone."""
        return seeded_generator("mini phantom", self.id)


@dataclass(frozen=True)
class Asked:
    """A question about a picture, with the options in the order in which they are shown."""

    picture: Picture
    question: PhantomQuestion
    options: tuple[str, ...]
    right: int


def pictures(modality: str, set_name: str, count: int = PICTURES, attempt: int = 0) -> list[Picture]:
    """``count`` pictures of ``modality`` whose facts have all their values equally often, independently of each other.

    Where the fact "mark" can be "none", every other value comes twice and the rest of the pictures are unmarked.
    Another ``set_name`` gives other pictures.
    """
    rng = seeded_generator("mini design", set_name, modality, attempt)
    columns: dict[str, list[str]] = {"modality": [modality] * count}
    for fact, values in phantoms.facts_of(modality).items():
        if fact == "mark":
            marked = [value for value in values if value != "none"] * ROUNDS
            cells = (marked + ["none"] * count)[:count]
        else:
            start = int(rng.integers(len(values)))
            cells = [values[(start + i) % len(values)] for i in range(count)]
        columns[fact] = [cells[i] for i in rng.permutation(count)]
    short = phantoms.short_name(modality)
    return [
        Picture(f"{set_name}-{short}-{i:03d}", modality, {fact: cells[i] for fact, cells in columns.items()})
        for i in range(count)
    ]


def asked(set_name: str = "mini") -> list[Asked]:
    """All questions of the bundle, modalities taking turns, so that the first few rows are a broad sample.

    The right option stands at A, B, C ... equally often among the questions with as many options.
    """
    chosen: dict[str, list[tuple[Picture, PhantomQuestion]]] = {}
    for modality in phantoms.MODALITIES:
        pairs = _pairs(modality, set_name)
        order = seeded_generator("mini order", set_name, modality).permutation(len(pairs))
        chosen[modality] = [pairs[i] for i in order]
    longest = max(len(pairs) for pairs in chosen.values())
    turns = [pairs[i] for i in range(longest) for pairs in chosen.values() if i < len(pairs)]
    return ordered(turns, set_name)


def _pairs(modality: str, set_name: str) -> list[tuple[Picture, PhantomQuestion]]:
    for attempt in range(_ATTEMPTS):
        found = _try(pictures(modality, set_name, attempt=attempt), modality, set_name)
        if found is not None:
            return found
    raise UserError(
        f"phantom_questions.yml asks for {modality} answers that no {PICTURES} pictures of set {set_name!r} can have "
        f"equally often ({_ATTEMPTS} designs tried). Make the rules less unequal, or draw more pictures."
    )


def _try(drawn: list[Picture], modality: str, set_name: str) -> list[tuple[Picture, PhantomQuestion]] | None:
    """Choose pictures for every question, least asked first; None if an option lacks pictures or one stays unasked."""
    rng = seeded_generator("mini choice", set_name, modality)
    load = Counter({picture.id: 0 for picture in drawn})
    pairs: list[tuple[Picture, PhantomQuestion]] = []
    for question in all_questions():
        if modality not in question.modalities:
            continue
        shared = len(question.modalities) > 1
        wanted = Counter({option: 0 if shared else ROUNDS for option in question.options})
        if shared:
            wanted[question.answer({"modality": modality}) or ""] = SHARED_ROUNDS
        lots = rng.random(len(drawn))
        for i in sorted(range(len(drawn)), key=lambda i: (load[drawn[i].id], lots[i])):
            option = question.answer(drawn[i].facts)
            if option is not None and wanted[option] > 0:
                wanted[option] -= 1
                load[drawn[i].id] += 1
                pairs.append((drawn[i], question))
        if any(wanted.values()):
            return None
    return pairs if min(load.values()) > 0 else None


def ordered(pairs: list[tuple[Picture, PhantomQuestion]], set_name: str) -> list[Asked]:
    """Put the right option at a place that follows a balanced, shuffled list for its number of options."""
    rng = seeded_generator("mini letters", set_name)
    places: dict[int, Iterator[int]] = {}
    for k in sorted({len(question.options) for _, question in pairs}):
        count = sum(len(question.options) == k for _, question in pairs)
        places[k] = iter([int(place) for place in rng.permutation(np.arange(count) % k)])
    return [_shuffled(picture, question, next(places[len(question.options)]), rng) for picture, question in pairs]


def _shuffled(picture: Picture, question: PhantomQuestion, place: int, rng: np.random.Generator) -> Asked:
    right = question.answer(picture.facts)
    wrong = [option for option in question.options if option != right]
    options = [wrong[i] for i in rng.permutation(len(wrong))]
    options.insert(place, right or "")
    return Asked(picture, question, tuple(options), place)
