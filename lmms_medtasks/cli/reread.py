"""``lmms-medtasks reread``: the kept replies of old runs, read with today's readers into new runs, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli.options import TaskFolder, align_columns
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.run_options import TAGS_OPTION, parse_given_tags

if TYPE_CHECKING:
    from lmms_medtasks.harness.rereading import RereadRun, RereadTask


def reread(
    run: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Result folders of runs, folders with several, or files.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="New folder for the runs that are written; without it RUN-reread."),
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    reasoning_tags: Annotated[
        str | None,
        typer.Option(
            TAGS_OPTION, "--reasoning-tags", metavar="JSON",
            help="Marks of thoughts in place of the run's own, beside those that are known: "
            """'`[["<ponder>", "</ponder>"]]`'.""",
        ),
    ] = None,
    include_path: TaskFolder = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would move, and write nothing.")] = False,
) -> None:  # fmt: skip
    """Read old runs' replies with today's readers.

    They are written as new runs. Neither the model nor a judge is asked. The tasks' data must be here, and be those
    that the run read. Printed are the numbers and outcomes that moved; `moved.csv` beside the new results lists each
    reply of which something else is read. Verdicts of a judge are kept where the judge would be shown the same;
    `lmms-medtasks judge NEWRUN` asks for the others.

    With several runs those that can't be read again are named at the end, and the exit status is 2.
    """
    from lmms_medtasks.harness import rereading
    from lmms_medtasks.harness.rejudging import load_custom_protocols
    from lmms_medtasks.harness.rereading import reread_replies as read_again
    from lmms_medtasks.harness.rescoring import TaskDefinitions
    from lmms_medtasks.progress import print_message

    tags = None if reasoning_tags is None else parse_given_tags(reasoning_tags, TAGS_OPTION)
    placed = rereading.find_run_folders(run, output or rereading.folder_beside(run))
    definitions = TaskDefinitions(str(include_path) if include_path else None)
    refused: list[str] = []
    for number, (each, folder) in enumerate(placed, start=1):
        print_message(f"{number} of {len(placed)}: {each.path}")
        try:
            load_custom_protocols([each], include_path)
            reread_run = read_again(each, definitions, task or (), tags)
        except UserError as error:
            refused.append(str(error))
            continue
        typer.echo("\n".join(describe_reread(reread_run)))
        if not dry_run:
            print_message(f"Written: {rereading.write_reread_run(reread_run, folder)}")
        if unjudged := sum(task.unjudged for task in reread_run.tasks):
            new_run = "NEWRUN" if dry_run else folder
            print_message(
                f"{unjudged:,} judgements were of another text and are missing now: lmms-medtasks judge {new_run}"
            )
    if refused:
        among = f"{len(refused)} of {len(placed)} runs can't be read again.\n" if len(placed) > 1 else ""
        raise UserError(among + "\n".join(refused))


def describe_reread(reread_run: RereadRun) -> list[str]:
    """What moved in a run, for the terminal."""
    shown = [str(reread_run.run.path)]
    for task_reread in reread_run.tasks:
        shown += _task_lines(task_reread, reread_run)
    if reread_run.left:
        names = ", ".join(reread_run.left)
        shown.append(f"  Stay as they are (no tasks of lmms-medtasks, or without a result): {names}")
    return shown


def _task_lines(task_reread: RereadTask, reread_run: RereadRun) -> list[str]:
    metrics = reread_run.moved_metrics(task_reread.task)
    before, now = task_reread.outcomes
    rows = [(name, before[name], now[name]) for name in sorted({*before, *now}) if before[name] != now[name]]
    moved = f"{len(task_reread.moved):,} of {task_reread.reply_count:,} replies" if task_reread.moved else "no reply"
    shown = [f"  {task_reread.task}: {moved} moved, {len(metrics) or 'no'} number{'s' * (len(metrics) != 1)} moved"]
    if missing := task_reread.unjudged:
        shown.append(f"    {missing:,} judgements missing now, since the judge would be shown another text")
    if not task_reread.asked_alike:
        shown.append("    Its prompts or degradations were others than this release's: it keeps its task version.")
    table = [(name, *map(_format_number, (old, new)), _format_difference(old, new)) for name, old, new in metrics]
    table += [(f"replies {name}", f"{old:,}", f"{new:,}", f"{new - old:+,}") for name, old, new in rows]
    if table:
        lines = align_columns([("", "before", "now", "difference"), *table])
        shown += [f"    {line}" for line in lines]
    if task_reread.unknown_marks:
        marks = " and ".join(sorted(task_reread.unknown_marks))
        shown.append(f"    Replies begin with {marks}, which may open thoughts: nothing is read there ({TAGS_OPTION})")
    gone, added = reread_run.one_sided_metrics(task_reread.task)
    shown += [f"    no longer a metric: {', '.join(gone)}"] if gone else []
    shown += [f"    a metric since: {', '.join(added)}"] if added else []
    return shown


def _format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _format_difference(before: float | None, now: float | None) -> str:
    return "-" if before is None or now is None else f"{now - before:+.6g}"
