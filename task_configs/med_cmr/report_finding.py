"""Med-CMR's headline: choice questions, and open answers as a judge scored them."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, SUITE, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_figures import sketch
from lmms_medtasks.task_configs.med_cmr.report_models import asked

_CHOICE, _OPEN = "on choice questions", "points of 100 for open answers"


def _numbers(source: Source) -> Iterator[Number]:
    """Of the questions with their image."""
    printed = {name: span(SUITE, f"med_cmr_{name}", of) for name, of in (("mcq", "accuracy"), ("open", "total"))}
    where = asked("mcq")
    chance = chance_of_options(source.rows.where(where))
    yield Number("choice questions", _CHOICE, ACCURACY, where, chance=chance, published=printed["mcq"])
    yield Number(
        "open answers, points", "of 100 for open answers", TOTAL, asked("open"), "points", 1.0,
        published=printed["open"],
    )  # fmt: skip


HEADLINE = Headline(
    _numbers,
    "reasoning over fine detail",
    (
        BoardColumn("med_cmr_mcq", "accuracy", _CHOICE),
        BoardColumn("med_cmr*", "*"),
        BoardColumn("med_cmr_open", "total", _OPEN, heads=False),
    ),
    sketch=sketch,
)
