"""MedObvious's questions for each task, and their prompts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import yaml

from lmms_medtasks.data.rotated_options import question_with_options, rotate_documents
from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing import option_letters
from lmms_medtasks.prompt_files import prompt_text

if TYPE_CHECKING:
    from datasets import Dataset

PROMPTS = "medobvious/prompts.yml"
SYSTEM = "medobvious/system_prompt.txt"


def all_items(dataset: Dataset) -> Dataset:
    """All questions, an item's eight one after the other, tiers taking turns: ``--limit`` takes whole items of all."""
    return _choose_questions(dataset, "tier", None)


def _choose_questions(dataset: Dataset, tag: str, value: Any) -> Dataset:
    """The questions whose ``tag`` has ``value`` (None: all), in the order of :func:`all_items`; an index, no copy."""
    columns = {name: dataset[name] for name in ("item", "tier", tag)}
    turns: dict[int, dict[str, int]] = {}
    for item, tier in zip(columns["item"], columns["tier"], strict=True):
        seen = turns.setdefault(tier, {})
        seen.setdefault(item, len(seen))
    rows = [row for row, found in enumerate(columns[tag]) if value is None or found == value]
    if not rows:
        raise UserError(f"No question with {tag} {value!r} in medtasks://medobvious/test.")
    tiers, items = columns["tier"], columns["item"]
    return dataset.select(sorted(rows, key=lambda row: (turns[tiers[row]][items[row]], tiers[row], row)))


detection_mcq, detection_open, referring_mcq, referring_open, visual_referring = (
    functools.partial(_choose_questions, tag="task_type", value=name)
    for name in ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
)


def detection_mcq_circular(dataset: Dataset) -> Dataset:
    """The detection questions with options, each once for each rotation of these."""
    return _rotate_questions(detection_mcq(dataset))


def referring_mcq_circular(dataset: Dataset) -> Dataset:
    """The referring questions with options, each once for each rotation of these."""
    return _rotate_questions(referring_mcq(dataset))


def _rotate_questions(dataset: Dataset) -> Dataset:
    """The copies; UserError where a question shows its options in a form that can't be changed.

    :func:`doc_to_text` adds options only where the text does not have them: they must change there.
    """
    for name, question, options in zip(*(dataset[column] for column in ("id", "question", "options")), strict=True):
        turned = question_with_options(question, options, [*options[1:], *options[:1]], name)
        if turned == question and all(option in question for option in options):
            raise UserError(
                f"Question {name!r} names all its options in its text, without letters in lines of their own: their "
                "order can't be changed. Expected a line such as 'A) top-left' for each."
            )
    return rotate_documents(dataset)


t1, t2, t3, t4, t5 = (functools.partial(_choose_questions, tag="tier", value=tier) for tier in (1, 2, 3, 4, 5))


def doc_to_text(doc: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> str:
    """The prompt: the question as the data has it, which in the release holds options and instructions too.

    Options that the question does not show are added with an instruction. ``wording: neutral`` in the task's settings
    asks detection and highlighted panels by the wordings in prompts.yml, which are the same with and without an outlier
    (the release's are not); referring questions, which all have one, stay. ``system_prompt: true`` puts what
    system_prompt.txt says first. A ``prompt`` of the user's own is a text with {question}, and {options} if it likes.
    """
    prompts = _read_prompts()
    own = str((settings or {}).get("prompt") or PROMPTS)
    shown = all(option in doc["question"] for option in doc["options"])
    wording = prompts["question" if shown else "question_with_options"]
    if (settings or {}).get("wording") == "neutral":
        wording = prompts["neutral"].get(doc.get("task_type"), wording)
    if own != PROMPTS:
        wording = prompt_text(own)
    letters = option_letters(len(doc["options"])) if doc["options"] else ""
    lines = "\n".join(f"  {letter}) {text}" for letter, text in zip(letters, doc["options"], strict=True))
    grid = doc.get("grid", "").replace("x", "×")
    # One pass over the question, so that braces in its own text stay what they are.
    parts = wording.replace("{grid}", grid).split("{question}")
    text = doc["question"].join(part.replace("{options}", lines) for part in parts)
    if (settings or {}).get("system_prompt"):
        return f"{_system_prompt().replace('{task_type}', doc['task_type'])}\n\n{text}"
    return str(text)


@functools.cache
def _system_prompt() -> str:
    return prompt_text(SYSTEM)


@functools.cache
def _read_prompts() -> dict[str, Any]:
    prompts: dict[str, Any] = yaml.safe_load(prompt_text(PROMPTS))
    return prompts
