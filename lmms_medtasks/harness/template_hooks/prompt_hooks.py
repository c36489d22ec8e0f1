"""The prompt and the pictures of a contributed task.

A task's folder may have custom degradations and modalities, so the hook for pictures knows the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import extensions
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from PIL.Image import Image

Document = Mapping[str, Any]
Settings = Mapping[str, Any]


def doc_to_text(doc: Document, settings: Settings | None = None) -> str:
    """The prompt, see :func:`lmms_medtasks.harness.hooks.doc_to_text`; the default is the template's."""
    settings = settings or {}
    name = settings.get("prompt") or ("multiple_choice" if doc["options"] else "open")
    prompt = templates.builtin_prompt(name) if name in templates.builtin_prompt_names() else name
    return hooks.doc_to_text(doc, {**settings, "prompt": prompt})


def doc_to_visual(doc: Document, settings: Settings | None = None) -> list[Image]:
    """The pictures, degraded by the settings, see :func:`lmms_medtasks.harness.hooks.doc_to_visual`.

    With ``degradation: drawn`` the document's column names the degradation; ``modality`` is that of all documents.
    """
    return load_degraded_images(doc, settings or {}, None)


def load_degraded_images(doc: Document, settings: Settings, folder: Path | None) -> list[Image]:
    """As :func:`doc_to_visual`, with files of custom degradations in ``folder``."""
    settings = dict(settings)
    if settings.get("degradation") == "drawn":
        del settings["degradation"]
    if settings.get("modality"):
        doc = {**doc, "modality": settings["modality"]}
    return hooks.load_degraded_images(doc, settings, folder)


_HOOKS: Mapping[Any, Callable[..., list[Image]]] = {
    doc_to_visual: load_degraded_images,
    hooks.doc_to_visual: hooks.load_degraded_images,
}


class FolderImages:
    """A hook for ``doc_to_visual`` that replaces ``hook``, one of ours, and knows the task's ``folder``.

    ``digested``: the custom degradations and modalities, for the digest of the task's own code. In results and keys it
    appears as the name of ``hook``, without an address or a folder of this machine.
    """

    def __init__(self, hook: Callable[..., list[Image]], folder: Path, digested: str) -> None:
        self.hook, self.folder, self.digested = hook, folder, digested
        self.__name__ = hook.__name__

    def __repr__(self) -> str:
        return f"{self.hook.__module__}.{self.hook.__name__}"

    def __call__(self, doc: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> list[Image]:
        return _HOOKS[self.hook](doc, settings or {}, self.folder)


def make_image_hook(config: Mapping[str, Any], settings: Mapping[str, Any], folder: Path) -> Any:
    """The hook for pictures of a task in ``folder``: a :class:`FolderImages` if the task has one of ours.

    ``config``: with text tables as parquet files. Raises UserError for a missing custom degradation in the settings.
    """
    hook = config.get("doc_to_visual")
    if hook is None or not any(hook is known for known in _HOOKS):
        return hook
    return FolderImages(hook, folder, _digest_custom_code(config, settings, folder))


def _digest_custom_code(config: Mapping[str, Any], settings: Mapping[str, Any], folder: Path) -> str:
    from lmms_medtasks import degradations
    from lmms_medtasks.degradations import own_modalities
    from lmms_medtasks.degradations.base import is_custom_degradation

    degradation = settings.get("degradation")
    is_drawn = degradation == templates.DRAWN
    names = {str(degradation)} if degradation and not is_drawn else _column_values(config, "degradation")
    modality = settings.get("modality")
    modalities = {str(modality)} if modality else _column_values(config, "modality")
    known = own_modalities.list_custom_modalities()
    described: list[Any] = []
    for name in sorted(modalities):
        canonical = _call_or_none(degradations.canonical_modality, name)
        if canonical in known:
            definition = known[canonical]
            drawn = degradations.drawn_for(canonical)
            names |= set(drawn) if is_drawn else set()
            references = [extensions.portable_reference(degradation_name, folder) for degradation_name in drawn]
            described.append([canonical, definition.levels, references])
    for name in sorted(names):
        located = extensions.resolve_extension_path(name, folder)
        if is_custom_degradation(located):
            # Errors of names in a column are reported with the row, when the data are read.
            code = (
                degradations.code_of(located) if name == degradation else _call_or_none(degradations.code_of, located)
            )
            described.append([extensions.portable_reference(name, folder), code])
    return json.dumps(described, sort_keys=True) if described else ""


def _call_or_none(function: Callable[[str], str], text: str) -> str | None:
    try:
        return function(text)
    except UserError:
        return None


def _column_values(config: Mapping[str, Any], name: str) -> set[str]:
    """The texts in a column of the local parquet files of a task."""
    import pyarrow.parquet as pq

    from lmms_medtasks.data import text_tables

    values: set[Any] = set()
    for path in text_tables.iter_data_files((config.get("dataset_kwargs") or {}).get("data_files")):
        if config.get("dataset_path") == "parquet" and path.is_file() and name in pq.read_schema(path).names:
            values |= set(pq.read_table(path, columns=[name])[name].to_pylist())
    return {value for value in values if isinstance(value, str) and value}
