"""The mini data of Bones and Joints: cases made of bone phantoms with short made-up texts, and exam questions."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.bones_joints import phantom as bone
from lmms_medtasks.task_configs.bones_joints.observer import observer_diagnosis, phantom_texts
from lmms_medtasks.task_configs.bones_joints.source_forms import is_listed
from lmms_medtasks.task_configs.bones_joints.source_rows import HEADINGS, LISTED, UNLISTED
from tools.mini.files import png

OPEN_TASKS = ("t4", "t5", "t6", "t7")
_SECTIONS = ("complaint", "history", "examination")


@dataclass(frozen=True)
class Case:
    """A case: its number, where, what, and the texts of its finding filled in."""

    name: str
    site: str
    finding: str
    views: tuple[str, ...]
    texts: Mapping[str, Any]

    @property
    def disease(self) -> str:
        return str(form()["diseases"][self.finding])

    @property
    def diagnosis(self) -> str:
        return observer_diagnosis(self.site, self.finding)

    def text(self) -> str:
        """The case as the model reads it."""
        return "\n".join(f"{HEADINGS[part]}: {self.texts[part]}" for part in _SECTIONS)

    def reference(self, task: str) -> str:
        """The experts' answer to one of Tasks IV to VII; of a chain a line a step."""
        if task == "t4":
            return self.diagnosis
        if task == "t6":
            return str(self.texts["treatment"])
        return "\n".join(self.texts["chain" if task == "t5" else "rationale"])

    def pictures(self) -> list[np.ndarray]:
        """The radiographs, one a view: uint8, (n, n)."""
        rng = seeded_generator("mini bones_joints", self.name)
        side = str(rng.choice(bone.SIDES))
        facts = {"site": self.site, "finding": self.finding, "side": side}
        return [bone.draw_phantom({**facts, "view": view}, rng) for view in self.views]


@functools.cache
def form() -> Mapping[str, Any]:
    """The texts of ``bones_joints.yml`` and of the benchmark's own ``phantom_texts.yml``."""
    text = Path(__file__).with_name("bones_joints.yml").read_text("utf-8")
    return {**phantom_texts(), **yaml.safe_load(text)}


def cases() -> list[Case]:
    """The cases in the order of the design."""
    found = []
    for number, (site, finding, both) in enumerate(form()["design"], start=1):
        rng = seeded_generator("mini bones_joints text", number)
        filled = {"site": site, "age": str(rng.integers(18, 85)), "patient": str(rng.choice(["man", "woman"]))}
        texts = {
            name: [each.format(**filled) for each in text] if isinstance(text, list) else text.format(**filled)
            for name, text in form()["cases"][finding].items()
            if name != "image_steps"
        }
        found.append(Case(f"case-{number:02d}", site, finding, bone.VIEWS if both else bone.VIEWS[:1], texts))
    return found


def drawn_documents() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The canonical documents: data set -> split -> rows; rows of one case share the same bytes objects."""
    found: dict[str, list[dict[str, Any]]] = {"t1": _exam("t1"), "t2": _exam("t2"), "t3": [], "open": []}
    every = cases()
    letters = _letters(len(every))
    for case, letter in zip(every, letters, strict=True):
        stored = [{"bytes": png(pixels), "path": None} for pixels in case.pictures()]
        found["t3"].append(_choice(case, letter, stored))
        for task in OPEN_TASKS:
            found["open"].append(_row(task, case, stored, case.text(), [], case.reference(task)))
    # All cases under one task before the next: a prefix (--limit) of a task has different cases.
    found["open"].sort(key=lambda row: row["task"])
    found["t8"] = _released(found["open"])
    return {"bones_joints": found}


def _letters(count: int) -> list[str]:
    """The right letters, each as often as the others, in an order of their own."""
    rng = seeded_generator("mini bones_joints letters")
    return [LETTERS[place % 5] for place in rng.permutation(count)]


def _choice(case: Case, letter: str, stored: list[dict[str, Any]]) -> dict[str, Any]:
    rng = seeded_generator("mini bones_joints options", case.name)
    others = [name for name in form()["diseases"].values() if name != case.disease]
    options = [others[place] for place in rng.permutation(len(others))]
    options.insert(LETTERS.index(letter), case.disease)
    return _row("t3", case, stored, str(form()["question"]).format(site=case.site), options, letter)


def _row(
    task: str, case: Case, stored: list[dict[str, Any]], question: str, options: list[str], answer: str
) -> dict[str, Any]:
    return {
        "id": f"{task}-{case.name}",
        "image": stored[0] if len(stored) == 1 else None,
        "images": stored if len(stored) > 1 else [],
        "question": question,
        "options": options,
        "answer": answer,
        "image_id": case.name,
        "data": "mini",
        "task": task,
        "case_id": case.name,
        "image_case": case.name,
        "site": case.site,
        "image_site": case.site,
        "disease": case.disease,
        "disease_listed": LISTED if is_listed(case.disease) else UNLISTED,
        "modality": "X-ray",
        "report": str(case.texts["report"]),
        "image_count": len(stored),
        "figures": 0,
    }


def _exam(task: str) -> list[dict[str, Any]]:
    """The exam questions: no images, options in an order of their own."""
    found = []
    for number, entry in enumerate(form()[task], start=1):
        rng = seeded_generator("mini bones_joints exam", task, number)
        options = [entry["options"][place] for place in rng.permutation(len(entry["options"]))]
        note = f"{entry['note']}\n" if "note" in entry else ""
        disease = entry["right"] if is_listed(entry["right"]) else ""
        found.append({
            "id": f"{task}-{number:02d}",
            "image": None,
            "images": [],
            "question": note + entry["question"],
            "options": options,
            "answer": LETTERS[options.index(entry["right"])],
            "image_id": f"text-{task}-{number:02d}",
            "data": "mini",
            "task": task,
            "case_id": f"{task}-{number:02d}",
            "image_case": "",
            "site": entry.get("site", ""),
            "image_site": "",
            "disease": disease,
            "disease_listed": LISTED if disease else "",
            "modality": "",
            "report": "",
            "image_count": 0,
            "figures": 0,
        })  # fmt: skip
    return found


def _released(every: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Task VIII as a release might have it: a few texts, each with the images of the case five places on."""
    texts = [row for row in every if row["task"] == "t4"]
    found = []
    for place in range(0, len(texts), 6):
        text, other = texts[place], texts[(place + 5) % len(texts)]
        own = {key: other[key] for key in ("image", "images", "image_id", "image_case", "image_site", "image_count")}
        answer = f"The images show the {other['site']}, the text is about the {text['site']}."
        found.append({**text, **own, "id": text["id"].replace("t4", "t8", 1), "task": "t8", "answer": answer})
    return found
