"""The metric lists of a benchmark's task templates, written from its declaration.

The harness and its users look for them in the YAML. ``lmms-medtasks metrics --write`` puts them there, a test holds
them equal to the declaration.
"""

from __future__ import annotations

import re
from pathlib import Path

from lmms_medtasks.errors import UserError
from lmms_medtasks.suites.suite import Metric, Suite

AGGREGATION = "lmms_medtasks.harness.scoring.aggregate"
_BLOCK = re.compile(r"^metric_list:\n(?:[ #-].*\n)*", re.MULTILINE)


def text(suite: Suite, kind: str) -> str:
    """The ``metric_list`` block of the template of a kind of tasks."""
    return "metric_list:\n" + "".join(lines(suite.metric(name)) for name in suite.tasks[kind])


def lines(metric: Metric) -> str:
    """An entry of the ``metric_list``."""
    better = {True: "true", False: "false", None: "null"}[metric.higher_is_better]
    return f"  - metric: {metric.name}\n    aggregation: !function {AGGREGATION}\n    higher_is_better: {better}\n"


def template(folder: Path, kind: str) -> Path:
    """The template file of a kind of tasks. Raises UserError where it is not there."""
    path = folder / f"_{kind}_yaml"
    if not path.is_file():
        raise UserError(f"{path} is not there: the declaration has tasks of the kind {kind!r}, which need a template.")
    return path


def written(content: str, block: str) -> str:
    """The template's text with this ``metric_list`` in place of its own, or at its end."""
    if _BLOCK.search(content):
        return _BLOCK.sub(lambda match: block, content, count=1)
    return content.rstrip("\n") + "\n" + block
