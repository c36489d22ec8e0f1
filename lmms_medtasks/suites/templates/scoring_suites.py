"""The declarations by which questions of tasks on templates are scored: our metrics, and a task's own.

The harness hands an aggregation nothing but a question's values. They carry the declaration's name, in which all stands
that makes it again in any process.
"""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import NamedTuple

from lmms_medtasks.suites import own_metrics
from lmms_medtasks.suites.own_metrics import OwnMetric
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.templates import measures
from lmms_medtasks.suites.templates.measures import PREFIX


class Own(NamedTuple):
    """What a task on a template has beside our metrics, for its scoring.

    ``metrics``: references to metrics, of files with the folder before them. ``scores``: the named scores of a rubric
    that has several.
    """

    metrics: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()


@functools.cache
def of_kind(kind: str, own: Own = Own()) -> Suite:  # noqa: B008 (immutable)
    """The declaration that scores tasks on templates of a kind, "choice" or "open", whatever benchmark they are of."""
    found = replace(measures.suite(f"{PREFIX}{kind}"), metrics=measures.METRICS[kind], tasks={})
    if own == Own():
        return found
    added = own_of(own)
    scores = [measures.dimension_measure(name, (0.0, 1.0)) for name in own.scores]
    return replace(
        found,
        name=f"{PREFIX}{json.dumps([kind, *own])}",
        measures=(*found.measures, *scores, *(each.measure for each in added if each.measure)),
        metrics=(*found.metrics, *map(measures.dimension_metric, scores), *(each.metric for each in added)),
    )


def of_name(name: str) -> Suite:
    """The declaration that :func:`of_kind` called so; the values of a question carry the name."""
    said = name.removeprefix(PREFIX)
    if not said.startswith("["):
        return of_kind(said)
    kind, metrics, scores = json.loads(said)
    return of_kind(kind, Own(tuple(metrics), tuple(scores)))


def own_of(own: Own) -> list[OwnMetric]:
    """The metrics that are not ours."""
    return [own_metrics.get(each, tuple(measures.metrics())) for each in own.metrics]
