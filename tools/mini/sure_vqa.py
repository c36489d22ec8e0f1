"""The mini data of SURE-VQA's three data sets: yes/no and open questions about phantoms, with the fields of the shifts.

Two shifts are real ones for the observer, which knows the phantoms as medq_deg draws them: SLAKE's X-rays are noisy,
MIMIC-CXR-VQA's young patients are small. Pictures are JPEG files, as those of the releases are.
"""

from __future__ import annotations

import functools
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_medtasks import folders
from lmms_medtasks.baselines.phantoms import FILE, PhantomQuestion, question_from_entry
from lmms_medtasks.pictures import image_id
from lmms_medtasks.task_configs.sure_vqa.source_reader import YES_NO, document_fields
from tools.mini import design, phantoms
from tools.mini.design import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

Row = dict[str, Any]

QUALITY = 88
SMALL = 0.72
"""Side of a young patient's chest, in sides of the picture."""

SLAKE_PICTURES = {"train": 4, "validate": 1, "test": 7}
OVQA_PICTURES = {"train": 3, "validate": 1, "test": 6}
MIMIC_PICTURES = {"train": 16, "validate": 2, "test": 16}
"""Pictures of each modality."""

SLAKE_MODALITIES = {"CT": "CT", "MRI": "MRI", "X-ray": "X-Ray"}
ORGANS = {"MRI": "HEAD", "X-ray": "CHEST", "Ultrasound": "LEG"}

_AGES = (74, 66, 31, 83, 27, 61, 52, 35, 70, 22, 64, 88, 38, 45, 79, 29)
_ETHNICITIES = ("WHITE", "BLACK", "WHITE", "WHITE", "ASIAN", "WHITE", "UNKNOWN/OTHER", "HISPANIC/LATINO")


@dataclass(frozen=True)
class Entry:
    """A question of the benchmark's ``phantom_questions.yml`` with what each data set says of it.

    The empty text stands where it is not asked.
    """

    question: PhantomQuestion
    content: str
    ovqa: str
    semantic: str
    mimic: str

    @property
    def kind(self) -> str:
        """open, closed or multilabel."""
        if tuple(self.question.options) == YES_NO:
            return "closed"
        return "multilabel" if self.semantic == "choose" else "open"

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that a closed question allows."""
        return () if self.kind == "open" else tuple(self.question.options)


@functools.cache
def entries() -> tuple[Entry, ...]:
    """The questions in the file's order."""
    found = []
    for entry in folders.read_yaml(folders.suites_root() / "sure_vqa" / FILE):
        semantic, mimic = entry.get("mimic", ("", ""))
        question = question_from_entry({"capability": "", **entry})
        found.append(Entry(question, entry.get("content", ""), entry.get("ovqa", ""), semantic, mimic))
    return tuple(found)


def drawn_documents() -> dict[str, dict[str, list[Row]]]:
    """The canonical documents: data set -> split -> rows."""
    return {"sure_slake": _slake(), "sure_ovqa": _ovqa(), "sure_mimic": _mimic()}


def _slake() -> dict[str, list[Row]]:
    made: dict[str, list[Row]] = {}
    for split, count in SLAKE_PICTURES.items():
        made[split] = []
        for picture in _pictures("sure-slake", split, tuple(SLAKE_MODALITIES), count):
            data = _jpeg(_noisy(picture) if picture.modality == "X-ray" else _drawn(picture))
            for entry, answer in _asked(picture):
                if entry.content and entry.kind != "multilabel":
                    tags = {"modality": SLAKE_MODALITIES[picture.modality], "content_type": entry.content}
                    location = "Abdomen" if picture.modality == "CT" else ORGANS[picture.modality].capitalize()
                    row = _row(made[split], split, entry, answer, data, capitals=True)
                    made[split].append({**row, **tags, "location": location})
    return made


def _ovqa() -> dict[str, list[Row]]:
    made: dict[str, list[Row]] = {}
    for split, count in OVQA_PICTURES.items():
        made[split] = []
        for picture in _pictures("sure-ovqa", split, tuple(ORGANS), count):
            data = _jpeg(_drawn(picture))
            for entry, answer in _asked(picture):
                if entry.ovqa:
                    row = _row(made[split], split, entry, answer, data, capitals=True)
                    tags = {"image_organ": ORGANS[picture.modality], "question_type": entry.ovqa}
                    made[split].append({**row, **tags})
    return made


def _mimic() -> dict[str, list[Row]]:
    made: dict[str, list[Row]] = {}
    for split, count in MIMIC_PICTURES.items():
        made[split] = []
        for number, picture in enumerate(_pictures("sure-mimic", split, ("X-ray",), count)):
            patient: dict[str, Any] = {
                "gender": "" if number == count - 1 else "MF"[number % 2],
                "age": _AGES[number % len(_AGES)],
                "ethnicity": _ETHNICITIES[(number // 2) % len(_ETHNICITIES)],
            }
            data = _jpeg(_young(picture) if patient["age"] < 40 else _drawn(picture)) if split == "test" else None
            for entry, answer in _asked(picture, gender=patient["gender"]):
                if entry.semantic:
                    row = _row(made[split], split, entry, answer, data, picture=picture.id)
                    tags = {"semantic_type": entry.semantic, "content_type": entry.mimic}
                    made[split].append({**row, **tags, **patient})
    return made


def _pictures(name: str, split: str, modalities: Sequence[str], count: int) -> list[Picture]:
    """Pictures of the modalities in turns, none with anything marked: a mark is no part of what is asked here."""
    chosen = [design.pictures(modality, f"{name}-{split}", count) for modality in modalities]
    turns = [pictures[i] for i in range(count) for pictures in chosen]
    return [Picture(picture.id, picture.modality, {**picture.facts, "mark": "none"}) for picture in turns]


def _asked(picture: Picture, **more: str) -> Iterator[tuple[Entry, str]]:
    """Every question that can be asked about the picture, and its answer."""
    facts: Mapping[str, str] = {**picture.facts, **more}
    for entry in entries():
        if picture.modality in entry.question.modalities and set(entry.question.facts) <= set(facts):
            answer = entry.question.answer(facts)
            if answer is not None:
                yield entry, answer


def _row(
    before: list[Row],
    split: str,
    entry: Entry,
    answer: str,
    data: bytes | None,
    *,
    capitals: bool = False,
    picture: str = "",
) -> Row:
    number = str(len(before) + 1)
    shown = answer.capitalize() if capitals and entry.kind == "closed" else answer
    return {
        **document_fields(number, split, entry.question.text, shown, entry.kind, entry.choices),
        "image": None if data is None else {"bytes": data, "path": None},
        "images": [],
        "image_id": picture if data is None else image_id([data]),
        "data": "mini",
    }


def _drawn(picture: Picture) -> Image:
    from PIL import Image as Images

    return Images.fromarray(phantoms.draw(picture.modality, picture.facts, picture.rng()))


def _noisy(picture: Picture) -> Image:
    from lmms_medtasks import degradations

    return degradations.apply(_drawn(picture), "gaussian_noise", severity=2, seed=picture.id, modality="X-ray")


def _young(picture: Picture) -> Image:
    """The same chest, smaller, on the dark of the detector."""
    from PIL import Image as Images

    large = _drawn(picture)
    side = round(SMALL * large.width)
    small = large.resize((side, side), Images.Resampling.BICUBIC)
    framed = Images.new(large.mode, large.size, 8)
    framed.paste(small, ((large.width - side) // 2, (large.height - side) // 2))
    return framed


def _jpeg(image: Image) -> bytes:
    buffer = io.BytesIO()
    image.convert("L").save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def answers(made: Sequence[Row]) -> Counter[str]:
    """How often each answer is right among closed questions."""
    return Counter(row["answer"] for row in made if row["answer_type"] == "closed")
