"""The questions of MedObvious's tasks, and their prompts."""

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
    """All questions, an item's eight together, tiers in turn: ``--limit`` takes whole items of all tiers."""
    return _choose_questions(dataset, "tier", None)


def _choose_questions(dataset: Dataset, tag: str, value: Any) -> Dataset:
    """The questions whose ``tag`` has ``value`` (None: all), in the order of :func:`all_items`; an index, no copy."""
    tiers, items = dataset["tier"], dataset["item"]
    turns: dict[int, dict[str, int]] = {}
    for tier, item in zip(tiers, items, strict=True):
        of_tier = turns.setdefault(tier, {})
        of_tier.setdefault(item, len(of_tier))
    rows = [row for row, tag_value in enumerate(dataset[tag]) if value is None or tag_value == value]
    if not rows:
        raise UserError(f"No question with {tag} {value!r} in medtasks://medobvious/test.")
    return dataset.select(sorted(rows, key=lambda row: (turns[tiers[row]][items[row]], tiers[row], row)))


detection_mcq, detection_open, referring_mcq, referring_open, visual_referring = (
    functools.partial(_choose_questions, tag="task_type", value=name)
    for name in ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
)


def _rotate_questions(dataset: Dataset, task_type: str) -> Dataset:
    """A copy of each question for each rotation of its options.

    Raises UserError if a question lists its options in a form that can't be changed.
    """
    dataset = _choose_questions(dataset, "task_type", task_type)
    for name, question, options in zip(*(dataset[column] for column in ("id", "question", "options")), strict=True):
        rotated = question_with_options(question, options, [*options[1:], *options[:1]], name)
        if rotated == question and all(option in question for option in options):
            raise UserError(
                f"Question {name!r} names all its options in its text, without letters in lines of their own: their "
                "order can't be changed. Expected a line such as 'A) top-left' for each."
            )
    return rotate_documents(dataset)


detection_mcq_circular = functools.partial(_rotate_questions, task_type="detection_mcq")
referring_mcq_circular = functools.partial(_rotate_questions, task_type="referring_mcq")
t1, t2, t3, t4, t5 = (functools.partial(_choose_questions, tag="tier", value=tier) for tier in (1, 2, 3, 4, 5))


def doc_to_text(doc: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> str:
    """The prompt: the question as in the data, which in the release includes options and instructions.

    Options that the question does not show are added with an instruction. With ``wording: neutral`` detection and
    highlighted panels get the wordings of prompts.yml, which are the same with and without an outlier (the release's
    are not); referring questions, which all have one, stay. ``system_prompt: true`` puts system_prompt.txt first. A
    custom ``prompt`` is a text with {question}, and optionally {options}.
    """
    settings, question, options = settings or {}, str(doc["question"]), doc["options"]
    prompts, custom = _read_prompts(), str(settings.get("prompt") or PROMPTS)
    wording = prompts["question" if all(option in question for option in options) else "question_with_options"]
    if settings.get("wording") == "neutral":
        wording = prompts["neutral"].get(doc.get("task_type"), wording)
    if custom != PROMPTS:
        wording = prompt_text(custom)
    letters = option_letters(len(options)) if options else ""
    lines = "\n".join(f"  {letter}) {text}" for letter, text in zip(letters, options, strict=True))
    # One pass over the question, so that braces in its text are not replaced.
    parts = wording.replace("{grid}", doc.get("grid", "").replace("x", "×")).split("{question}")
    text = question.join(part.replace("{options}", lines) for part in parts)
    if settings.get("system_prompt"):
        return f"{prompt_text(SYSTEM).replace('{task_type}', doc['task_type'])}\n\n{text}"
    return text


@functools.cache
def _read_prompts() -> dict[str, Any]:
    prompts: dict[str, Any] = yaml.safe_load(prompt_text(PROMPTS))
    return prompts
