"""The mini data of MedQ-Deg: every question about the phantoms, some pictures degraded, and training rows."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

from lmms_medtasks.baselines.phantoms import PhantomQuestion, all_questions
from lmms_medtasks.data import documents
from lmms_medtasks.seeding import seeded_generator
from tools.mini import design, phantoms
from tools.mini.files import png, png_of

SOURCE = "mini phantoms"

RELEASED_PICTURES = 2
RELEASED_DEGRADATIONS = 2
GENERAL = (
    "object_rotation", "object_movement", "adjust_brightness", "exposure", "reduce_contrast", "gaussian_noise",
    "low_resolution", "motion_blur", "gaussian_blur",
)  # fmt: skip
"""The release form shows these, so that it does not change when degradations of single modalities are added."""

TRAIN_ROWS = 40
"""Training rows for each question and modality."""


def drawn_documents() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The canonical documents: data set -> split -> rows."""
    clean = clean_rows()
    return {"medq_deg": {"clean": clean, "release": release_rows(clean), "train": train_rows()}}


def clean_rows() -> list[dict[str, Any]]:
    """The canonical documents of the split "clean"; questions about one picture share the same bytes object."""
    drawn: dict[str, bytes] = {}
    numbers: Counter[str] = Counter()
    rows = []
    for asked in design.asked():
        picture, question = asked.picture, asked.question
        if picture.id not in drawn:
            pixels = phantoms.draw(picture.modality, picture.facts, picture.rng())
            drawn[picture.id] = png(pixels)
        numbers[picture.id] += 1
        row = _row(question, picture.modality, asked.options, asked.right)
        row["id"] = f"{picture.id}-q{numbers[picture.id]}"
        row["image_id"] = picture.id
        row["image"] = {"bytes": drawn[picture.id], "path": None}
        rows.append(row)
    return rows


def release_rows(clean: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions about a few pictures of each modality again, with the pictures degraded at L1 and at L2."""
    from PIL import Image

    from lmms_medtasks import degradations

    chosen = {
        f"mini-{phantoms.short_name(modality)}-{i:03d}"
        for modality in phantoms.MODALITIES
        for i in range(RELEASED_PICTURES)
    }
    rows = []
    spoilt: dict[tuple[str, str, int], bytes] = {}
    for row in clean:
        if row["image_id"] not in chosen:
            continue
        names = degradations.draw_for_question(
            row["modality"], row["image_id"], count=RELEASED_DEGRADATIONS, among=GENERAL
        )
        for name in names:
            for level in (1, 2):
                key = (row["image_id"], name, level)
                if key not in spoilt:
                    image = Image.open(io.BytesIO(row["image"]["bytes"]))
                    spoilt[key] = png_of(
                        degradations.apply(image, name, severity=level, seed=row["image_id"], modality=row["modality"])
                    )
                rows.append({
                    **row,
                    "id": f"{row['id']}-{name}-L{level}",
                    "image": {"bytes": spoilt[key], "path": None},
                    "degradation": name,
                    "severity": level,
                })  # fmt: skip
    return rows


def train_rows() -> list[dict[str, Any]]:
    """Questions with answers about pictures that are never drawn: their facts are drawn at random, images are null."""
    rows = []
    for question in all_questions():
        for modality in question.modalities:
            rng = seeded_generator("mini train", question.name, modality)
            values = {**phantoms.facts_of(modality), "modality": (modality,)}
            for number in range(TRAIN_ROWS):
                right = None
                while right is None:
                    facts = {fact: str(rng.choice(values[fact])) for fact in question.facts}
                    right = question.answer(facts)
                options = [list(question.options)[i] for i in rng.permutation(len(question.options))]
                row = _row(question, modality, options, options.index(right))
                row["id"] = row["image_id"] = f"mini-train-{question.name}-{phantoms.short_name(modality)}-{number:03d}"
                rows.append(row)
    return rows


def _row(question: PhantomQuestion, modality: str, options: list[str] | tuple[str, ...], right: int) -> dict[str, Any]:
    return {
        "id": "",
        "image": None,
        "images": [],
        "question": question.text,
        "options": list(options),
        "answer": documents.LETTERS[right],
        "image_id": "",
        "data": "mini",
        "modality": modality,
        "degradation": "",
        "severity": 0,
        "capability": question.capability,
        "source": SOURCE,
    }
