"""Med-CMR: from runs to models, and who judged their open answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.judged_tables import Judging
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import named, sources_by_model
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.suites.suite import Suite

MEASURE_OF = {"mcq": "accuracy", "open": "total"}


def models(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source a model, with at most one task of each form, with and without the image; see ``sources_by_model``.

    Its condition is the task's name where that is none of the suite's own (a changed prompt, say), else "".

    Raises UserError, with file and line, for a question without its right letter; and where options that compare models
    were given and there is one model.
    """
    for (number, task), rows in (
        table.where({"form": ("mcq", "circular"), "expected": None}).by(["run", "task"]).items()
    ):
        file, line = runs[number].samples_file(task), rows.column("line")[0]
        raise UserError(f"{file}, line {line}: the record has no correct letter. Was the log edited?")
    found = sources_by_model(suite, runs, table, options, apart=("variant",), once=("form", "image_shown"))
    found = named([replace(each, condition=each.rows.column("variant")[0]) for each in found])
    if len(found) == 1 and (options.pairs or options.parameters):
        raise UserError(f"--pair and --parameters compare several models; these runs are of one, {found[0].name!r}.")
    return found


def asked(form: str, image_shown: bool = True) -> Where:
    """The restriction to a form of questions."""
    return {"form": form, "image_shown": image_shown}


def was_asked(source: Source, form: str, image_shown: bool = True) -> bool:
    """Whether the model was asked questions of this form."""
    return len(source.rows.where(asked(form, image_shown))) > 0


def judging(source: Source, image_shown: bool = True) -> Judging | None:
    """What became of the judgements of the open answers; None where none was asked."""
    return Judging.of(source.rows.where(asked("open", image_shown)))


def judgings(source: Source) -> dict[str, Judging]:
    """The judgements of each open task."""
    return judged_tables.judgings(source.rows, ["task"], str)


def of_one_judge(sources: Sequence[Source]) -> list[Source]:
    """The models whose open answers may stand in one table: those of the judge that judged the most models."""
    return max(judged_tables.by_judge(sources).values(), key=len, default=[])
