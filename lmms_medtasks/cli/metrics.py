"""``lmms-medtasks metrics``: which numbers a task prints, as its benchmark's declaration says."""

from __future__ import annotations

from typing import Annotated

import typer

from lmms_medtasks.cli.include_path import IncludePath


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(metrics)


def metrics(
    task: Annotated[str, typer.Argument(help="A task's name, as `--tasks` takes it.")],
    include_path: IncludePath = None,
) -> None:
    """Print the metrics of a task, in the order of its table: the name, which way is better (`*` before the name: the
    leaderboard ranks by it), and what it is.
    """
    from lmms_medtasks.harness.rescoring import Definitions
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    config = Definitions([str(each) for each in include_path or ()] or None).get_definition(task)
    suite = registry.find(task, config)
    declared = {each.name: each for each in suite.metrics} if suite else {}
    for each in config.get("metric_list") or []:
        metric = declared.get(each["metric"])
        better = {True: "higher", False: "lower"}.get(each.get("higher_is_better"), "-")
        mark = "*" if metric and metric.main else " "
        typer.echo(f"{mark} {each['metric']:32} {better:7} {metric.about if metric else ''}".rstrip())
