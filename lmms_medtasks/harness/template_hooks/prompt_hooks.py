"""The prompt and the pictures of a contributed task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.harness import hooks
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from PIL.Image import Image

Document = Mapping[str, Any]
Settings = Mapping[str, Any]


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The prompt (:func:`lmms_medtasks.harness.hooks.doc_to_text`); ``prompt`` is the template's where none is said."""
    settings = settings or {}
    name = settings.get("prompt") or ("multiple_choice" if doc["options"] else "open")
    prompt = templates.prompt(name) if name in templates.prompts() else name
    return hooks.doc_to_text(doc, {**settings, "prompt": prompt})


def doc_to_visual(doc: Document, settings: Settings | None = None) -> list[Image]:
    """The pictures, degraded as the settings say, see :func:`lmms_medtasks.harness.hooks.doc_to_visual`.

    With ``degradation: drawn`` the document's own column says which; ``modality`` counts for every document.
    """
    return degraded_pictures(doc, settings or {}, None)


def degraded_pictures(doc: Document, settings: Settings, folder: Path | None) -> list[Image]:
    """As :func:`doc_to_visual`; degradations of someone's own that are named by files are looked for in ``folder``."""
    settings = dict(settings)
    if settings.get("degradation") == "drawn":
        del settings["degradation"]
    if settings.get("modality"):
        doc = {**doc, "modality": settings["modality"]}
    return hooks.degraded_pictures(doc, settings, folder)
