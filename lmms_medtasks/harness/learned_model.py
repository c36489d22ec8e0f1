"""The baseline that learns, as an lmms-eval model: the answer that is right most often in training."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger

from lmms_medtasks.baselines import most_frequent
from lmms_medtasks.baselines.read_prompts import read_prompt
from lmms_medtasks.data import locate_split, sources
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.baseline_models import BaselineModel
from lmms_medtasks.suites import templates


class MostFrequentModel(BaselineModel):
    """``medtasks_most_frequent``: the most frequent training answer to the same question, see :mod:`.most_frequent`.

    ``train``: the training questions, a ``medtasks://suite/split`` or a parquet file. By default a task learns from its
    own ``training_split``, or from the training split of its benchmark's data, reduced to what the task's shift trains
    on. A task without either is refused: answers to other questions are not a baseline.
    """

    def __init__(self, train: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._train, self._task = str(train), ("", "")
        self._own: dict[str, most_frequent.MostFrequentAnswer] = {}
        self._suites: dict[str, str] = {}  # task on data of ours -> the data's name
        self._coverage: dict[tuple[str, str], tuple[int, int]] = {}
        if self._train:
            _training_file(self._train)  # raises UserError before pictures are rendered

    @classmethod
    def argument_names(cls) -> tuple[str, ...]:
        return ("seed", "train")

    def generate_until(self, requests: list[Any]) -> list[str]:
        replies = super().generate_until(requests)
        for (task, train), (known, request_count) in self._coverage.items():
            logger.info(
                f"medtasks_most_frequent: {known:,} of {request_count:,} requests of {task} ask what a training "
                f"question of {train} asks. The others get the option that is right most often overall, without "
                "options no answer."
            )
        self._coverage.clear()
        return replies

    def learn_from(self, tasks: Iterable[Any]) -> None:
        """Learn from the training splits of the harness's ``tasks``, unless ``train`` is given.

        Called before generation by :mod:`lmms_medtasks.harness.evaluating`.

        Raises:
            UserError: a task that is not ours has no training split, or one that is not suitable.
        """
        by_name = {str(task.config.task): task for task in tasks}
        configs = {name: vars(task.config) for name, task in by_name.items()}
        self._suites |= {name: suite for name, config in configs.items() if (suite := _suite_of(config))}
        if self._train:
            return
        check_training_splits(configs)
        for name, task in by_name.items():
            if split := task.config.training_split:
                self._own[name] = most_frequent.MostFrequentAnswer(_own_pairs(task, name, split))

    def _start_task(self, task: str, documents: Any) -> None:
        """Choose the training questions; for a task of ours with a shift those of the shift."""
        if not self._train and task in self._own:
            self._task, self._model = (task, "its training split"), self._own[task]
            return
        ours = task in self._suites
        if not self._train and not ours:
            raise _untaught_error([task], [])
        shift = documents.select_columns(["shift"])[0]["shift"] if ours and "shift" in documents.column_names else ""
        train = self._train or f"medtasks://{self._suites[task]}/train"
        self._task = (task, train)
        self._model = _trained_model(train, self._suites.get(task, ""), shift)

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        guess = self._model.answer(prompt)
        known, request_count = self._coverage.get(self._task, (0, 0))
        self._coverage[self._task] = (known + guess.known, request_count + 1)
        return guess.answer


@functools.lru_cache(maxsize=8)
def _trained_model(train: str, suite: str, shift: str) -> most_frequent.MostFrequentAnswer:
    rule_of = sources.get(suite).training_rule if suite and shift else None
    pairs = most_frequent.read_pairs(_training_file(train), rule_of(shift) if rule_of else None)
    return most_frequent.MostFrequentAnswer(pairs)


def check_training_splits(configs: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise UserError that names all tasks without a training split; ``configs``: the harness's, by task."""
    untaught = []
    for name, config in configs.items():
        suite = _suite_of(config)
        has_split = suite and any(split.name == "train" for split in sources.get(suite).splits)
        if not config.get("training_split") and not has_split:
            untaught.append(name)
    if untaught:
        raise _untaught_error(untaught, [name for name in configs if name not in untaught])


def _suite_of(config: Mapping[str, Any]) -> str:
    """The data's name in medtasks:// for a task of our benchmarks; "" for other and for contributed tasks."""
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    match = re.search(r"medtasks://([^/]+)/", str(files))
    return match[1] if match and not templates.is_on_template(config.get("process_results")) else ""


def _untaught_error(tasks: Iterable[str], taught: Iterable[str]) -> UserError:
    others = ", ".join(taught)
    can = f" It can be asked: {others}." if others else ""
    return UserError(
        f"{', '.join(tasks)}: medtasks_most_frequent has nothing to learn from: no training split, and answers to "
        f"other questions are no baseline.{can} Leave these tasks out, name a training split in their YAML "
        "(`training_split: train`, with the table under dataset_kwargs: data_files: train), or give --model_args "
        "train=FILE.parquet or medtasks://SUITE/SPLIT."
    )


def _own_pairs(task: Any, name: str, split: str) -> list[tuple[str, str]]:
    """(question in the task's prompt, text of the right answer) for each row of a task's training split."""
    data = task.dataset_no_image
    if split not in data:
        raise UserError(f"{name}: training_split: {split!r}: the data has no such split, it has {', '.join(data)}.")
    if split == task.config.test_split:
        raise UserError(f"{name}: training_split: {split!r} is the test split: the answers asked for would be known.")
    documents = data[split]
    for column in ("question", "options", "answer"):
        if column not in documents.column_names:
            raise UserError(
                f"{name}: training_split: {split!r}: its documents have no column {column!r}, they have "
                f"{', '.join(documents.column_names)}. medtasks_most_frequent learns from documents in our form only."
            )
    tested = data[task.config.test_split] if task.config.test_split in data else ()
    if tested and _question_rows(tested) <= _question_rows(documents):
        raise UserError(
            f"{name}: training_split: {split!r} has all questions of the test split with their answers, so the answers "
            "asked for would be known. Name a table of other questions."
        )
    pairs = [
        (read_prompt(task.doc_to_text(doc)).question, most_frequent.answer_text(doc["options"], str(doc["answer"])))
        for doc in documents
    ]
    if not pairs:
        raise UserError(f"{name}: training_split: {split!r} has no rows to learn from.")
    return pairs


def _question_rows(documents: Any) -> set[tuple[str, ...]]:
    """The questions of a split with their answers, and with ``image_id`` if the documents have it."""
    names = [name for name in ("question", "answer", "options", "image_id") if name in documents.column_names]
    return {tuple(str(row[name]) for name in names) for row in documents.select_columns(names)}


def _training_file(train: str) -> Path:
    if train.startswith("medtasks://"):
        suite, _, split = train.removeprefix("medtasks://").partition("/")
        return locate_split(suite, split).path
    path = Path(train).expanduser()
    if not path.is_file():
        raise UserError(f"No training questions at {train!r} (model argument train): no such file.")
    return path
