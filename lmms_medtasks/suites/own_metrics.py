"""Custom metrics of tasks on a template: a number for each question, or an estimate over all questions.

The simple form is a function of a question's record; the metric is its mean over the questions of which it is not None,
with an interval over clusters::

    def sensitivity(record: QuestionRecord) -> float | None:
        return record.measures["accuracy"].score if record.expected == "yes" else None

:func:`question_metric` declares what such a function can't say itself: name, range, unit. The full form is a
:class:`~lmms_medtasks.suites.suite.Metric` with any of :mod:`lmms_medtasks.suites.estimates`.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.errors import UserError, line_of, unknown_name_error
from lmms_medtasks.extensions import Extension, check_arguments, load_extension
from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.suites.estimates import Estimate, Mean
from lmms_medtasks.suites.suite import Measure, Metric, why_not_main

OfQuestion = Callable[[QuestionRecord], "float | None"]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_WANTED = (
    "Expected a function of a question's record that returns a number or None, or a lmms_medtasks.suites.suite.Metric."
)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class QuestionMetric:
    """A function that scores each question. ``metric``: its mean; ``measure``: the score with its range."""

    function: OfQuestion
    measure: Measure
    main: bool = False

    def __call__(self, record: QuestionRecord) -> float | None:
        return self.function(record)

    @property
    def metric(self) -> Metric:
        """The mean over the questions that have a number."""
        measure = self.measure
        return Metric(measure.name, Mean(measure=measure.name), measure.higher_is_better, measure.about, self.main)


def question_metric(
    *,
    name: str = "",
    about: str = "",
    low: float = 0.0,
    high: float = 1.0,
    unit: str = "%",
    digits: int = 1,
    higher_is_better: bool = True,
    main: bool = False,
) -> Callable[[OfQuestion], QuestionMetric]:
    """Declare a function of a question's record as a metric; see :class:`~lmms_medtasks.suites.suite.Measure`.

    Args:
        name: As tables show it; the function's name by default.
        about: A sentence; the first line of the docstring by default.
        low: The lowest number that the function may return.
        high: The highest one.
        unit: "%" for a share from 0 to 1 that is shown in percent, else a word.
        digits: Decimals that are shown.
        higher_is_better: Its direction.
        main: Whether the leaderboard ranks by it, and comparison and gate test it.

    Raises:
        UserError: A range without room.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UserError(f"question_metric: low is {low!r} and high {high!r}, expected two numbers, the lower first.")
    return lambda function: QuestionMetric(
        function, Measure(name, about, float(low), float(high), unit, digits, higher_is_better), main
    )


@dataclass(frozen=True)
class CustomMetric:
    """A custom metric. ``function`` and ``measure``: a question's score; None of an estimate over all questions."""

    metric: Metric
    part: Extension
    measure: Measure | None = None
    function: OfQuestion | None = None

    @property
    def where(self) -> str:
        """Its name in messages."""
        return f"{self.part.origin}: the metric {self.metric.name!r}"


@functools.cache
def get(reference: str, ours: tuple[str, ...] = ()) -> CustomMetric:
    """Load the custom metric of a reference; a reference to a file includes the folder.

    Args:
        reference: ``FILE.py:NAME``, ``package.module:NAME`` or an installed package's name.
        ours: The names that are taken.

    Raises:
        UserError: if the metric does not exist, is not a metric, or has an invalid or used name.
    """
    part = load_extension("metric", reference, ours)
    subject = f"{part.origin}{_line_of_part(part)}: the metric {part.name!r}"
    custom = _metric_from_part(part, subject)
    name = custom.metric.name
    if not _NAME.fullmatch(name) or name.endswith("_stderr"):
        raise UserError(
            f"{subject} is called {name!r}: expected small letters, digits and underscores, a letter first."
        )
    if name in ours:
        raise UserError(f"{subject} is called {name!r}, which is one of ours. Give it another name.")
    if custom.measure and not custom.measure.low < custom.measure.high:
        raise UserError(f"{subject}: its range is {custom.measure.range}, expected the lower first.")
    if why := why_not_main(custom.metric):
        raise UserError(f"{subject} {why}")
    return custom


def _line_of_part(part: Extension) -> str:
    """The line of the definition in its file, as ", line 3"; "" if not found."""
    text = part.file.read_text("utf-8", "replace") if part.file and part.file.suffix == ".py" else ""
    name = part.reference.rpartition(":")[2]
    match = re.search(rf"^(def |class )?{re.escape(name)}\b", text, re.MULTILINE)
    return f", line {text.count(chr(10), 0, match.start()) + 1}" if match else ""


def _metric_from_part(part: Extension, subject: str) -> CustomMetric:
    value = part.value
    if isinstance(value, Metric):
        if not isinstance(value.estimate, Estimate):
            raise UserError(
                f"{subject}: its estimate is {value.estimate!r:.40}, expected one of "
                "lmms_medtasks.suites.estimates, such as Mean({'finding': 'yes'})."
            )
        return CustomMetric(value, part)
    if isinstance(value, QuestionMetric):
        function, measure, main = value.function, value.measure, value.main
    elif callable(value) and not inspect.isclass(value):
        function, measure, main = value, Measure(""), False
    else:
        raise UserError(f"{subject} is no function ({type(value).__name__}). {_WANTED}")
    check_arguments(function, ("a record",), "one record", subject, _WANTED)
    about = measure.about or (inspect.getdoc(function) or "").partition("\n")[0]
    measure = replace(measure, name=measure.name or part.name, about=about)
    return CustomMetric(QuestionMetric(function, measure, main).metric, part, measure, function)


def with_values(record: QuestionRecord, custom_metrics: Sequence[CustomMetric]) -> QuestionRecord:
    """Add the numbers of these metrics' functions to the record's measures.

    Raises:
        UserError: A function raises, or returns no number within its range.
    """
    measures = dict(record.measures)
    for custom in custom_metrics:
        if (value := _question_value(custom, record)) is not None:
            measures[custom.metric.name] = ScoreValue(value)
    return replace(record, measures=measures)


def _question_value(custom: CustomMetric, record: QuestionRecord) -> float | None:
    if custom.function is None or custom.measure is None:
        return None
    subject = f"{custom.where} on question {record.id!r}"
    try:
        value = custom.function(record)
    except KeyError as error:
        there = f"Tags: {', '.join(record.tags) or 'none'}. Measures: {', '.join(record.measures) or 'none'}."
        raise UserError(f"{subject}: there is no {error}{line_of(error)}. {there}") from error
    except Exception as error:  # anyone's function may raise anything
        raise UserError(
            f"{subject}: {type(error).__name__}: {error}{line_of(error)}. Return None for a question that it says "
            "nothing of."
        ) from error
    if value is None:
        return None
    if not isinstance(value, numbers.Real):
        raise UserError(f"{subject}: returns {value!r:.40} ({type(value).__name__}). Expected a number, or None.")
    number, (low, high) = float(value), custom.measure.range
    if not math.isfinite(number):
        raise UserError(f"{subject}: returns {number}. Expected a finite number, or None where there is none.")
    if not low - _ROUNDING <= number <= high + _ROUNDING:
        raise UserError(
            f"{subject}: returns {number:g}, expected {low:g} to {high:g}. Another range: "
            f"@question_metric(low=..., high=...) of {__name__}."
        )
    return number


def check_columns(custom_metrics: Sequence[CustomMetric], columns: Collection[str]) -> None:
    """Raise UserError if an estimate restricts by a column that questions do not have."""
    for custom in custom_metrics:
        for name in custom.metric.estimate.columns:
            if name not in columns:
                raise unknown_name_error(
                    "tag", name, columns, f"{custom.where}. Columns become tags by `tags=` in the adapter"
                )
