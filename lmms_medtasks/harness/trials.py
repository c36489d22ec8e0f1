"""What a hook has to remember of a question within a process: the number of the trial, how its pictures were made."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from lmms_medtasks.seeding import stable_seed


class TrialSeeder:
    """Seeds torch for each trial of each question.

    The harness seeds torch alike on every rank, so that two ranks would draw the same numbers for different questions,
    and one process others than two. It asks for a question's pictures once a trial, right before the model generates,
    in the same thread: seeding then, from the question's id and the number of the trial, makes every draw its own and
    independent of how the questions are spread over processes (exactly so at batch size 1).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, int] = {}
        self._told: dict[str, deque[int]] = {}

    def reset(self, ids: Iterable[str]) -> None:
        """Forget the trials of these questions: a new run of them starts."""
        with self._lock:
            for each in ids:
                self._calls.pop(each, None)
                self._told.pop(each, None)

    def expect(self, question_id: str, trials: Iterable[int]) -> None:
        """Let the question's next trials have these numbers: others are known from a run that was cut off."""
        with self._lock:
            self._told[question_id] = deque(trials)

    def next_seed(self, question_id: str, seed: int = 0) -> int:
        """The seed of the question's next trial: a function of its id, the trial's number and ``seed`` alone."""
        with self._lock:
            told = self._told.get(question_id)
            trial = told.popleft() if told else self._calls.get(question_id, 0)
            self._calls[question_id] = trial + 1
        return stable_seed("trial", question_id, trial, seed)

    def seed_torch(self, question_id: str, seed: int = 0) -> None:
        """Seed torch's generators (the CPU's and every GPU's) for the question's next trial."""
        import torch

        # torch takes seeds up to 2**64 - 1, but CUDA's documentation promises only the signed range.
        torch.manual_seed(self.next_seed(question_id, seed) & (2**63 - 1))


class RenderedParameters:
    """The parameters with which each question's pictures were degraded, from rendering to scoring in one process.

    The harness scores a question in the process that rendered it, and gives the scoring hook no picture to draw the
    parameters from again. Replies from a response cache are scored without rendering: there is nothing to tell then. A
    journal of replies (:mod:`lmms_medtasks.harness.journal`) keeps them beside each reply.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_question: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}

    def reset(self, ids: Iterable[str]) -> None:
        """Forget these questions."""
        with self._lock:
            for each in ids:
                self._by_question.pop(each, None)

    def put(self, question_id: str, number: int, parameters: dict[str, Any], order: str = "") -> None:
        """Remember the parameters of the question's picture ``number``.

        ``order``: what was to be done, where several tasks of a run degrade a question of one id differently; "" where
        it is not known.
        """
        with self._lock:
            of_question = self._by_question.setdefault(question_id, {})
            found = of_question.pop(order, {})
            of_question[order] = {**found, number: parameters}  # the latest order last

    def get(self, question_id: str, order: str | None = None) -> list[dict[str, Any]]:
        """The parameters of the question's degraded pictures, in their order; [] if none was degraded here.

        ``order``: those of this order, or else of an unknown one; None for the latest.
        """
        with self._lock:
            of_question = self._by_question.get(question_id, {})
            latest: dict[int, dict[str, Any]] = next(reversed(of_question.values()), {})
            found = latest if order is None else of_question.get(order) or of_question.get("", {})
            return [found[number] for number in sorted(found)]

    def numbered(self, question_id: str) -> dict[int, dict[str, Any]]:
        """The latest ones by the pictures' numbers."""
        with self._lock:
            return dict(next(reversed(self._by_question.get(question_id, {}).values()), {}))
