"""Check a task's questions for likely mistakes: in the set, in texts, and in images."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from lmms_medtasks import parsing, pictures
from lmms_medtasks.contribute.loaded import LoadedTask
from lmms_medtasks.data import picture_checks
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.data.listed_options import split_listed_options
from lmms_medtasks.data.picture_files import PictureFiles
from lmms_medtasks.data.table_cells import fold_cell, leading_letters, place_of, sign_name
from lmms_medtasks.task_yaml.problems import ValidationLog

_ENOUGH_SAME_LETTER = 10
"""Questions from which equal correct letters are no coincidence."""
_ENOUGH_NEVER_CORRECT = 30
"""Questions from which a first or last of three or more options that is never correct is no coincidence."""
_EXAMPLES = 3


def check_questions(task: LoadedTask) -> None:
    """Check the questions of a task on a template whose documents are well-formed."""
    if task.template is None:
        return
    docs = task.scored.to_list()
    _check_has_images(task)
    _check_repeated_questions(task, docs)
    _check_placeholders(task, docs)
    if task.template.kind == "choice" and task.settings.get("parser") in ("option", "letter"):
        _check_correct_letters(task, docs)
    _check_lettered_options(task, docs)
    _check_texts(task, docs)


def check_prompt(task: LoadedTask, doc: Mapping[str, Any], prompt: str) -> None:
    """Check that a prompt contains the question and its options."""
    if task.template is None:
        return
    key = f"question {doc.get('id')!r}"
    if str(doc.get("question", "")).strip() not in prompt:
        task.add("the question's text is not in the prompt", key=key, value=prompt)
    missing = [text for text in doc.get("options") or () if text not in prompt]
    if missing:
        task.add(f"the option {missing[0]!r} is not in the prompt: a model can't know its letter",
                 key=key, value=prompt, level="warning")  # fmt: skip


def _add_warning(task: LoadedTask, message: str) -> None:
    task.add(message, key="questions", level="warning")


def _check_has_images(task: LoadedTask) -> None:
    if task.settings.get("no_image"):
        return
    rows = picture_checks.encoded_images(task.documents)
    without = [number for number, row in enumerate(rows or ()) if not images_of(row)]
    count = len(task.documents)
    if rows is None or len(without) == count:
        _add_warning(task, "no image is shown, and the settings do not say no_image: true")
    elif without:
        first = task.documents["id"][without[0]]
        _add_warning(task, f"{len(without)} of {count} questions have no image, the first is {first!r}")


def check_pictures_beside(folder: Path, tasks: Sequence[LoadedTask], log: ValidationLog) -> None:
    """Warn of images in a folder whose tasks show none; those that its card shows do not count."""
    if any(task.template is None or {"image", "images"} & set(task.documents.column_names) for task in tasks):
        return
    card = folder / "README.md"
    card_text = card.read_text("utf-8", errors="replace") if card.is_file() else ""
    names = [
        name for name in PictureFiles(folder).names if PurePath(name).suffix and PurePath(name).name not in card_text
    ]
    if tasks and names:
        message = (
            f"no question has an image, and {len(names)} lie in the folder ({names[0]} first). If questions are about "
            'them, name the column that tells which: from_columns(image="COLUMN") in adapter.py. Else take them out'
        )
        log.add(folder.name, message, key="questions", level="warning")


def _check_repeated_questions(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    """Check for repeated questions on the same images; with different answers one of them is wrong."""
    seen: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    repeated = []
    for doc in docs:
        if doc.get("rotation"):
            continue
        image = "" if str(doc["image_id"]).startswith("none-") else doc["image_id"]
        options = tuple(sorted(doc["options"]))
        question_key = (doc["question"], image, options, doc.get("degradation"), doc.get("severity"))
        first = seen.setdefault(question_key, doc)
        if first is doc:
            continue
        repeated.append(f"{first['id']!r} and {doc['id']!r}")
        if _correct_texts(first) != _correct_texts(doc):
            message = f"is question {first['id']!r} again (same text, images and options), with another correct answer"
            answers = f"{_correct_texts(first)} and {_correct_texts(doc)}"
            task.add(f"{message}: {answers}", key=f"question {doc['id']!r}")
            return
    if repeated:
        more = f" and {len(repeated) - _EXAMPLES} more" if len(repeated) > _EXAMPLES else ""
        _add_warning(task, f"the same question is asked twice: {', '.join(repeated[:_EXAMPLES])}{more}")


def _correct_texts(doc: Mapping[str, Any]) -> list[str]:
    """The texts of the correct options, sorted: independent of the options' order."""
    options = doc["options"]
    if not options:
        return [str(doc["answer"])]
    letters = parsing.option_letters(len(options))
    return sorted(options[letters.index(letter)] for letter in doc["answer"] if letter in letters)


def _check_placeholders(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    holding = [doc["id"] for doc in docs if "<image" in doc["question"]]
    if holding:
        message = (
            f"{len(holding)} questions hold <image>, the first is {holding[0]!r}: a model is shown it as text, and "
            "some count their images by it. Take it out"
        )
        _add_warning(task, message)


def _check_correct_letters(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    """Check for implausible correct letters: all the same, or never the first or the last."""
    if any(doc.get("rotation") for doc in docs):
        return
    counted = Counter(doc["answer"] for doc in docs)
    if len(docs) >= _ENOUGH_SAME_LETTER and len(counted) == 1:
        message = (
            f"the correct answer of all {len(docs)} questions is {next(iter(counted))}: a model that always says so is "
            "always right. Shuffle the options"
        )
        _add_warning(task, message)
        return
    if len(docs) < _ENOUGH_NEVER_CORRECT or any(len(doc["options"]) < 3 for doc in docs):
        return
    last = all(doc["answer"] != parsing.option_letters(len(doc["options"]))[-1] for doc in docs)
    for never, which in ((counted["A"] == 0, "first"), (last, "last")):
        if never:
            message = (
                f"the {which} option is right in none of {len(docs)} questions. Do the answers count from "
                f"{'0' if which == 'first' else '1'}, and not from {'1' if which == 'first' else '0'}?"
            )
            _add_warning(task, message)


def _check_lettered_options(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    for doc in docs:
        stated_letters = leading_letters(doc["options"])
        if not stated_letters:
            continue
        letters = list(parsing.option_letters(len(stated_letters)))
        are_distinct = len(set(stated_letters)) == len(stated_letters)
        if stated_letters != letters and are_distinct and set(stated_letters) <= set(parsing.option_letters(26)):
            message = (
                f"its options begin with {', '.join(stated_letters)}, and the prompt calls them {', '.join(letters)}: "
                "a reply could mean either. Put them in order, or take the letters off"
            )
            task.add(message, key=f"question {doc['id']!r}", value=" | ".join(doc["options"]))
            return
        message = (
            f"the options of question {doc['id']!r} begin with their letters, which the prompt puts too "
            f'("A. {doc["options"][0]}"). Take them off with lettered=True in adapter.py'
        )
        _add_warning(task, message)
        return


# --- Texts ------------------------------------------------------------------------------------------------------------

LONGEST = 20_000
"""Characters above which many models would truncate a question."""
_ENOUGH_GIVEN_AWAY = 5
"""Questions that contain only their correct option's text, from which this is reported."""
_UNSEEN = ("Cf", "Cc", "Co", "Cn")
_PLAIN = "\n\t\r\u200c\u200d\u200e\u200f\ufe0f"
"""Allowed characters of these categories: line breaks, joiners (Arabic, Indic, emoji), direction marks."""
_ANSWER_STATED = re.compile(r"\banswer\s*(?:is|:|=)\s*[(\[*\"']*([A-Za-z])\b(?![\w'’])", re.IGNORECASE)

Document = Mapping[str, Any]


def _check_texts(task: LoadedTask, docs: Sequence[Document]) -> None:
    for kind, why in _TEXT_PROBLEMS.items():
        problems = [(doc["id"], problem) for doc in docs if (problem := why(doc))]
        if problems and (kind != _GIVEN_AWAY or len(problems) >= max(_ENOUGH_GIVEN_AWAY, len(docs) / 2)):
            first, problem = problems[0]
            message = f"{len(problems)} of {len(docs)} questions {kind}, the first is {first!r}: {problem}"
            task.add(message, key="questions", level="warning")


def _all_texts(doc: Document) -> list[str]:
    return [str(doc["question"]), *map(str, doc["options"] or ())]


def _damaged_text(doc: Document) -> str:
    """Detect UTF-8 that was read as Windows-1252, and replacement characters."""
    for text in _all_texts(doc):
        if "\ufffd" in text:
            return f"{text[:60]!r} holds U+FFFD, which stands for a character that was lost"
        for encoding in ("cp1252", "latin-1"):
            with contextlib.suppress(UnicodeError):
                meant = text.encode(encoding).decode("utf-8")
                if meant != text:
                    return f"{text[:60]!r} was meant to be {meant[:60]!r}: read it as UTF-8 and write the table again"
    return ""


def _invisible_character(doc: Document) -> str:
    for text in _all_texts(doc):
        for sign in text:
            if unicodedata.category(sign) in _UNSEEN and sign not in _PLAIN:
                return f"{sign_name(sign)} in {text[:60]!r}. Take it out"
    return ""


def _too_long(doc: Document) -> str:
    length = len(doc["question"])
    return f"{length:,} characters. Many models would be shown a part of it" if length > LONGEST else ""


def _equal_options(doc: Document) -> str:
    options = [fold_cell(str(option)) for option in doc["options"] or ()]
    twice = next((option for option in options if options.count(option) > 1), "")
    return f"{twice!r}. A reply in words can't tell them apart" if twice else ""


def _stated_answer(doc: Document) -> str:
    match = _ANSWER_STATED.search(str(doc["question"]))
    letters = parsing.option_letters(len(doc["options"])) if doc["options"] else ""
    letter = match[1].upper() if match else ""
    return f"{match[0]!r}" if match and letter in letters and letter in str(doc["answer"]) else ""


def _contained_answer(doc: Document) -> str:
    options, answer = doc["options"] or [], str(doc["answer"])
    letters = parsing.option_letters(len(options)) if options else ""
    if len(answer) != 1 or answer not in letters or _listed_options(doc):
        return ""
    question = fold_cell(str(doc["question"]))
    held = [option for option in options if re.search(rf"\b{re.escape(fold_cell(str(option)))}\b", question)]
    return f"{held[0]!r}" if held == [options[letters.index(answer)]] else ""


def _listed_options(doc: Document) -> str:
    options = [str(option) for option in doc["options"] or ()]
    listed = len(options) > 1 and all(option in str(doc["question"]) for option in options)
    lettered = listed and re.search(r"\bA[.):]", str(doc["question"]))
    return "a model gets them twice, once from the prompt. Take them out of the question" if lettered else ""


def _unread_options(doc: Document) -> str:
    split = None if doc["options"] else split_listed_options(str(doc["question"]))
    if split is None or all(place_of(doc["answer"], split[1], kind) is None for kind in ("letter", "text")):
        return ""
    return f'{" | ".join(split[1])}. With options="question" in adapter.py a letter is asked for'


_GIVEN_AWAY = "hold the text of their correct option and of no other"
_TEXT_PROBLEMS: Mapping[str, Callable[[Document], str]] = {
    "have texts whose encoding is damaged": _damaged_text,
    "hold characters that nobody sees": _invisible_character,
    f"are longer than {LONGEST:,} characters": _too_long,
    "have options that differ in letter case or blanks only": _equal_options,
    "say their right answer": _stated_answer,
    _GIVEN_AWAY: _contained_answer,
    "list their options": _listed_options,
    "end with options, and are asked as open questions": _unread_options,
}
"""Message -> function that returns the reason for a document, "" if it does not apply."""


# --- Images -----------------------------------------------------------------------------------------------------------

LOOKED_AT = 100
"""Number of images that are checked, the first ones."""
SMALLEST = 28
"""Pixels that the shorter side must have for Qwen2-VL and similar models."""

_IMAGE_PROBLEMS = {
    "window": "have more than 8 bits and state no window: each is shown from its own darkest to its own brightest "
    "value. State the window in the files: WindowCenter and WindowWidth (DICOM fields, texts of a PNG)",
    "colours": "have colours that contradict their DICOM header: they are shown as their JPEG says",
    "small": f"have a side of fewer than {SMALLEST} pixels: several models refuse them",
    "plain": "show one colour and nothing else, as after an export that failed",
}


def check_images(task: LoadedTask) -> None:
    """Warn of suspicious images among the first ones of a task on a template."""
    rows = picture_checks.encoded_images(task.documents)
    if rows is None or task.settings.get("no_image"):
        return
    ids: dict[str, list[str]] = {kind: [] for kind in _IMAGE_PROBLEMS}
    count = 0
    for name, picture in _first_images(rows, list(task.documents["id"][:])):
        count += 1
        for kind in _image_problems(picture):
            ids[kind].append(name)
    for kind, question_ids in ids.items():
        if question_ids:
            first = f"(question {question_ids[0]!r} first)"
            message = f"{len(question_ids)} of {count} images looked at {first} {_IMAGE_PROBLEMS[kind]}"
            task.add(message, key="pictures", level="warning")


def _first_images(rows: Any, ids: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    left = LOOKED_AT
    for number, row in enumerate(rows):
        for picture in images_of(row)[:left]:
            left -= 1
            yield str(ids[number]), picture
        if left <= 0:
            return


def _image_problems(picture: Mapping[str, Any]) -> list[str]:
    """The keys of :data:`_IMAGE_PROBLEMS` that apply to a decodable image."""
    image = pictures.open_image(picture)
    view = image.info.get(pictures.SHOWN_AS, "")
    extremes: Any = image.getextrema()
    wide = image.mode in pictures.WIDE_MODES and "WindowCenter" not in image.info
    wide = wide and extremes[1] <= pictures.FULL_WINDOW[1] // 2
    bands = extremes if isinstance(extremes[0], tuple) else (extremes,)
    facts = {
        "window": wide or "own smallest" in view,
        "colours": '"colours"' in view,
        "small": min(image.size) < SMALLEST,
        "plain": image.mode != "P" and all(low == high for low, high in bands),
    }
    return [kind for kind, true in facts.items() if true]
