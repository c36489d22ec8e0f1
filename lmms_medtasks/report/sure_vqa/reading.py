"""From the files of a run to SURE-VQA's answers by shift: each question's scores, and nothing of its text."""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges import records as _judged
from lmms_medtasks.report.judged import Judging
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import model_name, printable, required, samples, settings_of, tasks_of
from lmms_medtasks.statistics import coverage
from lmms_medtasks.statistics.bootstrap import part
from lmms_medtasks.statistics.robustness import Sides
from lmms_medtasks.task_configs.sure_vqa import reference

Record = Mapping[str, Any]
Side = Literal["iid", "ood"]

TITLE = "SURE-VQA"
SIDES: tuple[Side, ...] = ("iid", "ood")
KINDS = ("closed", "open")
SCALES: Mapping[str, tuple[float, float]] = {"closed": (0.0, 1.0), "open": (1.0, 5.0)}
"""What the judge gives at worst and at best."""
TRADITIONAL = ("exact_match", "precision", "recall", "f1", "bleu")
_TASK = re.compile(r"sure_([^_]+)_(.+?)(?:_(?:iid|ood))?(?:_noimage)?(?:_(?:iid|ood))?")
_CORRUPTED = re.compile(r"(?:.+_)?corrupted_(low|medium|high)")
_STRENGTHS = ("low", "medium", "high")
_KIND_OF = {"closed": "closed", "multilabel": "closed", "open": "open"}
_REQUIRED = ("id", "image_id", "set", "answer_type", "trials", "judge", "verdicts")
_BASELINES, _ADAPTER = "medtasks_", "medtasks_peft"


@dataclass(frozen=True, order=True)
class Shift:
    """A shift of a dataset, as its task is named: ``slake`` and ``modality`` of ``sure_slake_modality``."""

    dataset: str
    name: str

    @property
    def label(self) -> str:
        """``SLAKE, question type``."""
        return f"{reference.DATASETS.get(self.dataset, self.dataset)}, {self.name.replace('_', ' ')}"

    @property
    def published(self) -> bool:
        """Whether Tables 14 to 19 have it."""
        return self.name in reference.SHIFTS.get(self.dataset, ())

    @property
    def strength(self) -> str:
        """Of a corrupted test how strongly: "low", "medium" or "high"; "" for a real shift."""
        found = _CORRUPTED.fullmatch(self.name)
        return found.group(1) if found else ""

    @property
    def place(self) -> tuple[Hashable, ...]:
        """Sorts shifts: datasets and shifts as in the paper, others behind, corrupted tests last."""
        datasets, own = list(reference.DATASETS), reference.SHIFTS.get(self.dataset, ())
        behind = datasets.index(self.dataset) if self.dataset in datasets else len(datasets)
        order = own.index(self.name) if self.name in own else len(own)
        if self.strength:
            order += 1 + _STRENGTHS.index(self.strength)
        return behind, self.dataset, order, self.name


@dataclass(frozen=True)
class Answer:
    """A question's answer, reduced to numbers.

    Attributes:
        kind: "closed" (questions with two options among them, whose scores are 0, 0.5 or 1) or "open".
        score: by the judge or the exact match, mean over judgements that were had; None without any, and where no
            judge judged anything of the test (see :func:`sources`).
        low, high: the score, had each missing judgement been the worst or the best; None for a failed request.
        judged, wanted: judgements had and wanted; none is wanted of a failed request.
        judgement: where the score is from: "exact" (a rule, such as the exact match), "judged", "partial", "missing" or
            "failed", as :func:`lmms_medtasks.judges.records.value` has it.
        status: "ok", "empty", "truncated" or "failed".
        text: the traditional metrics, in [0, 1]; empty where the request failed.
    """

    id: str
    question_id: str
    image_id: str
    side: Side
    kind: str
    score: float | None
    low: float | None
    high: float | None
    judged: int
    wanted: int
    judgement: str
    status: str
    text: Mapping[str, float]


@dataclass(frozen=True)
class Source:
    """The answers of one run, with or without images, to the tests of its shifts.

    Attributes:
        model: the checkpoint's name, or the harness's name of the model. tasks: the tasks that the answers are from.
        image_shown: False for the ``*_noimage`` tasks. baseline: one of our models without weights.
        shifts: in the paper's order. judging: what came of the judgements, by kind of question and protocol.
    """

    model: str
    run: Run
    tasks: tuple[str, ...]
    image_shown: bool
    shifts: Mapping[Shift, tuple[Answer, ...]]
    judging: Mapping[str, Judging] = field(default_factory=dict)

    @property
    def baseline(self) -> bool:
        name = str((self.run.content.get("config") or {}).get("model", ""))
        return name.startswith(_BASELINES) and name != _ADAPTER

    @property
    def label(self) -> str:
        """What was run, beside the model."""
        return "with images" if self.image_shown else "no image"


def is_ours(run: Run, task: str) -> bool:
    """Whether the task is one of SURE-VQA's, by its name."""
    return bool(_TASK.fullmatch(task))


def sources(run: Run) -> list[Source]:
    """The run's answers with images, and those without, read from its sample logs.

    A shift's two tests may be one task or two (``*_iid``, ``*_ood``). Where judgements are missing and no judge gave
    any, a rule settled what has a score: those answers are the exact matches, whose mean would say nothing. They get no
    score then; the bounds stay. Raises UserError when a log can't be read, or a
    question of a shift is in two tasks.
    """
    found: dict[bool, dict[Shift, dict[tuple[Side, str], Answer]]] = {}
    tasks: dict[bool, dict[str, None]] = {}
    judging: dict[bool, dict[str, Judging]] = {}
    for task in tasks_of(run, is_ours):
        shift, shown = shift_of(task), not settings_of(run, task).get("no_image")
        for sample, where in samples(run, task, lambda record: (record["id"], record.get("set"))):
            record = sample.record
            answer = read(record, where)
            own = found.setdefault(shown, {}).setdefault(shift, {})
            if (answer.side, answer.id) in own:
                raise UserError(
                    f"{where}: question {answer.id!r} of {shift.label} was asked by another task of this run too. Run "
                    "a shift's task, or its *_iid and *_ood ones, not both."
                )
            own[answer.side, answer.id] = answer
            tasks.setdefault(shown, {})[task] = None
            _count(judging.setdefault(shown, {}), record)
    return [
        Source(
            model=model_name(run.content),
            run=run,
            tasks=tuple(tasks[shown]),
            image_shown=shown,
            shifts={
                shift: tuple(_with_scores(own[shift].values())) for shift in sorted(own, key=lambda each: each.place)
            },
            judging=judging[shown],
        )
        for shown, own in sorted(found.items(), reverse=True)
    ]


def _with_scores(answers: Iterable[Answer]) -> Iterator[Answer]:
    groups: dict[tuple[str, str], list[Answer]] = {}
    for each in answers:
        groups.setdefault((each.side, each.kind), []).append(each)
    for group in groups.values():
        settled = coverage.only_rules([{"status": each.judgement} for each in group])
        yield from (replace(each, score=None) for each in group) if settled else group


def shift_of(task: str) -> Shift:
    """The shift that a task tests; raises UserError when its name does not say.

    >>> shift_of("sure_slake_question_type_swapped_noimage")
    Shift(dataset='slake', name='question_type_swapped')
    """
    found = _TASK.fullmatch(task)
    if not found:
        raise UserError(f"The task's name {task!r} does not say its shift. Call it sure_DATASET_SHIFT.")
    return Shift(*map(printable, found.groups()))


def read(record: Record, where: str) -> Answer:
    """What the report needs of a record. Raises UserError, naming ``where``, when it does not fit."""
    required(record, _REQUIRED, where, TITLE)
    if record["set"] not in SIDES:
        raise unknown("set", record["set"], SIDES, where)
    if record["answer_type"] not in _KIND_OF:
        raise unknown("answer_type", record["answer_type"], _KIND_OF, where)
    share, kind = sys.intern, _KIND_OF[record["answer_type"]]
    value = _value(record, where)
    score = value.get("score")
    worst, best = SCALES[kind]
    if score is not None and not worst <= score <= best:
        raise UserError(f"{where}: score is {score!r}, wanted {worst:g} to {best:g} for a {kind} question.")
    return Answer(
        id=share(str(record["id"])),
        question_id=share(str(record.get("question_id") or record["id"])),
        image_id=share(str(record["image_id"])),
        side=record["set"],
        kind=kind,
        score=score,
        low=value.get("low"),
        high=value.get("high"),
        judged=value["judged"],
        wanted=value["wanted"],
        judgement=value["status"],
        status=share(str(record["trials"][0])),
        text=_traditional(record, where),
    )


def _value(record: Record, where: str) -> dict[str, Any]:
    try:
        (dimension,) = _judged.protocol_of(record).dimensions
        return _judged.value(record, dimension.name)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{where}: its verdicts can't be read ({error}). Was the log edited?") from error


def _traditional(record: Record, where: str) -> dict[str, float]:
    """The traditional metrics of the reply; {} where there is none or they are not recorded."""
    found = (record.get("traditional") or [None])[0] or {}
    for name in TRADITIONAL:
        number = found.get(name)
        if found and (not isinstance(number, int | float) or not 0 <= number <= 1):
            raise UserError(f"{where}: {name} is {number!r}, wanted a number from 0 to 1.")
    return {name: float(found[name]) for name in TRADITIONAL if found}


def _count(judging: dict[str, Judging], record: Record) -> None:
    protocol = _judged.protocol_of(record)
    judging.setdefault(f"{record['answer_type']} questions ({protocol.name})", Judging(protocol)).add(record)


def of(answers: Iterable[Answer], side: Side | None = None, kind: str | None = None) -> list[Answer]:
    """The answers of a side and a kind."""
    return [each for each in answers if side in (None, each.side) and kind in (None, each.kind)]


def tests(answers: Sequence[Answer], kind: str) -> Sides:
    """The bootstrap's rows of both tests: the answers of a kind that have a score."""
    return Sides(*(_rows(of(answers, side, kind)) for side in SIDES))


def _rows(answers: Sequence[Answer]):
    scored = [(each.image_id, each.score) for each in answers if each.score is not None]
    return part([image for image, _ in scored], np.array([score for _, score in scored], dtype=float))
