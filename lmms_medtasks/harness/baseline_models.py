"""The baselines as lmms-eval models: by chance and by looking at images; :mod:`.learned_model` has the third."""

from __future__ import annotations

import abc
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby, islice
from typing import Any

import numpy as np
from tqdm import tqdm

from lmms_medtasks import folders
from lmms_medtasks.baselines.read_prompts import answer_at_random
from lmms_medtasks.data.documents import CHOICES_SEPARATOR
from lmms_medtasks.harness.calls import TRIAL
from lmms_medtasks.harness.own_models import OwnModel, check_model_arguments, parse_whole_number
from lmms_medtasks.seeding import seeded_generator

_AHEAD = 4  # questions whose pictures are made before they are answered


class BaselineModel(OwnModel):
    """A model that answers a request at a time on the CPU.

    Its draws depend on ``seed`` (model argument), the task, the question and the number of the trial only, never on
    the order of requests or the number of processes.
    """

    is_simple = True
    is_instant = True
    """Its replies cost nothing: they are not kept for a run that goes on after a kill."""

    def __init__(self, seed: int = 0, **kwargs: Any) -> None:
        super().__init__()
        check_model_arguments(kwargs, self.argument_names())
        self.seed = parse_whole_number("seed", seed)

    @classmethod
    def argument_names(cls) -> tuple[str, ...]:
        return ("seed",)

    def _start_task(self, task: str, documents: Any) -> None:
        """Called when the requests of a task begin, with its documents."""

    @abc.abstractmethod
    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        """The reply to one request."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        trials: Counter[tuple[str, int]] = Counter()
        replies, at = [], ("", "")
        shown = tqdm(total=len(requests), desc="Answering", disable=None if self.rank == 0 else True)
        for request, pictures in self._with_images(requests):
            prompt, settings, _, doc_id, task, split = request.args
            trial = (request.metadata or {}).get(TRIAL, trials[task, doc_id])
            rng = seeded_generator(type(self).__name__, self.seed, task, doc_id, trial)
            trials[task, doc_id] += 1
            if (task, split) != at:
                at = (task, split)
                self._start_task(task, self.task_dict[task][split])
            # Without do_sample the harness means greedy decoding, whatever the temperature.
            sampled = settings.get("do_sample", True) is not False
            temperature = float(settings.get("temperature", 0.0)) if sampled else 0.0
            replies.append(self.reply(prompt, pictures, temperature, rng))
            shown.update()
        shown.close()
        return replies

    def _with_images(self, requests: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """Each request with its pictures: made once for a question's trials, which come one after the other, and for
        the next few questions in a second thread while one is answered."""
        questions = (list(group) for _, group in groupby(requests, key=lambda request: request.args[3:6]))
        with ThreadPoolExecutor(1) as pool:
            ahead: deque[tuple[list[Any], Future[list[Any]]]] = deque()
            while True:
                for question in islice(questions, _AHEAD - len(ahead)):
                    ahead.append((question, pool.submit(self._load_images, question[0])))
                if not ahead:
                    return
                question, pictures = ahead.popleft()
                for request in question:
                    yield request, pictures.result()

    def _load_images(self, request: Any) -> list[Any]:
        _, _, doc_to_visual, doc_id, task, split = request.args
        return doc_to_visual(self.task_dict[task][split][doc_id])


class RandomModel(BaselineModel):
    """``medtasks_random``: uniform over the options, at any temperature."""

    def _start_task(self, task: str, documents: Any) -> None:
        """A question may name its options in words; its document then lists them under ``choices``."""
        listed = documents.select_columns(["question", "choices"]) if "choices" in documents.column_names else ()
        self._choices = {row["question"]: row["choices"].split(CHOICES_SEPARATOR) for row in listed if row["choices"]}

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        choices = self._choices.get(prompt)
        return str(rng.choice(choices)) if choices else answer_at_random(prompt, rng)


class ObserverModel(BaselineModel):
    """``medtasks_observer``: a few filters over the mini phantoms' signals, see :mod:`.observer`."""

    def __init__(self, **kwargs: Any) -> None:
        from lmms_medtasks.baselines.observer import PhantomObserver  # much that no other baseline needs

        super().__init__(**kwargs)
        self._observer = PhantomObserver()
        # A benchmark whose phantoms are of another kind has an observer of its own: None where a prompt is none of its.
        self._others = [
            folders.suite_module(folder, "observer").observer_reply
            for folder in folders.folders_with_file("observer.py")
        ]

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        if not pictures:  # shown nothing, it guesses
            return answer_at_random(prompt, rng)
        custom_reply = next((text for reply in self._others if (text := reply(pictures, prompt)) is not None), None)
        return (
            custom_reply if custom_reply is not None else self._observer.answer(pictures[0], prompt, temperature, rng)
        )


class PixelOutlierModel(BaselineModel):
    """``medtasks_pixel_outlier``: the panel whose pixel statistics are furthest, see :mod:`.pixel_outlier`."""

    def reply(self, prompt: str, pictures: list[Any], temperature: float, rng: np.random.Generator) -> str:
        from lmms_medtasks.baselines import pixel_outlier

        return pixel_outlier.answer_grid_question(pictures[0], prompt) if pictures else ""
