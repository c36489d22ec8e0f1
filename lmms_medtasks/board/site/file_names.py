"""File names and ids from names that others chose."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from lmms_medtasks.board.entries import EntryModel
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.samples.runs import read_arguments

_LENGTH = 40
_DIGEST = 8
_LONG = 32
_LONGEST = 100
_SHOWN_ARGUMENTS = 3
"""Arguments in a name at most."""


def slugify(text: str) -> str:
    """``text`` as a file name: lower-case letters, digits and single dashes; "x" if nothing is left."""
    slug = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-_")[:_LENGTH].strip("-_")
    return slug or "x"


def file_name(key: str) -> str:
    """``key`` as a file name: unchanged if harmless, and of a length that all file systems take."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", key)
    return key if safe == key and len(key) <= _LONGEST else f"{safe[:_LENGTH]}-{_long_digest(key)[:_LONG]}"


def model_slugs(models: Iterable[EntryModel]) -> dict[str, str]:
    """Model key -> file name: the model's last path component and a digest of the key.

    The digest keeps a model's address when another of its name joins the board.
    """
    names = {model.key: slugify(model.name.rstrip("/").rpartition("/")[2]) for model in models}
    return _make_distinct({key: f"{name}-{text_digest(key)}" for key, name in names.items()})


def model_titles(models: Iterable[EntryModel], arguments: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Model key -> name for people: the model's; if models share it, with runner and differing arguments.

    ``arguments``: model key -> its arguments (:func:`lmms_medtasks.samples.runs.shown_arguments`). Models with equal
    ones get a digest of their key.
    """
    models = list(models)
    names = {model.key: shown_name(model.name) for model in models}
    titles = dict(names)
    for model in models:
        alike = [key for key, name in names.items() if name == names[model.key]]
        if len(alike) > 1:
            told = [arguments.get(key, "") for key in alike]
            titles[model.key] = _with_arguments(model, names[model.key], told, arguments)
    count = Counter(titles.values())
    numbered = {key: title if count[title] == 1 else f"{title} [{text_digest(key)}]" for key, title in titles.items()}
    return _make_distinct(numbered)


def _with_arguments(model: EntryModel, name: str, alike: Sequence[str], arguments: Mapping[str, str]) -> str:
    """The name with the runner and the first arguments that differ within ``alike``."""
    known = [read_arguments(text) for text in alike]
    model_arguments = read_arguments(arguments.get(model.key, ""))
    differing = [argument for argument in model_arguments if len({other.get(argument) for other in known}) > 1]
    said = [f"{argument}={model_arguments[argument]}" for argument in differing]
    return f"{name} ({', '.join([model.harness_model, *said[:_SHOWN_ARGUMENTS]])})"


def text_digest(text: str) -> str:
    """Eight hexadecimal digits."""
    return _long_digest(text)[:_DIGEST]


def _long_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _make_distinct(names: Mapping[str, str]) -> dict[str, str]:
    """``names`` of texts made unique: an attacker finds two texts with one short digest in a second."""
    count = Counter(names.values())
    return {text: name if count[name] == 1 else f"{name}-{_long_digest(text)[:_LONG]}" for text, name in names.items()}


def without_folders_above(text: str, roots: Iterable[Path]) -> str:
    """As :func:`without_roots`, but keeps the last part of a root's name, since several may have a run of one name."""
    return without_roots(text, [root.parent if root.parent.name else root for root in roots if root.parent != Path()])


def without_roots(text: str, roots: Iterable[Path]) -> str:
    """``text`` with paths relative to ``roots``, so that the folders' locations are not published."""
    for root in sorted((str(root) for root in roots), key=len, reverse=True):
        text = text.replace(root.rstrip("/") + "/", "")
    return text
