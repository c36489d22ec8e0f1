"""The functions that task YAMLs name by dotted path: pictures, prompt, target.

The harness calls them in several threads and processes. Within a process they remember each question's trial number
(:data:`TRIALS`) and how its pictures were made (:data:`RENDERED`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing, pictures, prompt_files
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import stable_seed

if TYPE_CHECKING:
    from pathlib import Path

    from PIL.Image import Image

Document = Mapping[str, Any]
Settings = Mapping[str, Any]


class TrialSeeder:
    """Seeds torch for each trial of each question, from the question's id and the number of the trial.

    The harness seeds torch alike on every rank, so that two ranks would draw the same numbers for different questions.
    It asks for a question's pictures once a trial, right before the model generates, in the same thread. Seeding then
    makes draws independent of how questions are spread over processes (exactly so at batch size 1).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, int] = {}
        self._expected: dict[str, deque[int]] = {}

    def reset(self, ids: Iterable[str]) -> None:
        """Forget the trials of these questions: a new run of them starts."""
        with self._lock:
            for question_id in ids:
                self._calls.pop(question_id, None)
                self._expected.pop(question_id, None)

    def expect(self, question_id: str, trials: Iterable[int]) -> None:
        """Let the question's next trials have these numbers; the others' replies are in the journal."""
        with self._lock:
            self._expected[question_id] = deque(trials)

    def next_seed(self, question_id: str, seed: int = 0) -> int:
        """The seed of the question's next trial: depends on its id, the trial's number and ``seed`` only."""
        with self._lock:
            expected = self._expected.get(question_id)
            trial = expected.popleft() if expected else self._calls.get(question_id, 0)
            self._calls[question_id] = trial + 1
        return stable_seed("trial", question_id, trial, seed)

    def seed_torch(self, question_id: str, seed: int = 0) -> None:
        """Seed torch's generators (the CPU's and every GPU's) for the question's next trial."""
        import torch

        # torch takes seeds up to 2**64 - 1, but CUDA's documentation promises only the signed range.
        torch.manual_seed(self.next_seed(question_id, seed) & (2**63 - 1))


class RenderedParameters:
    """The parameters with which each question's pictures were degraded, from rendering to scoring in one process.

    The harness scores a question in the process that rendered it, and gives the scoring hook no picture. Replies from a
    response cache are scored without rendering, so without parameters; a journal of replies stores them beside each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_question: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}

    def reset(self, ids: Iterable[str]) -> None:
        """Forget these questions."""
        with self._lock:
            for question_id in ids:
                self._by_question.pop(question_id, None)

    def put(self, question_id: str, number: int, parameters: dict[str, Any], order: str = "") -> None:
        """Remember the parameters of the question's picture ``number``.

        ``order``: :func:`describe_degradation`, as tasks of a run may degrade a question differently; "" if unknown.
        """
        with self._lock:
            of_question = self._by_question.setdefault(question_id, {})
            known = of_question.pop(order, {})
            of_question[order] = {**known, number: parameters}  # the latest order last

    def get(self, question_id: str, order: str | None = None) -> list[dict[str, Any]]:
        """The parameters of the question's degraded pictures, in their order; [] if none was degraded here.

        ``order``: those of this order, or else of an unknown one; None for the latest.
        """
        with self._lock:
            of_question = self._by_question.get(question_id, {})
            latest: dict[int, dict[str, Any]] = next(reversed(of_question.values()), {})
            parameters = latest if order is None else of_question.get(order) or of_question.get("", {})
            return [parameters[number] for number in sorted(parameters)]

    def numbered(self, question_id: str) -> dict[int, dict[str, Any]]:
        """The latest ones by the pictures' numbers."""
        with self._lock:
            return dict(next(reversed(self._by_question.get(question_id, {}).values()), {}))


TRIALS = TrialSeeder()
"""One a process: the harness tells a hook the question, not the number of the trial."""

RENDERED = RenderedParameters()
"""One a process: the harness gives the scoring hook no picture."""


def doc_to_visual(doc: Document, settings: Settings | None = None) -> list[Image]:
    """The question's pictures as 8-bit RGB, degraded if the document or the task says so.

    ``degradation`` and ``severity`` are taken from the task's ``lmms_eval_specific_kwargs`` if given there, else from
    the document's columns. The seed is made of the question's id and the task's ``seed`` (0 unless given), so that the
    same question has the same pixels in every run. ``rendered: true``: the document's picture is degraded already, as
    in a release, and its columns describe how. ``no_image: true`` shows no picture, to measure language alone.
    ``seed_trials: true`` seeds torch for the trial that the harness is about to generate (:class:`TrialSeeder`).

    Raises UserError for a document with neither of the columns ``image`` and ``images``; empty ones are no pictures.
    """
    return load_degraded_images(doc, settings or {}, None)


def load_degraded_images(doc: Document, settings: Settings, folder: Path | None) -> list[Image]:
    """As :func:`doc_to_visual`; files of custom degradations are relative to ``folder``."""
    if settings.get("seed_trials"):
        TRIALS.seed_torch(str(doc["id"]), int(settings.get("seed", 0)))
    if settings.get("no_image"):
        return []
    check_image_columns(doc, f"The document {doc.get('id')!r}")
    return [_load_image(picture, number, doc, settings, folder) for number, picture in enumerate(images_of(doc))]


def describe_degradation(doc: Document, settings: Settings) -> str:
    """A key of the degradation: tasks of one run may degrade questions of the same id differently."""
    degradation = settings.get("degradation")
    name = doc.get("degradation") if degradation in (None, "drawn") else degradation
    level = settings.get("severity", doc.get("severity") or 0)
    return f"{name or ''} {level} {settings.get('modality') or doc.get('modality') or ''} {settings.get('seed', 0)}"


def check_image_columns(columns: Iterable[str], whose: str) -> None:
    """Raise UserError if none of the columns of ``whose`` documents holds pictures."""
    names = sorted(columns)
    if not {"image", "images"} & set(names):
        raise UserError(
            f"{whose} has no column image or images, and lmms_medtasks.harness.hooks.doc_to_visual would show no "
            f"image. Its columns: {', '.join(names)}. Rename the one that holds the image in process_docs, or name "
            "a doc_to_visual of your own."
        )


def _load_image(picture: Any, number: int, doc: Document, settings: Settings, folder: Path | None) -> Image:
    from lmms_medtasks import degradations, extensions
    from lmms_medtasks.degradations import images, picture_cache

    name = settings.get("degradation", doc.get("degradation")) or ""
    severity = degradations.check_severity(settings.get("severity", doc.get("severity") or 0))
    image = pictures.open_image(picture)
    shown = pictures.shown_as(image)
    if settings.get("rendered") or not name or severity == 0:
        if shown:
            RENDERED.put(str(doc["id"]), number, {"shown_as": shown}, describe_degradation(doc, settings))
        return pictures.to_rgb8(image)
    # Independent of trial, level and kind of run.
    seed = f"{doc.get('question_id') or doc['id']}/{number}/{settings.get('seed', 0)}"
    modality = doc.get("modality") or None
    size = images.size_of(image)
    name = extensions.resolve_extension_path(name, folder)
    try:
        drawn = degradations.sample(name, severity=severity, seed=seed, size=size, modality=modality)
        made = picture_cache.apply(image, name, severity=severity, seed=seed, modality=modality)
    except UserError as error:
        raise UserError(f"Question {doc['id']!r}: {error}") from error
    parameters = drawn.to_json()
    parameters |= degradations.describe_lengths(name, parameters, size) | ({"shown_as": shown} if shown else {})
    RENDERED.put(str(doc["id"]), number, parameters, describe_degradation(doc, settings))
    return pictures.to_rgb8(made)


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The prompt: the task's prompt file with {question} and {options} filled in, options as lines "A. text".

    The file is named by ``prompt`` in the task's ``lmms_eval_specific_kwargs``: an absolute path, or one relative to
    the ``task_configs`` folder. ``option_mark`` there replaces the full stop after an option's letter.
    """
    name = (settings or {}).get("prompt")
    if not name:
        raise UserError("The task names no prompt. Set lmms_eval_specific_kwargs: default: prompt: FILE in its YAML.")
    letters = parsing.option_letters(len(doc["options"])) if doc["options"] else ""
    mark = str((settings or {}).get("option_mark", "."))
    options = "\n".join(f"{letter}{mark} {text}" for letter, text in zip(letters, doc["options"], strict=True))
    # One pass, so that braces in a question's text are not filled in.
    parts = prompt_files.prompt_text(str(name)).split("{question}")
    return doc["question"].join(part.replace("{options}", options) for part in parts)


def doc_to_target(doc: Document) -> str:
    """The right answer: an option's letter."""
    return doc["answer"]
