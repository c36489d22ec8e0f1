"""``lmms-medtasks judge``: judge a run's answers, or check a judge, without the model."""

from __future__ import annotations

import dataclasses
import filecmp
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli.options import JudgePrompts, TaskFolder, group_with
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.short_texts import count_noun

if TYPE_CHECKING:
    from lmms_medtasks.harness.rejudging import JudgedTask, RejudgedTask
    from lmms_medtasks.judges.settings import JudgeSettings


app = typer.Typer(
    name="judge",
    cls=group_with("run"),
    no_args_is_help=True,
    help="Judge a run's open answers, or check a judge.\n\n'judge RUN' is short for 'judge run RUN'.",
)


@app.command("run")
def judge(
    run: Annotated[Path, typer.Argument(help="Result folder of a run, or its *_results.json file.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="provider:model. Default: the run's own judge, else MEDTASKS_JUDGE.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this folder and leave the run as it is.")
    ] = None,
    max_requests: Annotated[int | None, typer.Option(min=0, help="Ask at most this often.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Spend at most this many USD, at the prices of MEDTASKS_JUDGE_PRICE.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on asking, however many judgements in a row give no valid verdict.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print each task: what is asked, counts, and its metrics.")
    ] = False,
    judge_prompt: JudgePrompts = None,
    include_path: TaskFolder = None,
) -> None:
    """Judge the open answers of a run again, from its sample log alone.

    With the run's own judge, or if the run had none, only missing judgements are asked for, and the run's files are
    replaced, each whole or not at all. With another judge all answers are judged again into a new folder (default:
    RUN-judge-MODEL beside RUN), and the run stays as it is: judgements of two judges never stand in one table.
    If nothing changes, no file is written.

    The exit status is 1 if judgements are still missing. Ctrl-C keeps what was judged; the exit status is 130 then.
    """
    from loguru import logger

    from lmms_medtasks.harness import rejudging

    if not verbose:
        logger.disable("lmms_eval")  # it tells where its data lies
    paths = sorted(results.list_result_files(run)) if run.is_dir() else [run]
    if not paths:
        raise UserError(f"No *_results.json in {run}.")
    runs = [results.read_result_file(path) for path in paths]
    rejudging.load_custom_protocols(runs, include_path)
    if judge_prompt:
        runs = [rejudging.with_judge_prompts(each, judge_prompt, task or []) for each in runs]
    tasks, every = (rejudging.find_judged_tasks(runs, names) for names in (task or [], []))
    settings = _choose_settings(judge, tasks, every, max_requests, max_cost)
    settings = dataclasses.replace(settings, keep_going=settings.keep_going or keep_going)
    # In place only where no task of the run, asked for or not, has another judge's verdicts.
    is_same_judge = all(judged_task.is_judged_by(settings) for judged_task in every)
    target = output or (None if is_same_judge else _folder_beside(run, settings))
    if target is None:
        for judged_task in every:
            judged_task.check_same(settings)
    done, interrupted = _judge_files(
        run, paths, tasks, settings, target, include_path, everything=not task, verbose=verbose
    )
    _print_outcome(done, settings, verbose)
    typer.echo(f"What was found, on one screen: lmms-medtasks report {shlex.quote(str(target or run))}")
    if interrupted:
        raise typer.Exit(130)
    if any(rejudged.counts.missing for rejudged in done):
        raise typer.Exit(1)


def _choose_settings(
    judge: str | None,
    tasks: list[JudgedTask],
    every: list[JudgedTask],
    max_requests: int | None,
    max_cost: float | None,
) -> JudgeSettings:
    from lmms_medtasks.judges import settings
    from lmms_medtasks.progress import print_message

    recorded = _recorded_judges(tasks) or _recorded_judges(every)
    if judge is None and len(recorded) > 1:
        raise UserError(f"The run's tasks had different judges: {', '.join(sorted(recorded))}. Name one with --judge.")
    chosen = settings.read_judge_settings(judge=judge or (recorded.pop() if recorded else None))
    if chosen.provider == "none":
        raise UserError("No judge: the run had none. Name one with --judge provider:model, or set MEDTASKS_JUDGE.")
    preset = os.environ.get(settings.JUDGE, "").strip()
    if judge is None and preset not in ("", chosen.name):
        print_message(
            f"{settings.JUDGE} names {preset}, but {chosen.name} judged this run and goes on. Or give --judge {preset}."
        )
    if max_cost is not None and chosen.price is None:
        message = "--max-cost says nothing without a price. Set MEDTASKS_JUDGE_PRICE=input,output (USD, million)."
        raise UserError(message)
    return dataclasses.replace(
        chosen,
        max_requests=chosen.max_requests if max_requests is None else max_requests,
        max_cost=chosen.max_cost if max_cost is None else max_cost,
    )


def _recorded_judges(tasks: list[JudgedTask]) -> set[str]:
    return {task.recorded_judge["name"] for task in tasks} - {"none"}


def _folder_beside(run: Path, settings: JudgeSettings) -> Path:
    folder = (run if run.is_dir() else run.parent).resolve()
    judge = re.sub(r"[^A-Za-z0-9._-]+", "_", settings.model or settings.provider)
    return folder.with_name(f"{folder.name}-judge-{judge}")


def _judge_files(
    run: Path,
    paths: list[Path],
    tasks: list[JudgedTask],
    settings: JudgeSettings,
    target: Path | None,
    include_path: Path | None,
    *,
    everything: bool,
    verbose: bool,
) -> tuple[list[RejudgedTask], bool]:
    """The result of each task, and whether Ctrl-C interrupted the judging."""
    from lmms_medtasks.harness.rejudging import rejudge_tasks
    from lmms_medtasks.harness.rescoring import TaskDefinitions
    from lmms_medtasks.judges import registry
    from lmms_medtasks.judges.judging import JudgeSession
    from lmms_medtasks.progress import print_message

    definitions = TaskDefinitions(str(include_path) if include_path else None)
    root = run if run.is_dir() else run.parent
    done: list[RejudgedTask] = []
    protocols = [protocol for task in tasks for protocol in registry.protocols_under_terms(task.task_config)]
    with JudgeSession(settings, protocols) as session:
        for path in paths:
            chosen = [task for task in tasks if task.run.path == path]
            if not chosen:
                continue
            folder = path.parent if target is None else target / path.parent.relative_to(root)
            alone = target is not None and not everything
            if target is not None:
                _check_target(folder / path.name, settings, chosen, alone)
            done += rejudge_tasks(
                chosen, session, definitions, folder, print_message, alone=alone,
                detail=print_message if verbose else lambda text: None,
            )  # fmt: skip
            if target is not None and everything:
                _copy_others(chosen, folder)
    return done, session.interrupted


def _check_target(path: Path, settings: JudgeSettings, tasks: list[JudgedTask], alone: bool) -> None:
    """Raise UserError where a result file of another judge is in the way, or of tasks that would be lost."""
    from lmms_medtasks.judges import identity

    if not path.exists():
        return
    there = results.read_result_file(path).content
    for task in tasks:
        config = there.get("configs", {}).get(task.task, {})
        judge = (config.get("metadata") or {}).get("judge") or {"name": None}
        same = (judge["name"], judge.get("endpoint")) == (settings.name, settings.endpoint)
        if judge["name"] not in (None, "none") and not same:
            judge_name = identity.full_name(judge)
            raise UserError(f"{path} holds task {task.task!r} judged by {judge_name}. Name another folder with -o.")
    lost = sorted(set(there.get("configs", {})) - {task.task for task in tasks}) if alone else []
    if lost:
        raise UserError(
            f"{path} holds {', '.join(lost)} too, which would be lost. Name these with --task as well (no question is "
            "asked twice), or another folder with -o."
        )


def _copy_others(tasks: list[JudgedTask], folder: Path) -> None:
    """The sample logs of the tasks that need no judge, so that the new folder is a whole run."""
    run, judged = tasks[0].run, {task.task for task in tasks}
    for task in run.tasks:
        source = run.samples_file(task)
        copy = folder / source.name
        if task in judged or not source.is_file() or (copy.is_file() and filecmp.cmp(source, copy, shallow=False)):
            continue
        shutil.copyfile(source, copy)


def _print_outcome(done: list[RejudgedTask], settings: JudgeSettings, verbose: bool) -> None:
    """Print the counts of all tasks together, and which of them have answers left; ``verbose``: each task first."""
    from lmms_medtasks.judges import identity
    from lmms_medtasks.judges.judging import JudgingCounts

    every = JudgingCounts()
    for rejudged in done:
        every = every.and_also(rejudged.counts)
        if not verbose:
            continue
        typer.echo(f"{rejudged.judged.task} ({rejudged.judged.run.path})")
        typer.echo(f"  {rejudged.kept} verdicts kept, {rejudged.counts.sentence()}".replace("\n", "\n  "))
        for key, value in rejudged.results.items():
            if "_stderr" not in key and isinstance(value, int | float):
                typer.echo(f"  {key.partition(',')[0]}: {value:.6g}")
    pairs = [(protocol.name, protocol) for rejudged in done for protocol in rejudged.judged.protocols]
    for sentence in identity.describe_paper_judges(settings, pairs):
        typer.echo(sentence)
    kept = sum(rejudged.kept for rejudged in done)
    typer.echo(f"{count_noun(len(done), 'task')}: {kept:,} verdicts kept, {every.sentence()}")
    if left := [f"{each.judged.task} ({each.counts.missing:,})" for each in done if each.counts.missing]:
        typer.echo(f"Still to judge: {', '.join(left)}")


@app.command("check")
def check_judge(
    judge: Annotated[str | None, typer.Option("--judge", help="provider:model. Default: MEDTASKS_JUDGE.")] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Judge protocol: its name, a rubric's file, FILE.py:NAME. Repeatable."),
    ] = None,
    max_requests: Annotated[int | None, typer.Option(min=0, help="Ask at most this often.")] = None,
) -> None:
    """Have a judge score twenty answers of known quality under each protocol, each answer twice.

    Four questions with a right answer, a wrong one, one that says nothing, the wrong one behind padding, and the wrong
    one with an instruction to the judge behind it. The result stands with the judge in every run that it judges
    afterwards. Nothing of a benchmark is sent. Exits with 1 if the judge falls short in something.
    """
    from lmms_medtasks.judges import judge_check, registry, settings
    from lmms_medtasks.judges.judging import JudgeSession
    from lmms_medtasks.progress import print_message

    names = list(dict.fromkeys(protocol or []))
    if not names:
        raise UserError(f"Name the protocols to check with --protocol: {', '.join(registry.names())}.")
    chosen = settings.read_judge_settings(judge=judge)
    if chosen.provider == "none":
        raise UserError("No judge: name one with --judge provider:model, or set MEDTASKS_JUDGE.")
    if max_requests is not None:
        chosen = dataclasses.replace(chosen, max_requests=max_requests)
    protocols = [registry.get(name) for name in names]
    items = {each.name: judge_check.list_check_items(each) for each in protocols}
    fell_short = False
    with JudgeSession(chosen, protocols) as session:
        for each in protocols:
            verdicts, counts = session.judge(each, items[each.name], say=print_message)
            result = judge_check.count_check_outcomes(each, verdicts)
            fell_short = fell_short or bool(result.problems)
            typer.echo(f"{each.name}, {chosen.name}: {result.sentence()}")
            for problem in result.problems:
                typer.echo(f"  {problem}")
            given = sorted((result.verdicts or {}).items(), key=lambda pair: (-pair[1], pair[0]))
            if given:
                typer.echo(f"  verdicts: {', '.join(f'{number} times {text}' for text, number in given)}")
            typer.echo(f"  {counts.sentence()}".replace("\n", "\n  "))
    if fell_short:
        raise typer.Exit(1)
