"""``lmms-medtasks leaderboard pin``, ``verify`` and ``check``: what a board in public goes by, and its submissions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.visible_text import visible

_SHOWN = 20
"""Differences that are named at most."""
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")]
Rules = Annotated[Path | None, typer.Option(help="YAML with the board's own rules.")]
Pins = Annotated[Path | None, typer.Option(help="YAML with the questions and data of each task version.")]
Owners = Annotated[Path | None, typer.Option(help="YAML that says whose a model's name is.")]
Verified = Annotated[Path | None, typer.Option(help="YAML with what the board verified of submissions.")]


def pin(
    runs: Annotated[list[Path], typer.Argument(help="Runs of all questions, on data that you prepared yourself.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The board's pins.yml; new pins are added to it.")],
    task: Tasks = None,
    include_path: IncludePath = None,
) -> None:
    """Write down which questions and data each task version has, so that no entry of others can be ranked.

    Any model's run will do, also one of --model medtasks_random, which is instant: the questions are the same. What is
    pinned already is never changed. A judged task's pin names the judge of the first run that had one.
    """
    from lmms_medtasks.board.collect import collect
    from lmms_medtasks.board.trust import pins
    from lmms_medtasks.report.judged_tables import is_lexical
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    board = collect(runs, tasks=task or (), processes=os.cpu_count() or 1)
    for problem in board.refused:
        typer.echo(visible(f"lmms-medtasks: refused: {problem.reason}"), err=True)
    if not board.entries:
        raise UserError("There is no task that can be pinned. Give the --output_path of a whole run.")
    new = pins.write(board.entries, output)
    typer.echo(f"Written: {output} ({new} new, {len(board.entries)} tasks read)", err=True)
    pinned = pins.read(output)
    judged = [entry for entry in board.entries if entry.judge is not None]
    if without := sorted({entry.task for entry in judged if (pin := pinned.of(entry)) and not pin.judge}):
        typer.echo(
            f"No judge is pinned for {', '.join(without)}. With --owners nothing is ranked by a judge that neither a "
            "pin nor the rules name: write it into the rules, as board: {TASK: {judge: NAME}}, or pin a judged run.",
            err=True,
        )
    # The pin's judge, not the run's: one that was pinned before stays.
    judges = {entry.task: pin.judge for entry in judged if (pin := pinned.of(entry))}
    if by_words := sorted(task for task, judge in judges.items() if is_lexical(judge)):
        typer.echo(
            f"Warning: the board's judge of {', '.join(by_words)} is lexical now, which compares words and is no "
            "language model: its numbers are a smoke test, no scores. For a board of scores remove these pins by hand "
            "and pin a run that a language model judged.",
            err=True,
        )
    if board.refused:
        raise typer.Exit(1)


def verify(
    submission: Annotated[Path, typer.Argument(help="A submission: a pack, or a run's folder.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The board's verified.yml.")],
    level: Annotated[str, typer.Option(help='"recomputed" or "run by the board".')],
    against: Annotated[Path, typer.Option(help="The run that the board has: its replies, or what its workflow wrote.")],
    include_path: IncludePath = None,
) -> None:
    """Write into the board's verified.yml what was verified of a submission.

    The submission is compared with a run that the board has, and must be of it. For "recomputed" each reply in its
    log is read again by the task's own hook, on the data that are here, and must give the same scores; a judge's
    verdicts are taken as recorded. If anything differs, nothing is written and the exit status is 1. Tasks that can't
    be read again (their data are not here, or their log holds no replies) are named and left out: the status is 2
    then, and the others are written. A pack has one level for all its tasks: with such a task it gets none.
    """
    from lmms_medtasks.board.collect import collect
    from lmms_medtasks.board.packing import differences
    from lmms_medtasks.board.trust import levels
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    if level not in levels.LEVELS:
        raise unknown("level", level, levels.LEVELS, "--level")
    board = collect([submission])
    entries = board.entries
    said = [problem.reason for problem in board.refused] or differences(entries, against)
    if not entries and not said:
        raise UserError(f"{submission} has no pack and no run.")
    left: dict[str, str] = {}
    if level == levels.RECOMPUTED and not said:
        said, left = _recomputed(against, {entry.task for entry in entries})
    if said:
        for text in said[:_SHOWN]:
            typer.echo(visible(f"refused: {text}"), err=True)
        raise typer.Exit(1)
    if level == levels.SCORES_ONLY:
        raise UserError(f"--level {level} needs no entry in {output}: it is what every submission has.")
    for task, reason in left.items():
        typer.echo(visible(f"left out: {task}: {reason}"), err=True)
    # What a digest stands for has the level as a whole: a pack, or a task of a run.
    without = {entry.source.digest for entry in entries if entry.task in left}
    digests = {entry.source.digest for entry in entries} - without
    if not digests:
        some = any(entry.task not in left for entry in entries)
        why = " A pack has one level for all its tasks: pack the others alone." if some else ""
        raise UserError(f"Nothing of {submission} can be verified, so {output} is as it was.{why}")
    levels.write(output, digests, level)
    tasks = {entry.task for entry in entries if entry.source.digest in digests}
    part = f"{len(tasks)} of {len({entry.task for entry in entries})} tasks of " if left else ""
    typer.echo(f"Written: {output} ({level}: {part}{submission})", err=True)
    if left:
        raise typer.Exit(2)


def check(
    submission: Annotated[Path, typer.Argument(help="Folder of entries as the submission leaves it.")],
    base: Annotated[Path, typer.Option(help="Folder of entries of the base branch.")],
    account: Annotated[str, typer.Option(help="Who made the submission.")],
    rules: Rules = None,
    pins: Pins = None,
    owners: Owners = None,
    verified: Verified = None,
    resamples: Annotated[int, typer.Option(min=0, help="Draws for intervals; 0: none.")] = 200,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the Markdown summary here too.")] = None,
    include_path: IncludePath = None,
) -> None:
    """Tell whether a submission may be merged, and where its entries would stand.

    All options name files of the base branch: what a submission brings along of them does not count. Exits with 1
    where it touches files of others, is refused, or would take an entry of others out of the ranking.
    """
    from lmms_medtasks.board import submission as submissions
    from lmms_medtasks.board.rules import read
    from lmms_medtasks.board.trust import rules_of_trust
    from lmms_medtasks.report.markdown import markdown
    from lmms_medtasks.report.terminal import screen
    from lmms_medtasks.suites import registry
    from lmms_medtasks.writing import write_text

    registry.give(include_path or ())
    trust = rules_of_trust.read(pins, owners, verified)
    found = submissions.check(base, submission, account, read(rules), trust, resamples)
    if output is not None:
        write_text(output, markdown(found.document()))
    typer.echo(screen(found.document()), nl=False)
    if found.wrong:
        raise typer.Exit(1)


def _recomputed(path: Path, tasks: set[str]) -> tuple[list[str], dict[str, str]]:
    """What of these tasks' logs does not follow from the replies in them; and why tasks can't be read again."""
    from lmms_medtasks.harness.recomputing import differences
    from lmms_medtasks.harness.rescoring import Definitions
    from lmms_medtasks.samples.runs import find

    definitions = Definitions()
    found: list[str] = []
    left: dict[str, str] = {}
    for run in find([path]):
        for task in sorted(tasks & set(run.content.get("configs") or {})):
            try:
                # Not a list of it: what differs before the log can't be read any further counts.
                for text in differences(run, task, definitions):
                    found.append(text)
            except UserError as error:
                left[task] = str(error)
    return found, left
