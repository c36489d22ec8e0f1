"""Check a contributed task by executing its hooks on its data, as a run would."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lmms_medtasks import pictures
from lmms_medtasks.contribute import answer_checks, degradation_checks, question_checks
from lmms_medtasks.contribute.loaded import LoadedTask, call_reporting_errors, load_task
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError, nearest_name
from lmms_medtasks.suites.templates import DRAWN
from lmms_medtasks.task_yaml.chain import IncludeChain
from lmms_medtasks.task_yaml.problems import ValidationLog
from lmms_medtasks.writing import write_text_atomically

SHOWN = 5
SCORED = 200
"""Number of questions that are scored, the first ones."""
SNAPSHOT = "prompts.json"
FROZEN: Mapping[str, Any] = {
    "id": "frozen",
    "question": "Which side of the image shows the nodule?",
    "options": ["left", "right", "both", "neither"],
    "answer": "B",
    "image_id": "frozen",
    "data": "full",
    "grid": "2x2",
}
"""The question of the recorded prompts: the data's own questions may not be public."""


@dataclass(frozen=True)
class ShownQuestion:
    """A question as a model gets it. ``about``: its shift side, degradation and level."""

    id: str
    prompt: str
    pictures: tuple[Any, ...]
    target: str
    about: str


def check_live(chain: IncludeChain, log: ValidationLog) -> tuple[LoadedTask | None, list[ShownQuestion]]:
    """Check one task. Returns the loaded task (None if it failed) and its first questions as a model gets them."""
    task = load_task(chain, log)
    if task is None:
        return None, []
    questions = _render_questions(task)
    before = len(log.errors)
    _check_options(task)
    if len(log.errors) == before and len(questions) == min(SHOWN, len(task.documents)):
        task.try_call(question_checks.check_questions, task, what="can't be compared", key="questions")
        if task.template is not None:
            task.try_call(question_checks.check_images, task, what="can't be looked at", key="pictures")
        task.try_call(answer_checks.check_answers, task, what="can't be scored", key="process_results")
        task.try_call(_check_threads, task, what="can't be scored in threads", key="process_results")
    task.try_call(degradation_checks.check_degradations, task, what="can't be degraded", key="degradation")
    cluster = task.settings.get("cluster", "")
    clusters = f" in {len(set(task.documents[cluster]))} clusters ({cluster})" if cluster else ""
    task.note(f"{len(task.documents)} questions{clusters}, {len(questions)} looked at")
    return task, questions


def _render_questions(task: LoadedTask) -> list[ShownQuestion]:
    """Render the first questions (prompt, degraded images, target), each twice to see that nothing changes."""
    questions = []
    for row in _shown_rows(task):
        doc = task.documents[row]
        key = f"question {doc.get('id', row)!r}"
        question = task.try_call(_render_question, task, doc, what="can't be shown", key=key)
        if question is None:
            continue
        again = task.try_call(_render_question, task, doc, what="can't be shown a second time", key=key)
        if again is not None and _pixel_bytes(question) != _pixel_bytes(again):
            message = "its images differ from one call to the next: use no random numbers of your own"
            task.add(message, key=key)
        if not question.prompt.strip():
            task.add("the prompt is empty", key=key)
        else:
            question_checks.check_prompt(task, doc, question.prompt)
        for mode in sorted({str(getattr(picture, "mode", None)) for picture in question.pictures} - {"RGB"}):
            task.add(f"an image has the mode {mode!r}, expected 8-bit RGB", key=key)
        if not question.pictures and not task.settings.get("no_image") and task.template is None:
            message = "no image is shown, and the settings do not say no_image: true"
            task.add(message, level="warning", key=key)
        questions.append(question)
    return questions


def _pixel_bytes(question: ShownQuestion) -> list[bytes]:
    return [picture.tobytes() for picture in question.pictures]


def _render_question(task: LoadedTask, doc: Mapping[str, Any]) -> ShownQuestion:
    from PIL.Image import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pictures.WindowWarning)  # question_checks says it
        images = task.pictures(doc)
        about = _describe_condition(task, doc)
    for image in images:
        if not isinstance(image, Image):
            raise UserError(f"doc_to_visual gives a {type(image).__name__} among its images, expected PIL images.")
    return ShownQuestion(str(doc.get("id", "")), task.prompt(doc), tuple(images), task.target(doc), about)


def _describe_condition(task: LoadedTask, doc: Mapping[str, Any]) -> str:
    fields = {key: task.settings.get(key, doc.get(key)) for key in ("degradation", "severity")}
    fields = {"test": {"iid": "i.i.d.", "ood": "shifted"}.get(doc.get("set", ""), doc.get("set")), **fields}
    if fields["degradation"] == DRAWN:
        fields["degradation"] = doc.get("degradation")
    clauses = [f"{key} {value}" for key, value in fields.items() if value not in (None, "")]
    return ", ".join([*clauses, *_describe_windows(task, doc)])


def _describe_windows(task: LoadedTask, doc: Mapping[str, Any]) -> list[str]:
    if task.template is None or task.settings.get("no_image"):
        return []
    views = [pictures.shown_as(pictures.open_image(image)) for image in images_of(doc)]
    return [
        f"window {view['window'][0]:g} to {view['window'][1]:g} ({view.get('window_from', '16 bits')})"
        for view in views
        if "window" in view
    ]


def _shown_rows(task: LoadedTask) -> list[int]:
    """Rows of the shown questions: the first ones, alternating between both sides of a shift."""
    if "set" not in task.scored.column_names:
        return list(range(min(SHOWN, len(task.documents))))
    sides: dict[str, list[int]] = {}
    for row, side in enumerate(task.scored["set"]):
        sides.setdefault(side, []).append(row)
    turns = [row for turn in zip_longest(*sides.values()) for row in turn if row is not None]
    return sorted(turns[:SHOWN])


def _check_options(task: LoadedTask) -> None:
    """Check ids, options and answers of all questions; a custom adapter may not have done so."""
    if task.template is None:
        return
    missing = [name for name in ("id", "question", "options", "answer", "image_id") if name not in task.scored.features]
    if missing:
        task.add(f"its documents have no {', '.join(missing)}; they have "
                 f"{', '.join(task.scored.column_names)}: give process_docs an adapter", key="process_docs",
                 near=nearest_name(missing[0], task.scored.column_names))  # fmt: skip
        return
    if task.template.kind != "choice":
        return
    parser = answer_checks.task_parser(task)
    for doc in task.scored:
        key = f"question {doc['id']!r}"
        expected = task.try_call(parser.expected, doc, what="its answer can't be told", key=key)
        possible = task.try_call(parser.answers, doc, what="its answers can't be told", key=key)
        if expected is None or possible is None:
            return
        if possible and not any(parser.accepts(answer, expected) for answer in possible):
            message = "the answer is not among those that there are"
            task.add(message, key=key, value=expected, allowed=possible)
            return


def _check_threads(task: LoadedTask) -> None:
    """Check that the scoring hook gives equal values in any order and in several threads, and changes no document."""
    docs = [task.scored[row] for row in range(min(SCORED, len(task.scored)))]
    replies = [["A"] * task.repeats for _ in docs]
    before = json.dumps(docs, default=str)
    alone = [_values_json(task.score(doc, list(reply))) for doc, reply in zip(docs, replies, strict=True)]
    again = [_values_json(task.score(doc, list(reply))) for doc, reply in zip(docs[::-1], replies[::-1], strict=True)]
    with ThreadPoolExecutor(8) as pool:
        twice = list(pool.map(lambda pair: _values_json(task.score(*pair)), zip(docs * 2, replies * 2, strict=True)))
    if again != alone[::-1]:
        task.add("gives other values in another order: it keeps state between calls", key="process_results")
    elif twice != alone * 2:
        task.add("gives other values in several threads than in one: it keeps state between calls",
                 key="process_results")  # fmt: skip
    if json.dumps(docs, default=str) != before:
        task.add("changes the document that it is given", key="process_results")


def _values_json(scored: Any) -> str:
    return json.dumps(scored, default=str, sort_keys=True)


def snapshot_prompts(tasks: list[LoadedTask]) -> tuple[dict[str, str], dict[str, str]]:
    """Task -> its prompt for :data:`FROZEN`; and task -> error where the prompt needs further columns."""
    made, failed = {}, {}
    for task in tasks:
        doc = dict(FROZEN)
        if task.template is not None and (task.template.kind == "open" or "options" not in task.template.columns):
            doc["options"] = []
        try:
            made[task.name] = task.prompt(doc)
        except Exception as error:  # noqa: BLE001 (a hook of others on a question that is not theirs)
            failed[task.name] = f"{type(error).__name__}: {error}"
    return dict(sorted(made.items())), failed


def check_snapshot(folder: Path, tasks: list[LoadedTask], log: ValidationLog) -> None:
    """Compare the prompts with those in prompts.json."""
    path = folder / SNAPSHOT
    if not path.is_file():
        log.add(path, "is missing: write it with `lmms-medtasks validate FOLDER --write`")
        return
    recorded = call_reporting_errors(_read_snapshot, folder, path=path, what="is no record of prompts", log=log)
    current, failed = snapshot_prompts(tasks)
    for name, error in failed.items():
        log.add(path, f"no prompt could be made for a question without columns of its own ({error}): a change of it "
                "will not be noticed", key=name, level="warning")  # fmt: skip
    for name, prompt in current.items() if recorded is not None else ():
        if recorded.get(name) != prompt:
            log.add(path, "the prompt is another than recorded. If that is wanted: raise metadata.version, say so in "
                    "the card's changelog, and `lmms-medtasks validate FOLDER --write`", key=name,
                    # Of the record's question, which is nobody's own.
                    value=prompt.replace(FROZEN["question"], "{question}"))  # fmt: skip
    for name in recorded or ():
        if not (folder / f"{name}.yaml").is_file():
            log.add(path, "there is no such task any more: `lmms-medtasks validate FOLDER --write`", key=name)


def _read_snapshot(folder: Path) -> dict[str, str]:
    recorded = json.loads((folder / SNAPSHOT).read_bytes())
    if not isinstance(recorded, dict):
        raise UserError(f"expected a mapping task -> prompt, got a {type(recorded).__name__}")
    return recorded


def write_snapshot(folder: Path, tasks: list[LoadedTask], *, whole: bool) -> Path:
    """Write the prompts to prompts.json. Entries of other tasks stay, unless ``tasks`` are all (``whole``)."""
    path = folder / SNAPSHOT
    retained = {} if whole or not path.is_file() else _read_snapshot(folder)
    made = dict(sorted({**retained, **snapshot_prompts(tasks)[0]}.items()))
    write_text_atomically(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return path
