"""What SURE-VQA's YAMLs name: the prompt and the pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmms_medtasks import pictures
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.harness import hooks
from lmms_medtasks.task_configs.sure_vqa.source_reader import SEPARATOR, YES_NO

if TYPE_CHECKING:
    from PIL.Image import Image

Document = Mapping[str, Any]
Settings = Mapping[str, Any]


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The question; one that is answered by yes or no with the task's prompt file around it, which names the options.

    As in the authors' public code. Questions with other options name them themselves.
    """
    if tuple(doc.get("choices", "").split(SEPARATOR)) != YES_NO:
        return str(doc["question"])
    return hooks.doc_to_text({**doc, "options": []}, settings)


def doc_to_target(doc: Document) -> str:
    """Nothing: the answer stands in the record, where the data's terms allow it."""
    return ""


def doc_to_visual(doc: Document, settings: Settings | None = None) -> list[Image]:
    """The question's picture as 8-bit RGB, corrupted where the document says so (``corruption``: low, medium or high).

    The corruption depends on the question, its strength and the task's ``seed`` (0 unless given) alone: each question
    has its own, as in the authors' public code.
    """
    settings = settings or {}
    strength = doc.get("corruption") or ""
    if not strength or settings.get("no_image"):
        return hooks.doc_to_visual(doc, {**settings, "rendered": True})
    from lmms_medtasks.degradations import corruptions

    parameters = corruptions.sample(strength=strength, seed=f"{doc['question_id']}/{settings.get('seed', 0)}")
    hooks.RENDERED.put(str(doc["id"]), 0, parameters.to_json())
    return [
        corruptions.apply_parameters(pictures.rgb8(pictures.opened(picture)), parameters) for picture in images_of(doc)
    ]
