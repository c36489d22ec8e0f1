"""The canonical document: one question as every suite, task and metric of this package sees it.

A document is a flat mapping of :data:`FIELDS` and a suite's *tags* (modality, degradation, ...), which are strings or
small integers. Documents are stored as parquet with the bytes of their images as the source has them; the file's
metadata makes ``datasets`` decode them to PIL images.

An image may also be a *reference*: no bytes, and the absolute path of a user's file, for large images that many
questions share and for data that must not be copied. ``image_id`` then is the digest of the file's bytes
(:func:`lmms_medtasks.pictures.image_id`), or the image's name if the file was not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 2
"""Goes up when the meaning or the type of a field changes: prepared data of another version is prepared anew. 2: data
is "full" only with the release's number of questions."""

Data = Literal["full", "sample", "mini"]
DATA: tuple[Data, ...] = ("full", "sample", "mini")
"""Where rows come from: the whole benchmark, a part of it, or the bundled mini data."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

CHOICES_SEPARATOR = " | "
"""Between the answers in the tag ``choices``: those that a question allows whose options have no letters."""

FIELDS: Mapping[str, str] = {
    "id": "text",
    "image": "image",
    "images": "images",
    "question": "text",
    "options": "texts",
    "answer": "text",
    "image_id": "text",
    "data": "text",
}
"""Field -> kind. ``image`` holds the one image of a question and ``images`` is empty, or ``image`` is null and
``images`` holds several; ``options`` is empty for an open question; ``answer`` is an option letter, or text for an
open question; ``image_id`` is what repeated questions share (the cluster for statistics); ``data`` is one of
:data:`DATA`."""

TAG_KINDS = ("text", "integer")


def document_schema(tags: Mapping[str, str]) -> pa.Schema:
    """The arrow schema of documents with ``tags`` (name -> "text" or "integer").

    An image is ``struct<bytes: binary, path: string>``; the metadata holds the ``datasets`` features, so that
    ``load_dataset("parquet")`` gives ``Image`` columns. ValueError: a tag has a field's name or an unknown kind.
    """
    import pyarrow as pa

    for name, kind in tags.items():
        if name in FIELDS or kind not in TAG_KINDS:
            raise ValueError(
                f"Tag {name!r} of kind {kind!r}: expected a name not in {list(FIELDS)}, a kind of {TAG_KINDS}."
            )
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "texts": pa.list_(pa.string()),
        "image": image,
        "images": pa.list_(image),
    }
    # "Sequence" is what datasets 3 writes and reads; datasets 4 and later read it as List.
    features: dict[str, dict[str, Any]] = {
        "text": {"dtype": "string", "_type": "Value"},
        "integer": {"dtype": "int64", "_type": "Value"},
        "texts": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
        "image": {"_type": "Image"},
        "images": {"feature": {"_type": "Image"}, "_type": "Sequence"},
    }
    kinds = {**FIELDS, **tags}
    info = {"info": {"features": {name: features[kind] for name, kind in kinds.items()}}}
    fields = [pa.field(name, types[kind]) for name, kind in kinds.items()]
    return pa.schema(fields, metadata={"huggingface": json.dumps(info)})


def document_problem(
    document: Mapping[str, Any], tags: Mapping[str, str], *, images_optional: bool = False
) -> str | None:
    """Why ``document`` is not a canonical document with ``tags``, or None if it is one.

    Images must be raw bytes (``{"bytes": ..., "path": ...}``) or references; whether they decode is checked elsewhere.
    """
    kinds = {**FIELDS, **tags}
    if set(document) != set(kinds):
        missing, extra = sorted(set(kinds) - set(document)), sorted(set(document) - set(kinds))
        return f"fields differ from the schema: missing {missing}, not in it {extra}"
    for name, kind in kinds.items():
        if (reason := _wrong_type(name, kind, document[name])) is not None:
            return reason
    for name in ("id", "question", "answer", "image_id"):
        if not document[name].strip():
            return f"{name} is empty"
    if document["data"] not in DATA:
        return f"data is {document['data']!r}, allowed: {', '.join(DATA)}"
    return _image_problem(document, images_optional) or _option_problem(document)


def _wrong_type(name: str, kind: str, value: Any) -> str | None:
    right = {
        "text": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "texts": isinstance(value, list) and all(isinstance(item, str) for item in value),
        "image": value is None or _is_image(value),
        "images": isinstance(value, list) and all(_is_image(item) for item in value),
    }[kind]
    return None if right else f"{name} is not {kind}: {str(value)[:60]!r}"


def _is_image(value: Any) -> bool:
    if not isinstance(value, Mapping) or set(value) != {"bytes", "path"}:
        return False
    return isinstance(value["bytes"], bytes) or is_reference(value)


def is_reference(image: Mapping[str, Any]) -> bool:
    """Whether a stored image has no bytes but the path of a file."""
    return image["bytes"] is None and isinstance(image["path"], str) and bool(image["path"])


def _image_problem(document: Mapping[str, Any], optional: bool) -> str | None:
    one, several = document["image"] is not None, len(document["images"])
    if one and several:
        return "both image and images are filled"
    if not one and several == 0 and not optional:
        return "there is no image"
    if several == 1:
        return "images holds one image, which belongs into image"
    if any(map(is_reference, document["images"])):
        return "images holds a reference; only image may"  # image_id stands for one file
    return None


def _option_problem(document: Mapping[str, Any]) -> str | None:
    options, answer = document["options"], document["answer"]
    if not options:
        return None
    if not 2 <= len(options) <= len(LETTERS):
        return f"there are {len(options)} options, expected 2 to {len(LETTERS)}"
    empty = [LETTERS[i] for i, option in enumerate(options) if not option.strip()]
    if empty:
        return f"option {', '.join(empty)} is empty"
    letters = LETTERS[: len(options)]
    if len(answer) != 1 or answer not in letters:
        return f"answer {answer[:40]!r} is not among the options {letters[0]} to {letters[-1]}"
    return None


def images_of(document: Mapping[str, Any]) -> list[Any]:
    """The images of a document in order, as they are stored or as ``datasets`` decoded them."""
    one, several = document.get("image"), document.get("images")
    return list(several) if several else [] if one is None else [one]


def rows_digest(documents: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 (hex) over the rows in their order, however they were written; references count by ``image_id``."""
    digest = RowsDigest()
    for document in documents:
        digest.update(document)
    return digest.hexdigest()


class RowsDigest:
    """:func:`rows_digest` of documents that come one at a time."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, document: Mapping[str, Any]) -> None:
        # Where a referenced file lies on this machine says nothing of the content.
        images = [
            "reference" if is_reference(image) else hashlib.sha256(image["bytes"]).hexdigest()
            for image in images_of(document)
        ]
        plain = {name: value for name, value in document.items() if name not in ("image", "images")}
        line = json.dumps([plain, images], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        self._hash.update(line.encode() + b"\n")

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
