"""From the files of runs to Med-CMR's records: which tasks are of one model, and what each asked."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges.records import protocol_of
from lmms_medtasks.report import judged
from lmms_medtasks.report.asked import model_of, together
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import (
    is_of_suite,
    model_name,
    printable,
    required,
    samples,
    score_of,
    settings_of,
    tasks_of,
    trials_of,
)
from lmms_medtasks.statistics.votes import FAILED

Record = Mapping[str, Any]
Form = Literal["mcq", "circular", "open"]
FORMS: tuple[Form, ...] = ("mcq", "circular", "open")

TITLE = "Med-CMR"
TAGS = ("organ_system", "modality", "subtype", "question_type")
_SUITE = "med_cmr"
_TASKS = ("med_cmr_mcq", "med_cmr_mcq_circular", "med_cmr_open")
_NO_IMAGE = "_noimage"
BOTH = "both"
"""What an open answer's parts are called where both were found."""
_REQUIRED = ("id", "image_id", "dimension", "trials")


@dataclass(frozen=True)
class Asked:
    """The records of one task: what form its questions have, and whether the model saw the image."""

    run: Run
    name: str
    form: Form
    image: bool
    records: tuple[Record, ...]
    judging: judged.Judging | None = None

    @property
    def label(self) -> str:
        """``open, no image``."""
        return self.form if self.image else f"{self.form}, no image"


@dataclass(frozen=True)
class Source:
    """Everything that one model was asked: at most one task of each form, with and without the image.

    ``variant`` is the task's name where it is none of the suite's own (a changed prompt, say), else "".
    """

    model: str
    variant: str
    asked: tuple[Asked, ...]

    def of(self, form: Form, image: bool = True) -> Asked | None:
        """The task of this form, None if it was not run."""
        return next((each for each in self.asked if (each.form, each.image) == (form, image)), None)


def is_ours(run: Run, task: str) -> bool:
    """Whether the task is one of Med-CMR's: by its name, or by the data that it reads."""
    return is_of_suite(run, task, _SUITE)


def sources(runs: Sequence[Run]) -> list[Source]:
    """What was asked, by model.

    Tasks of several runs are one source where the harness's model, its arguments and the kind of data (full, mini) are
    the same and no task is there twice; a run with one that was asked before begins another. Raises UserError when a
    log can't be read.
    """
    every = (
        ((*model_of(run, task), _variant(task)), _asked(run, task)) for run in runs for task in tasks_of(run, is_ours)
    )
    return [
        Source(model_name(group[0].run.content), variant, tuple(sorted(group, key=_place)))
        for (*_, variant), group in together(every)
    ]


def _place(asked: Asked) -> tuple[int, bool]:
    return FORMS.index(asked.form), not asked.image


def _variant(task: str) -> str:
    return "" if task.removesuffix(_NO_IMAGE) in _TASKS else printable(task)


def _asked(run: Run, task: str) -> Asked:
    image = not settings_of(run, task).get("no_image")
    rows: list[Record] = []
    judging: judged.Judging | None = None
    forms: dict[Form, str] = {}
    for sample, where in samples(run, task):
        record = sample.record
        required(record, _REQUIRED, where, TITLE)
        form: Form = "open" if "verdicts" in record else "circular" if "rotation" in record else "mcq"
        forms.setdefault(form, where)
        if form == "open":
            rows.append(_open(record, where))
            judging = judging or judged.Judging(protocol_of(record))
            judging.add(record)
        else:
            rows.append(_choice(record, where))
    if len(forms) > 1:
        raise UserError(
            f"Records of several forms in one log: {', '.join(f'{form} ({at})' for form, at in forms.items())}."
        )
    return Asked(run, task, next(iter(forms)), image, tuple(rows), judging)


def _tags(record: Record, where: str) -> dict[str, Any]:
    """What all records have. Texts are shared: the same few stand in all of them."""
    dimension = str(record["dimension"])
    if dimension not in dimensions.names():
        raise UserError(str(unknown("dimension", printable(dimension), dimensions.names(), where)))
    tags = {tag: sys.intern(printable(str(record.get(tag) or "not recorded"))) for tag in TAGS}
    trials = trials_of(record, where)
    return {
        "id": str(record["id"]),
        "image_id": sys.intern(str(record["image_id"])),
        "dimension": sys.intern(dimension),
        **tags,
        "trials": tuple(map(sys.intern, trials)),
        "failed": trials.count(FAILED),
        "replies": len(trials) - trials.count(FAILED),
    }


def _choice(record: Record, where: str) -> Record:
    required(record, ("answer", "option_count"), where, TITLE)
    slim, score = _tags(record, where), score_of(record, where)
    slim["answer"] = sys.intern(str(record["answer"]))
    slim["option_count"] = record["option_count"]
    slim["parsed"] = sum(len(trial) == 1 for trial in slim["trials"])
    if "rotation" in record:
        slim |= {"question_id": str(record["question_id"]), "rotation": record["rotation"]}
    return slim if score is None else {**slim, "score": score}


def _open(record: Record, where: str) -> Record:
    required(record, ("parts", "judge"), where, TITLE)
    slim = _tags(record, where)
    slim["values"] = judged.values(record, where)
    slim["parts"] = tuple(sys.intern(printable(str(part))) for part in record["parts"])
    slim["parsed"] = slim["parts"].count(BOTH)
    return slim
