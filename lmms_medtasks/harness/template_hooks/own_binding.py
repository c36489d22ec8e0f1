"""A task's own parser, metrics and judge protocol, found by what its YAML names, and checked against its documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.errors import UserError
from lmms_medtasks.extensions import load, located
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.samples.table import OWN_COLUMNS
from lmms_medtasks.suites import own_metrics, own_parts
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.templates import Template, measures, parsers
from lmms_medtasks.suites.templates.measures import Own

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class OwnParts:
    """What :func:`resolved` found.

    Attributes:
        suite: The declaration by which the task's questions are scored.
        scoring: Settings for the scoring hook alone: they may name folders of this machine.
        described: What the task's metadata say (:mod:`lmms_medtasks.suites.own_parts`).
    """

    suite: Suite
    scoring: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, Any] = field(default_factory=dict)


def resolved(settings: dict[str, Any], template: Template, folder: Path | None) -> tuple[dict[str, Any], OwnParts]:
    """The settings with the names of metrics and of the judge's protocol in place of references, and the parts.

    Raises:
        UserError: A part is not there, is none of its kind, or has a name that is taken.
    """
    ours = measures.metrics()
    references = {name: located(name, folder) for name in settings["metrics"] if name not in ours}
    named = {name: own_metrics.get(reference, tuple(ours)) for name, reference in references.items()}
    if named and folder is not None and (folder / "measures.py").is_file():
        raise UserError(
            f"metrics: {next(iter(named))}: the folder has a measures.py, which declares its metrics. Name it in SUITE "
            "there, among measures and metrics."
        )
    by_name: dict[str, str] = {}
    for reference, each in named.items():
        other = by_name.setdefault(each.metric.name, reference)
        if other != reference:
            raise UserError(
                f"Two metrics are called {each.metric.name!r}: {other} and {reference}. Rename one of them."
            )
    metrics = [named[name].metric.name if name in named else name for name in settings["metrics"]]
    settings = {**settings, "metrics": metrics}
    scoring: dict[str, Any] = {}
    parser = protocol = None
    scores: tuple[str, ...] = ()
    if template.kind == "open":
        protocol = protocols.get(str(settings["judge"]), folder)
        settings["judge"] = protocol.name
        if protocol.reference and len(protocol.dimensions) > 1:
            scores = tuple(each.name for each in protocol.dimensions)
            place = metrics.index("score") + 1 if "score" in metrics else len(metrics)
            settings["metrics"] = [*metrics[:place], *(f"score_{each}" for each in scores), *metrics[place:]]
    elif parsers.is_own(str(settings["parser"])):
        reference = located(str(settings["parser"]), folder)
        parsers.get(reference)
        parser = str(settings["parser"]), load("parser", reference, tuple(parsers.PARSERS))
        scoring["parser"] = reference
    own = Own(tuple(references.values()), scores)
    scoring["own"] = own
    described = own_parts.described(list(named.values()), protocol, parser)
    settings["metrics"] = list(dict.fromkeys(settings["metrics"]))
    return settings, OwnParts(measures.of_kind(template.kind, own), scoring, described)


def check_documents(own: Mapping[str, Any], settings: Mapping[str, Any], documents: Dataset) -> None:
    """Raise UserError where the task's own parts do not fit its questions, before a model is asked.

    A metric is restricted by a column that there is not, or counts votes of answers that are no options' letters.
    ``own``: what :func:`resolved` gives for scoring.
    """
    columns = [*documents.column_names, *OWN_COLUMNS, "option_count", "set"]
    own_metrics.check_columns(measures.own_of(own["own"]), list(dict.fromkeys(columns)))
    reference = own.get("parser")
    votes = [name for name in settings["metrics"] if measures.NEEDS.get(name) == "letters"]
    if reference is None or not votes:
        return
    parser = parsers.get(str(reference))
    plain = documents.select_columns([each for each in documents.column_names if each not in ("image", "images")])
    for row, doc in enumerate(plain):
        letters = tuple(parsing.option_letters(len(doc["options"]))) if doc.get("options") else ()
        if parser.answers(doc) != letters or not letters:
            raise UserError(
                f"Row {row + 1} (id {doc['id']!r}): the metric {votes[0]!r} counts votes for options' letters, and the "
                f"parser {settings['parser']!r} has the answers {', '.join(parser.answers(doc)[:9]) or '(not told)'}. "
                "Leave the metric out."
            )
