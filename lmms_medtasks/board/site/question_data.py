"""Texts and options of a task's questions from the prepared data, and their images.

An image is as the data has it, or degraded as a model saw it. Its name is a digest of its recipe: the bytes of the
source, the degradation with its code and parameters, and the file format. So each is made and written once.
"""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from lmms_medtasks import degradations, extensions
from lmms_medtasks.board import packs
from lmms_medtasks.board.degraded_entries import DegradedEntry
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.shown_answers import SampleLogs, rows_of
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.board.trust import drawn_parameters
from lmms_medtasks.board.trust.levels import OWN_RUN
from lmms_medtasks.build_cache import NO_CACHE, BuildCache, name_of
from lmms_medtasks.data import question_pictures
from lmms_medtasks.data.question_pictures import DocumentSplit, QuestionDocument
from lmms_medtasks.degradations.images import pixel_digest
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import open_image, to_rgb8
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.degraded import MARK
from lmms_medtasks.samples.runs import list_task_splits, task_settings

_FORM = f"webp lossless {question_pictures.LONGEST} 2"
"""Changes when the same source gives another file."""

_BESIDE = ("shown_as", "name", "picture", "shorter_side", "length_share")
"""Keys of a record that are not parameters: the window or background of the image, the degradation, and in a degraded
task the digest of the image."""

_Degraded = tuple[str, Mapping[str, Any], str | None] | None
"""Name, recorded parameters and modality; None: clean."""

_TERMS = {
    True: "Texts and images of this data may not be shown: its terms (credentialed data) keep them back.",
    False: "Texts of this data are not shown: its terms do not say that they may be.",
}
_STRANGERS = (
    "What a submitted log says was asked and replied is the submitter's word: texts are shown of runs by the board."
)
_PACKS = "Only packs are here: they have scores, no texts and no replies."
_NO_PICTURE = "This question has no image."
_ASKED_WITHOUT = "It was asked without its image."
_PICTURE_TERMS = "Its image is not shown: the terms of the data do not say that it may be."
_NOT_HERE = "Its image is not shown: the data was not at hand when this page was made."
_NOT_RECORDED = "The degraded image can't be made: the log does not say with which parameters."
_NOT_MADE = "The degraded image can't be made with the degradations that are installed here."
_UNREADABLE = "Its image can't be read."


@dataclass(frozen=True)
class SiteImage:
    """An image of a question. ``path``: in the site. ``label``: "clean", "severe: motion blur", "" for a single one.

    ``alt``: alternative text. ``width``, ``height``: in pixels.
    """

    path: str
    label: str
    alt: str
    width: int
    height: int


@dataclass(frozen=True)
class QuestionTexts:
    """A question's texts. ``answer``: the letter of the right option, or the right answer.

    ``note``: why there is no image, or only the clean one; "" for nothing.
    """

    question: str = ""
    options: tuple[str, ...] = ()
    answer: str = ""
    pictures: tuple[SiteImage, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class QuestionForm:
    """The form of a question, from tags of its row. ``pair``: the question that it is a form of.

    ``cluster``: its image. Data sets of one benchmark may number their questions alike: forms of one question share it.
    """

    id: str
    pair: str
    cluster: str
    degradation: str
    severity: int | None
    modality: str | None

    @property
    def label(self) -> str:
        """``clean``, ``severe: motion blur``; "" for a task without degradations."""
        if self.severity is None:
            return ""
        level = suite_words.level_word(self.severity)
        return f"{level}: {self.degradation.replace('_', ' ')}" if self.degradation else level


def question_forms(entry: LeaderboardEntry, rows: Sequence[int]) -> list[QuestionForm]:
    names = ("id", "pair", "cluster", "degradation", "severity", "modality")
    columns = (_column_values(entry, name, rows) for name in names)
    forms = []
    for id, pair, cluster, degradation, level, modality in zip(*columns, strict=True):
        severity = int(level) if isinstance(level, int | float) else None
        shown_on = str(modality) if modality else None
        forms.append(QuestionForm(id, pair or id, str(cluster), str(degradation or ""), severity, shown_on))
    return forms


def _column_values(entry: LeaderboardEntry, name: str, rows: Sequence[int]) -> list[Any]:
    values = entry.questions.values(name)
    return [values[row] for row in rows]


class QuestionData:
    """Texts and images of a build's questions; ``logs`` are the sample logs, each scanned once."""

    def __init__(
        self, folder: SiteFolder, shown: suite_words.AllowedData, cache: BuildCache = NO_CACHE, *, owned: bool = False
    ) -> None:
        """``owned``: whether strangers submit to the board; no text of their logs is shown."""
        self._shown = shown
        self._owned = owned
        self._pictures = ImageWriter(folder, cache)
        self._split, self._read_run = functools.cache(DocumentSplit), functools.cache(results.read_result_file)
        self.logs = SampleLogs(local=shown.local)

    def withheld(self, entries: Sequence[LeaderboardEntry]) -> str:
        """Why no text of these entries of a task is shown; "" if texts are."""
        # Submissions can't withhold texts that the board's own runs may show.
        if not self._shown.local and any(entry.credentialed and self._is_trusted(entry) for entry in entries):
            return _TERMS[True]
        logged = [entry for entry in entries if entry.source.samples]
        if not logged:
            return _PACKS
        if any(map(self.may_tell, logged)):
            return ""
        return _TERMS[False] if any(map(self._is_trusted, logged)) else _STRANGERS

    def may_tell(self, entry: LeaderboardEntry) -> bool:
        """Whether questions and replies of an entry are available and may be shown."""
        if entry.source.samples is None or not self._is_trusted(entry):
            return False
        return self._shown.text_of(entry, self._data_sets(entry))

    def may_be_published(self, entry: LeaderboardEntry) -> bool:
        """Whether anybody may see texts and images of an entry without requesting them."""
        names, anybody = self._data_sets(entry), suite_words.AllowedData()
        return anybody.text_of(entry, names) and anybody.images_of(entry, names)

    def _data_sets(self, entry: LeaderboardEntry) -> list[str]:
        return [name for name, _ in list_task_splits(self._read_run(entry.source.results), entry.task)]

    def _is_trusted(self, entry: LeaderboardEntry) -> bool:
        """Whether a log's texts are those asked and replied: pins cover ids and answers, but no texts."""
        return not self._owned or entry.level == OWN_RUN

    def of(
        self, entries: Sequence[LeaderboardEntry], ids: Collection[str], pictures: bool = True
    ) -> dict[str, QuestionTexts]:
        """The data of these questions of one task, from the first entries that may be shown; {} if none may.

        ``pictures``: whether to make the images too.
        """
        texts: dict[str, QuestionTexts] = {}
        missing = set(ids)
        for entry in entries:
            if not missing:
                break
            if not self.may_tell(entry):
                continue
            for id, material in self._materials(entry, missing, pictures):
                if id not in texts or material.pictures and not texts[id].pictures or not material.note:
                    texts[id] = material
            # Another run may have these images or parameters.
            missing = {id for id in missing if id not in texts or texts[id].note in (_ASKED_WITHOUT, _NOT_RECORDED)}
        return texts

    def _materials(
        self, entry: LeaderboardEntry, ids: Collection[str], pictures: bool
    ) -> Iterator[tuple[str, QuestionTexts]]:
        run, rows = self._read_run(entry.source.results), rows_of(entry, ids)
        asked = question_forms(entry, rows)
        others = dict(zip((form.id for form in asked), _declared_documents(entry, rows), strict=True))
        settings = task_settings(run, entry.task)
        why = "" if pictures else _NO_PICTURE
        if settings.get("no_image"):
            why = _ASKED_WITHOUT
        elif not self._shown.images_of(entry, self._data_sets(entry)):
            why = _PICTURE_TERMS
        left = {form.id: form for form in asked}
        splits = [self._split(*place, entry.variant) for place in list_task_splits(run, entry.task)]
        clean = self._clean(entry, splits, asked) if settings.get("rendered") and not why else {}
        for split in splits:
            of_document: dict[str, list[QuestionForm]] = {}
            for form in left.values():
                if (name := _image_document_id(form, others[form.id], split)) is not None:
                    of_document.setdefault(name, []).append(form)
            for document in split.documents(of_document):
                for form in of_document[document.id]:
                    left.pop(form.id, None)
                    material = QuestionTexts(document.question, document.options, document.answer)
                    if why or not document.images:
                        yield form.id, replace(material, note=why or _NO_PICTURE)
                    else:
                        yield form.id, self._with_pictures(material, entry, form, document, clean)
        for form in left.values():
            yield form.id, QuestionTexts(note=why or _NOT_HERE)

    def _clean(
        self, entry: LeaderboardEntry, splits: Sequence[DocumentSplit], asked: Collection[QuestionForm]
    ) -> dict[str, tuple[SiteImage, ...]]:
        """By pair, the clean images of questions that the data itself has degraded."""
        pairs = {form.pair for form in asked if form.severity}
        forms = question_forms(entry, range(len(entry.questions)))
        named = {form.pair: form.id for form in forms if form.severity == 0}
        wanted = {named[pair]: pair for pair in pairs & named.keys()}
        return {
            wanted[document.id]: self._plain(document, suite_words.level_word(0))
            for split in splits
            for document in split.documents(wanted)
        }

    def _with_pictures(
        self,
        material: QuestionTexts,
        entry: LeaderboardEntry,
        form: QuestionForm,
        document: QuestionDocument,
        clean: Mapping[str, tuple[SiteImage, ...]],
    ) -> QuestionTexts:
        # Degraded for this run; the degradations of a benchmark are tags of its questions.
        ordered = entry.task.partition(MARK)[2] if isinstance(entry, DegradedEntry) else ""
        try:
            if not form.severity and not ordered:
                return replace(material, pictures=self._plain(document, form.label))
            if form.id == document.id and not ordered:  # the data itself has it degraded
                degraded = self._plain(document, form.label)
                return replace(material, pictures=clean.get(form.pair, ()) + degraded)
            first = self._plain(document, suite_words.level_word(0))
        except NotMade:
            return replace(material, note=_UNREADABLE)
        recorded = self.logs.of(entry, [form.id]).get(form.id)
        if recorded is None or len(recorded.degraded_with) != len(document.images):
            return replace(material, pictures=first, note=_NOT_RECORDED)
        modality = entry.modality if isinstance(entry, DegradedEntry) and entry.modality else form.modality
        try:
            names = [str(drawn.get("name", form.degradation)) for drawn in recorded.degraded_with]
            made = [
                self._pictures.write(image, (name, drawn, modality) if name else None)  # a control has no name
                for image, name, drawn in zip(document.images, names, recorded.degraded_with, strict=True)
            ]
        except NotMade:
            return replace(material, pictures=first, note=_NOT_MADE)
        return replace(material, pictures=first + _label_images(made, ordered or form.label))

    def _plain(self, document: QuestionDocument, label: str) -> tuple[SiteImage, ...]:
        return _label_images([self._pictures.write(image) for image in document.images], label)


def _label_images(written: Sequence[Written], label: str) -> tuple[SiteImage, ...]:
    images = []
    for number, (path, width, height) in enumerate(written, start=1):
        position = [f"image {number} of {len(written)}"] if len(written) > 1 else []
        text = ", ".join([label, *position] if label else position)
        images.append(SiteImage(path, text, f"Image of the question: {text}".removesuffix(": "), width, height))
    return tuple(images)


def _image_document_id(form: QuestionForm, declared: str | None, split: DocumentSplit) -> str | None:
    if declared is not None:
        return declared if declared in split else None
    return next((name for name in (form.id, form.pair) if name in split), None)


def _declared_documents(entry: LeaderboardEntry, rows: Sequence[int]) -> list[str | None]:
    """The documents with these questions' images, if their benchmark declares them (``pictures`` in board.yml)."""
    for pattern, template in suite_words.suite_texts(entry.suite).pictures.items():
        if fnmatch.fnmatchcase(entry.task, pattern):
            names = [name for name in entry.questions.tags if f"{{{name}}}" in template]
            tags = zip(*(_column_values(entry, name, rows) for name in names), strict=True)
            return [template.format(**dict(zip(names, values, strict=True))) for values in tags]
    return [None] * len(rows)


Written = tuple[str, int, int]
"""A picture in the site: its path there, and its width and height in pixels."""


class NotMade(UserError):
    """An image that can't be read, or not be degraded as a run recorded it."""


class ImageWriter:
    """Writes each image into the site once, without the file's metadata."""

    def __init__(self, folder: SiteFolder, cache: BuildCache = NO_CACHE) -> None:
        self._folder = folder
        self._cache = cache
        self._written: dict[str, Written] = {}

    def write(self, image: Mapping[str, Any], degraded: _Degraded = None) -> Written:
        """Write an image as the data has it, or degraded with the parameters that a run recorded.

        Raises NotMade if it can't be read, or if the degradation is unknown here, takes other parameters, or draws
        smaller ones.
        """
        with _explain_image_errors(degraded):
            source = image["bytes"] if image["bytes"] is not None else Path(image["path"]).read_bytes()
            recipe: list[Any] = [_FORM, hashlib.sha256(source).hexdigest()]
            if degraded is not None:
                name, recorded, modality = degraded
                if extensions.is_reference(name):  # to look at a log must not run what it names
                    raise NotMade(f"{name!r} is no installed degradation.")
                drawn = _drawn_parameters_of(recorded)
                recipe += [degradations.code_of(name, modality), degradations.canonical_name(name), drawn, modality]
        digest = name_of(recipe)[:24]
        if digest not in self._written:
            content = self._cache.kept(recipe, lambda: _make_image(source, degraded), bytes, bytes)
            path = f"images/{digest}.webp"
            self._folder.write_bytes(path, content)
            with Image.open(io.BytesIO(content)) as picture:  # the head alone is read
                self._written[digest] = (path, *picture.size)
        return self._written[digest]


def _drawn_parameters_of(recorded: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in recorded.items() if key not in _BESIDE}


def _make_image(source: bytes, degraded: _Degraded) -> bytes:
    with _explain_image_errors(degraded):
        image = open_image(source)
        if degraded is not None:
            name, recorded, modality = degraded
            if "picture" in recorded:
                image = to_rgb8(image)  # as our tasks hand it over
                if pixel_digest(image) != recorded["picture"]:
                    raise NotMade("The data has another picture than the one that was degraded.")
            drawn = _drawn_parameters_of(recorded)
            drawn_parameters.check_drawn_parameters(name, drawn, (image.height, image.width), modality)
            parameters = degradations.parameters_from_json(name, drawn, modality)
            image = degradations.apply_parameters(image, name, parameters, modality)
        return question_pictures.encode_shown_webp(image)


@contextmanager
def _explain_image_errors(degraded: _Degraded) -> Iterator[None]:
    """Separate faults of an image from a cache or a site that can't be written."""
    # A log may say anything; some degradations need a package that a board does without (Numba).
    wrong = (UserError, OSError) if degraded is None else (UserError, OSError, ImportError, *packs.UNCOMPUTABLE)
    try:
        yield
    except wrong as error:
        raise NotMade(str(error)) from error
