"""What looks wrong in a task's questions as a whole, and in prompts as a model gets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute import text_checks
from lmms_medtasks.contribute.loaded import Loaded
from lmms_medtasks.data import picture_checks
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.data.table_cells import lettered
from lmms_medtasks.task_yaml.problems import Findings

_ENOUGH = 10
"""Questions from which on it is no chance that all have the same right letter."""
_MANY = 30
"""Questions from which on it is no chance that the first, or the last, of three options and more is never right."""
_NAMED = 3


def check(task: Loaded, found: Findings) -> None:
    """Check the questions of a task on a template, whose documents are as they should be."""
    if task.template is None:
        return
    docs = [task.scored[row] for row in range(len(task.scored))]
    _check_pictures(task, found)
    _check_repeated(task, docs, found)
    _check_placeholders(task, docs, found)
    if task.template.kind == "choice" and task.settings.get("parser") in ("option", "letter"):
        _check_letters(task, docs, found)
    _check_lettered(task, docs, found)
    text_checks.check(task, docs, found)


def check_prompt(task: Loaded, doc: Mapping[str, Any], prompt: str, found: Findings) -> None:
    """Check that a prompt asks the question and tells the options."""
    if task.template is None:
        return
    key = f"question {doc.get('id')!r}"
    if str(doc.get("question", "")).strip() not in prompt:
        found.add(task.path, "the question's text is not in the prompt", key=key, value=prompt)
    missing = [text for text in doc.get("options") or () if text not in prompt]
    if missing:
        found.add(task.path, f"the option {missing[0]!r} is not in the prompt: a model can't know its letter",
                  key=key, value=prompt, level="warning")  # fmt: skip


def _warn(task: Loaded, message: str, found: Findings) -> None:
    found.add(task.path, message, key="questions", level="warning")


def _check_pictures(task: Loaded, found: Findings) -> None:
    if task.settings.get("no_image"):
        return
    rows = picture_checks.encoded(task.documents)
    without = [number for number, row in enumerate(rows or ()) if not images_of(row)]
    count = len(task.documents)
    if rows is None or len(without) == count:
        _warn(task, "no image is shown, and the settings do not say no_image: true", found)
    elif without:
        first = task.documents["id"][without[0]]
        _warn(task, f"{len(without)} of {count} questions have no image, the first is {first!r}", found)


def _check_repeated(task: Loaded, docs: Sequence[Mapping[str, Any]], found: Findings) -> None:
    """The same question on the same pictures: with another right answer one of them is wrong."""
    seen: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    repeated = []
    for doc in docs:
        if doc.get("rotation"):
            continue
        options = tuple(doc["options"])
        asked = (doc["question"], doc["image_id"], tuple(sorted(options)), doc.get("degradation"), doc.get("severity"))
        if str(doc["image_id"]).startswith("none-"):
            asked = (doc["question"], "", *asked[2:])
        first = seen.setdefault(asked, doc)
        if first is doc:
            continue
        repeated.append(f"{first['id']!r} and {doc['id']!r}")
        if _texts(first) != _texts(doc):
            message = (
                f"is question {first['id']!r} again (same text, images and options), with another correct answer: "
                f"{_texts(first)} and {_texts(doc)}"
            )
            found.add(task.path, message, key=f"question {doc['id']!r}")
            return
    if repeated:
        more = f" and {len(repeated) - _NAMED} more" if len(repeated) > _NAMED else ""
        _warn(task, f"the same question is asked twice: {', '.join(repeated[:_NAMED])}{more}", found)


def _texts(doc: Mapping[str, Any]) -> list[str]:
    """The right answer, whatever the order of the options is."""
    options = doc["options"]
    if not options:
        return [str(doc["answer"])]
    letters = parsing.option_letters(len(options))
    return sorted(options[letters.index(each)] for each in doc["answer"] if each in letters)


def _check_placeholders(task: Loaded, docs: Sequence[Mapping[str, Any]], found: Findings) -> None:
    holding = [doc["id"] for doc in docs if "<image" in doc["question"]]
    if holding:
        message = (
            f"{len(holding)} questions hold <image>, the first is {holding[0]!r}: a model is shown it as text, and "
            "some count their images by it. Take it out"
        )
        _warn(task, message, found)


def _check_letters(task: Loaded, docs: Sequence[Mapping[str, Any]], found: Findings) -> None:
    """Right letters that no draw would give: all the same, or never the first or the last."""
    if any(doc.get("rotation") for doc in docs):
        return
    counted = Counter(doc["answer"] for doc in docs)
    if len(docs) >= _ENOUGH and len(counted) == 1:
        message = (
            f"the correct answer of all {len(docs)} questions is {next(iter(counted))}: a model that always says so is "
            "always right. Shuffle the options"
        )
        _warn(task, message, found)
        return
    if len(docs) < _MANY or any(len(doc["options"]) < 3 for doc in docs):
        return
    last = all(doc["answer"] != parsing.option_letters(len(doc["options"]))[-1] for doc in docs)
    for never, which in ((counted["A"] == 0, "first"), (last, "last")):
        if never:
            message = (
                f"the {which} option is right in none of {len(docs)} questions. Do the answers count from "
                f"{'0' if which == 'first' else '1'}, and not from {'1' if which == 'first' else '0'}?"
            )
            _warn(task, message, found)


def _check_lettered(task: Loaded, docs: Sequence[Mapping[str, Any]], found: Findings) -> None:
    for doc in docs:
        own = lettered(doc["options"])
        if not own:
            continue
        letters = list(parsing.option_letters(len(own)))
        if own != letters and set(own) <= set(parsing.option_letters(26)) and len(set(own)) == len(own):
            message = (
                f"its options begin with {', '.join(own)}, and the prompt calls them {', '.join(letters)}: a reply "
                "could mean either. Put them in order, or take the letters off"
            )
            found.add(task.path, message, key=f"question {doc['id']!r}", value=" | ".join(doc["options"]))
            return
        message = (
            f"the options of question {doc['id']!r} begin with their letters, which the prompt puts too "
            f'("A. {doc["options"][0]}"). Take them off with lettered=True in adapter.py'
        )
        _warn(task, message, found)
        return
