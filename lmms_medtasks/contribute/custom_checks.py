"""Checks of custom parsers and metrics.

A parser copes with any reply: it never raises, reads the same twice, guesses nothing, reads a plain answer.
A metric has a value of correct, wrong, unparsed and missing answers, and tells correct ones from wrong ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.contribute.loaded import LoadedTask
from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.record import KEY, QuestionRecord
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.contributions import image_contributions
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.suites.own_metrics import CustomMetric
from lmms_medtasks.suites.templates import parsers
from lmms_medtasks.suites.templates.measures import CustomScoring, load_custom_metrics

# --- Parsers ----------------------------------------------------------------------------------------------------------

_LONG = 1_000_000
HOSTILE: Mapping[str, str | None] = {
    "no reply": None,
    "the text None": "None",
    "an empty reply": "",
    "white space": " \n\t\u00a0\u3000",
    "reasoning that was cut off": "<think>The answer",
    "a million letters": "x" * _LONG,
    "a million brackets": "(" * _LONG,
    "a line break a letter": "\n".join("answer") * 1_000,
    "other scripts": "答案是左边。 الجواب يسار 🫁 \u202eabc",
    "a null character": "a\x00b",
    "half a surrogate pair": "\ud800",
    "markup": '**<b>$\\boxed{}$</b>** {"answer": null}',
    "a number": "1e309",
    "braces": "{question} %s {0}",
}
"""Name -> a reply that a parser must accept without an exception."""

_EMPTY = ("no reply", "an empty reply", "white space", "reasoning that was cut off")
_SAID_NOTHING = ("I don't know.", "I cannot tell from this picture.")
_SLOW = 5.0
"""Seconds for a reply, at most."""


def plain_form(parser: parsers.ReplyParser, doc: Mapping[str, Any], answer: str) -> str:
    """The first plain phrasing of ``answer`` that the parser reads as it. Raises UserError if it reads none."""
    phrasings = [answer, f"{answer}.", f"The answer is {answer}."]
    options = doc.get("options") or ()
    index = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(answer) if len(answer) == 1 else -1
    if 0 <= index < len(options):
        phrasings += [f"{answer}. {options[index]}", str(options[index])]
    parsed = {phrasing: parser.read(doc, phrasing) for phrasing in phrasings}
    for phrasing, reading in parsed.items():
        if (reading.status, reading.value) == ("ok", answer):
            return phrasing
    got = ", ".join(f"{phrasing!r} as {reading.value or reading.status}" for phrasing, reading in [*parsed.items()][:3])
    raise UserError(
        f"it does not read the answer {answer!r} where it is said plainly: {got}. It must read one of "
        f"{', '.join(map(repr, parsed))}"
    )


def check_parser(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a task's parser copes with :data:`HOSTILE`, reads nothing out of nothing, and reads the same twice."""
    name = str(task.settings["parser"])
    return _ParserCheck(task, f"the parser {name!r}", parsers.get(name, task.path.parent)).check(docs)


@dataclass(frozen=True)
class _ParserCheck:
    """The checks of one parser. ``title``: what messages call it."""

    task: LoadedTask
    title: str
    parser: parsers.ReplyParser

    def check(self, docs: Sequence[Mapping[str, Any]]) -> bool:
        """Run all checks; True if none found an error."""
        before = len(self.task.log.errors)
        if not (self._check_hostile_replies(docs[0]) and self._check_guessing(docs)):
            return False
        if len(self.task.log.errors) == before:
            self._report_readings(docs[0])
        return len(self.task.log.errors) == before

    def _check_hostile_replies(self, doc: Mapping[str, Any]) -> bool:
        for kind, reply in HOSTILE.items():
            read = self._read(doc, reply, kind)
            if read is None:
                return False
            if kind in _EMPTY and read.status == "ok":
                self._add(doc, f"{self.title} finds the answer {read.value!r} in {kind}")
            if self._read(doc, reply, kind) != read:
                again = "otherwise the second time: use no random numbers and keep no state"
                self._add(doc, f"{self.title} reads {kind} {again}")
        return True

    def _check_guessing(self, docs: Sequence[Mapping[str, Any]]) -> bool:
        for row, doc in enumerate(docs):
            reply = _SAID_NOTHING[row % len(_SAID_NOTHING)]
            read = self._read(doc, reply, repr(reply))
            if read is None:
                return False
            if read.status == "ok":
                self._add(doc, f"{self.title} finds the answer {read.value!r} in {reply!r}: it guesses", "warning")
                break
        return True

    def _read(self, doc: Mapping[str, Any], reply: str | None, kind: str) -> ParsedAnswer | None:
        """Parse a reply. Returns None, with the problem logged, if the parser raises or is too slow."""
        started = time.monotonic()
        key, failure = f"question {doc['id']!r}", f"{self.title} fails on {kind}"
        read: ParsedAnswer | None = self.task.try_call(self.parser.read, doc, reply, what=failure, key=key)
        seconds = time.monotonic() - started
        if read is not None and seconds > _SLOW:
            self._add(doc, f"{self.title} takes {seconds:.0f} s for {kind}")
            return None
        return read

    def _report_readings(self, doc: Mapping[str, Any]) -> None:
        answer = self.parser.expected(doc)
        readings = []
        for reply in (answer, f"The answer is {answer}.", _SAID_NOTHING[0]):
            read = self.parser.read(doc, reply)
            readings.append(f"{reply!r} as {read.value or read.status}")
        self.task.note(f"{self.title} reads {', '.join(readings)}")

    def _add(self, doc: Mapping[str, Any], message: str, level: str = "error") -> None:
        self.task.add(message, key=f"question {doc['id']!r}", level=level)


# --- Metrics ----------------------------------------------------------------------------------------------------------

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"
Say = Callable[[Mapping[str, Any]], str]
"""A reply to a document."""


def _custom_metrics(task: LoadedTask) -> list[CustomMetric]:
    settings = getattr(task.config.get("process_results"), "keywords", {}).get("settings") or {}
    return load_custom_metrics(settings.get("own") or CustomScoring())


def check_metrics(task: LoadedTask, docs: Sequence[Mapping[str, Any]], replies: Mapping[str, Say]) -> bool:
    """Score ``docs`` with each kind of reply, empty and failed ones too, and report the custom metrics' values.

    ``replies``: kind -> reply to a document. Returns False if a reply could not be scored.
    """
    custom_metrics = _custom_metrics(task)
    if not custom_metrics:
        return True
    kinds: dict[str, Say] = {
        **replies,
        "unread replies": lambda doc: "I don't know.",
        "empty replies": lambda doc: "",
        "failed requests": lambda doc: FAILED,
    }
    got: dict[str, dict[str, Any]] = {}
    records: list[QuestionRecord] = []
    for kind, say in kinds.items():
        values = []
        for row, doc in enumerate(docs, start=1):
            replies_to_doc, key = [say(doc)] * task.repeats, f"row {row}, question {doc['id']!r}"
            scored = task.try_call(task.score, doc, replies_to_doc, what=f"can't be scored with {kind}", key=key)
            if scored is None:
                return False
            values.append(scored)
        records += [scored[KEY].record for scored in values]
        got[kind] = _aggregate_replies(task, custom_metrics, values, kind)
    rows = QuestionTable.of_records(records)
    for custom_metric in custom_metrics:
        name, is_contrast = custom_metric.metric.name, isinstance(custom_metric.metric.estimate, Contrast)
        if custom_metric.metric.main:
            estimate, where = custom_metric.metric.estimate, custom_metric.where
            task.try_call(image_contributions, [lambda: rows], estimate, name, what=where, key="metrics")
        values_by_kind = {kind: values.get(name) for kind, values in got.items()}
        if all(value is None for value in values_by_kind.values()):
            columns = _describe_columns(task, custom_metric)
            message = f"{custom_metric.where} has no value, whatever is replied.{columns}"
            task.add(message, key="metrics", level="warning")
        # Equal replies everywhere give no change: that says nothing of a contrast.
        elif len(replies) > 1 and not is_contrast and len({values_by_kind[kind] for kind in replies}) == 1:
            value = next(iter(values_by_kind.values()))
            message = f"{custom_metric.where} is {value} for {' and for '.join(replies)}: it tells nothing"
            task.add(message, key="metrics", level="warning")
        listed_values = ", ".join(
            f"{kind} {'–' if value is None else f'{value:.3f}'}" for kind, value in values_by_kind.items()
        )
        task.note(f"{name}: {listed_values}")
    return True


def _aggregate_replies(
    task: LoadedTask, custom_metrics: Sequence[CustomMetric], values: Sequence[Mapping[str, Any]], kind: str
) -> dict[str, Any]:
    listed = {row["metric"]: row["aggregation"] for row in task.config["metric_list"]}
    got = {}
    for custom_metric in custom_metrics:
        name = custom_metric.metric.name
        scores = [scored[name] for scored in values]
        got[name] = task.try_call(listed[name], scores, what=f"{custom_metric.where} raises on {kind}", key="metrics")
    return got


def _describe_columns(task: LoadedTask, custom: CustomMetric) -> str:
    names = [name for name in custom.metric.estimate.columns if name in task.scored.column_names]
    return "".join(
        f" {name} is {', '.join(sorted(set(map(str, task.scored[name])))[:9])} in the questions." for name in names
    )
