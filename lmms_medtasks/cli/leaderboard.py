"""``lmms-medtasks leaderboard``: from runs and packs to a static site, and what keeps one in public trustworthy."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli import pack
from lmms_medtasks.cli.options import Confidence, IncludePath, Resamples
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.statistics.confidence import DEFAULT
from lmms_medtasks.visible_text import replace_invisible

if TYPE_CHECKING:
    from lmms_medtasks.board.boards import Leaderboard


_SHOWN = 20
"""Differences that are named at most."""
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")]
Rules = Annotated[Path | None, typer.Option(help="YAML with the board's own rules.")]
Pins = Annotated[Path | None, typer.Option(help="YAML with the questions and data of each task version.")]
Owners = Annotated[Path | None, typer.Option(help="YAML that maps model names to the accounts that may submit them.")]
Verified = Annotated[Path | None, typer.Option(help="YAML with what the board verified of submissions.")]

app = typer.Typer(
    name="leaderboard", help="Make a leaderboard of many runs.", no_args_is_help=True, pretty_exceptions_enable=False
)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The repository's folder; files that are there stay as they are.")],
    keeper: Annotated[
        list[str], typer.Option(metavar="ACCOUNT", help="GitHub account or team that approves changes. Repeatable.")
    ],
    title: Annotated[str, typer.Option(help="Title of the board.")] = "Leaderboard",
    package: Annotated[
        str,
        typer.Option(
            help="What the workflows install, as pip takes it: lmms-medtasks==X.Y.Z, the address of a wheel, or "
            "git+https://HOST/OWNER/lmms-medtasks@vX.Y.Z. Default: the package that runs this command."
        ),
    ] = "",
) -> None:
    """Make the repository of a leaderboard that anybody may submit to: rules, workflows, a README that says the rest.

    pip looks up what the workflows install, and writes it down by digests. After a new release delete package.txt,
    requirements.txt and .github/workflows in the repository, and run this again.
    """
    from lmms_medtasks.board.board_repository import write_repository

    if not (folder / "package.txt").exists():
        typer.echo("pip looks up what the workflows install …", err=True)
    written, kept = write_repository(folder, keeper, title, package)
    typer.echo(f"Written: {folder} ({', '.join(written) or 'nothing'})", err=True)
    if kept:
        typer.echo(f"As they were: {', '.join(kept)}", err=True)
    typer.echo(f"What to do next is in {folder / 'README.md'}.", err=True)


@app.command()
def build(
    runs: Annotated[list[Path], typer.Argument(help="Folders with runs and submissions, or single ones.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The site's folder; an older site there is replaced.")],
    rules: Rules = None,
    title: Annotated[str, typer.Option(help="Title of the site.")] = "lmms-medtasks leaderboard",
    resamples: Resamples = 1000,
    reports: Annotated[bool, typer.Option(help="Write a report for each model, and comparisons.")] = True,
    questions: Annotated[bool, typer.Option(help="Make the question browser.")] = True,
    texts: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA_SET", help="Show questions and answers of this data set too. Repeatable."),
    ] = None,
    images: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA_SET", help="Show images of this data set, whose terms you have read. Repeatable."),
    ] = None,
    stamp: Annotated[str, typer.Option(help="A line for the foot of the overview: a commit, a date.")] = "",
    processes: Annotated[int, typer.Option(min=1, help="Sample logs read at once.")] = 1,
    pins: Pins = None,
    owners: Owners = None,
    verified: Verified = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder in which what was made of each run is kept for the next build; about a fifth of the logs. "
            "Default: board_cache in MEDTASKS_HOME, or in the user's cache folder."
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make everything again, and keep nothing.")] = False,
    models: Annotated[Path | None, typer.Option(help="YAML with facts of models: size, licence, open weights.")] = None,
    repository: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Of the board's repository: adds the page 'Submit your model'."),
    ] = "",
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Build the site of a board without entries.")
    ] = False,
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Build a static site of all runs and submissions: rankings, published rows, a page for each model, the questions.

    The site needs no server and loads nothing from elsewhere. The same runs and options give the same bytes.
    A faulty run keeps no other run from the site. It is flagged, not ranked or refused, and the page says why.
    The exit status is 1 if a run was refused, and 2 if there is no run and no submission at all. A copy of a run that
    is here too, as one that a judge was asked about later, is not refused: one of the two stands, the judged one.
    Images of the mini data are shown without being asked for. Images of credentialed data are never shown.

    For a board that strangers submit to, give --pins, --owners, --verified, --models and --repository:
    lmms-medtasks leaderboard init makes its repository.
    """
    from lmms_medtasks.board import model_facts
    from lmms_medtasks.board.collect import collect_entries
    from lmms_medtasks.board.rules import read_board_rules
    from lmms_medtasks.board.site import folder, submit_page, suite_words
    from lmms_medtasks.board.site import write_site as site
    from lmms_medtasks.board.trust import rules_of_trust
    from lmms_medtasks.build_cache import NO_CACHE, BuildCache
    from lmms_medtasks.data import store

    # A build makes millions of objects, few in cycles: to look for these after every 700 is a sixth of its time.
    gc.set_threshold(1_000_000)
    shown = suite_words.parse_allowed_data(texts or (), images or ())
    folder.check_output_folder(output)
    trust, known = rules_of_trust.read_trust(pins, owners, verified), model_facts.read_model_facts(models)
    build_cache = NO_CACHE if no_cache else BuildCache.at(cache or store.data_home() / "board_cache")
    demands = read_board_rules(rules)
    board = collect_entries(runs, rules=demands, processes=processes, trust=trust, cache=build_cache, by_measure=True)
    _check_found(board, runs, allow_empty)
    guide = submit_page.make_guide(repository, board, trust.pins, demands) if repository else None
    options = site.SiteOptions(
        title=title, resamples=resamples, reports=reports, questions=questions, stamp=stamp, guide=guide, shown=shown,
        models=known, roots=tuple(path if path.is_dir() else path.parent for path in runs), cache=build_cache,
    )  # fmt: skip
    files = site.build_site(board, output, options)
    _print_outcome(board, output, files)
    gc.freeze()  # nor are they searched as the process ends
    if board.bad:
        raise typer.Exit(1)


def _print_outcome(board: Leaderboard, output: Path, files: Mapping[str, int]) -> None:
    """Print what was refused, copied or is not pinned, and what was written: ``files`` with their bytes."""
    from lmms_medtasks.board.boards import told_once

    copies = [problem for problem in board.problems if problem.code == "duplicate" and problem not in board.bad]
    for problem, of_tasks in told_once([*board.bad, *copies]):
        level = "copy" if problem in copies else problem.level
        more = f" ({len(of_tasks)} tasks)" if len(of_tasks) > 1 else ""
        typer.echo(replace_invisible(f"lmms-medtasks: {level}{more}: {problem.reason} ({problem.source})"), err=True)
    apart = sum(not entry.ranked for entry in board.entries)
    if unpinned := sorted(task for task, each in board.references.items() if "questions and data" in each.unverified):
        shown_tasks = ", ".join(unpinned[:5]) + (f" and {len(unpinned) - 5} more" if len(unpinned) > 5 else "")
        typer.echo(replace_invisible(f"Unverified (no pin of questions and data): {shown_tasks}."), err=True)
    entries = "1 entry" if len(board.entries) == 1 else f"{len(board.entries):,} entries"
    typer.echo(
        f"Written: {output} ({len(files):,} files, {sum(files.values()) / 1e6:,.1f} MB; start with index.html). "
        f"{entries}, {apart} of them not ranked; {board.refused_count} refused.",
        err=True,
    )


def _check_found(board: Leaderboard, paths: Sequence[Path], allow_empty: bool) -> None:
    """Name the paths without a run or submission. Raises UserError if all are without one."""
    sources = [entry.source.results for entry in board.entries] + [Path(problem.source) for problem in board.problems]
    without = [path for path in paths if not any(source.is_relative_to(path) for source in sources)]
    sentences = [f"No *_results.json and no submission in {path}." for path in without]
    if sources or allow_empty:
        for sentence in sentences if sources else ["The board has no entry yet."]:
            typer.echo(replace_invisible(f"lmms-medtasks: {sentence}"), err=True)
        return
    raise UserError(
        f"{' '.join(sentences)} Give the --output_path of runs, or submissions. --allow-empty builds the site of a "
        "board that has no entry yet."
    )


@app.command()
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
    from lmms_medtasks.board.collect import collect_entries
    from lmms_medtasks.board.trust import pins
    from lmms_medtasks.report.judged_tables import is_lexical

    board = collect_entries(runs, tasks=task or (), processes=os.cpu_count() or 1)
    for problem in board.refused:
        typer.echo(replace_invisible(f"lmms-medtasks: refused: {problem.reason}"), err=True)
    if not board.entries:
        raise UserError("There is no task that can be pinned. Give the --output_path of a whole run.")
    new = pins.write_pins(board.entries, output)
    typer.echo(f"Written: {output} ({new} new, {len(board.entries)} tasks read)", err=True)
    pinned = pins.read_pins(output)
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


@app.command()
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
    from lmms_medtasks.board.collect import collect_entries
    from lmms_medtasks.board.packing import submission_differences
    from lmms_medtasks.board.trust import levels

    if level not in levels.LEVELS:
        raise unknown_name_error("level", level, levels.LEVELS, "--level")
    board = collect_entries([submission])
    entries = board.entries
    differing = [problem.reason for problem in board.refused] or submission_differences(entries, against)
    if not entries and not differing:
        raise UserError(f"{submission} has no pack and no run.")
    left: dict[str, str] = {}
    if level == levels.RECOMPUTED and not differing:
        differing, left = _recompute_scores(against, {entry.task for entry in entries})
    if differing:
        for text in differing[:_SHOWN]:
            typer.echo(replace_invisible(f"refused: {text}"), err=True)
        raise typer.Exit(1)
    if level == levels.SCORES_ONLY:
        raise UserError(f"--level {level} needs no entry in {output}: it is what every submission has.")
    for task, reason in left.items():
        typer.echo(replace_invisible(f"left out: {task}: {reason}"), err=True)
    # What a digest stands for has the level as a whole: a pack, or a task of a run.
    without = {entry.source.digest for entry in entries if entry.task in left}
    digests = {entry.source.digest for entry in entries} - without
    if not digests:
        some = any(entry.task not in left for entry in entries)
        why = " A pack has one level for all its tasks: pack the others alone." if some else ""
        raise UserError(f"Nothing of {submission} can be verified, so {output} is as it was.{why}")
    levels.write_trust_level(output, digests, level)
    tasks = {entry.task for entry in entries if entry.source.digest in digests}
    part = f"{len(tasks)} of {len({entry.task for entry in entries})} tasks of " if left else ""
    typer.echo(f"Written: {output} ({level}: {part}{submission})", err=True)
    if left:
        raise typer.Exit(2)


@app.command()
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
    from lmms_medtasks.board.rules import read_board_rules
    from lmms_medtasks.board.trust import rules_of_trust
    from lmms_medtasks.report.markdown import render_markdown
    from lmms_medtasks.report.terminal import screen_text
    from lmms_medtasks.writing import write_text_atomically

    trust = rules_of_trust.read_trust(pins, owners, verified)
    outcome = submissions.check_submission(base, submission, account, read_board_rules(rules), trust, resamples)
    if output is not None:
        write_text_atomically(output, render_markdown(outcome.document()))
    typer.echo(screen_text(outcome.document()), nl=False)
    if outcome.wrong:
        raise typer.Exit(1)


def _recompute_scores(path: Path, tasks: set[str]) -> tuple[list[str], dict[str, str]]:
    """The scores in these tasks' logs that differ from their replies' scores; and why tasks can't be read again."""
    from lmms_medtasks.harness.logged_questions import iter_recomputed_differences
    from lmms_medtasks.harness.rescoring import TaskDefinitions
    from lmms_medtasks.samples.runs import find_result_files

    definitions = TaskDefinitions()
    differing: list[str] = []
    left: dict[str, str] = {}
    for run in find_result_files([path]):
        for task in sorted(tasks & set(run.content.get("configs") or {})):
            try:
                # Not a list of it: what differs before the log can't be read any further counts.
                for text in iter_recomputed_differences(run, task, definitions):
                    differing.append(text)
            except UserError as error:
                left[task] = str(error)
    return differing, left


app.command()(pack.repack)
