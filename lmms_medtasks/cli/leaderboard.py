"""``lmms-medtasks leaderboard``: from runs and packs to a static site, and what keeps one in public trustworthy."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli import leaderboard_trust, pack
from lmms_medtasks.cli.confidence_option import Confidence
from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.cli.leaderboard_trust import Owners, Pins, Rules, Verified
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.confidence import DEFAULT
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from lmms_medtasks.board.boards import Board


@contextmanager
def _few_searches_for_cycles() -> Iterator[None]:
    """Python looks for cycles of objects after 1,000,000 new ones, not 700: a build makes millions, few in cycles.

    That is a sixth of a build's time. Objects in no cycle are freed at once all the same. What is left at the end is
    not searched then, nor as the process ends; a later build of this process searches it again.
    """
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(1_000_000, *before[1:])
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*before)


app = typer.Typer(help="From many runs to a leaderboard.", no_args_is_help=True, pretty_exceptions_enable=False)


@app.command()
@_few_searches_for_cycles()
def build(
    runs: Annotated[list[Path], typer.Argument(help="Folders with runs and submissions, or single ones.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The site's folder; an older site there is replaced.")],
    rules: Rules = None,
    title: Annotated[str, typer.Option(help="Title of the site.")] = "lmms-medtasks leaderboard",
    resamples: Annotated[
        int, typer.Option(min=0, help="Draws at most, where models are compared by drawing; 0: no intervals, no tests.")
    ] = 1000,
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

    For a board that strangers submit to, give --pins, --owners, --verified and --models. They are files of the
    board's base branch: see docs/publish_a_leaderboard.md.
    """
    from lmms_medtasks.board import model_facts
    from lmms_medtasks.board.boards import told_once
    from lmms_medtasks.board.collect import collect
    from lmms_medtasks.board.site import folder, suite_words
    from lmms_medtasks.board.site import write_site as site
    from lmms_medtasks.board.trust import rules_of_trust
    from lmms_medtasks.build_cache import NO_CACHE, BuildCache
    from lmms_medtasks.data import store
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    shown = suite_words.shown(texts or (), images or ())
    folder.check(output)
    trust, known = rules_of_trust.read(pins, owners, verified), model_facts.read(models)
    kept = NO_CACHE if no_cache else BuildCache.at(cache or store.home() / "board_cache")
    options = site.Options(
        title=title, resamples=resamples, reports=reports, questions=questions, stamp=stamp, shown=shown, models=known,
        roots=tuple(path if path.is_dir() else path.parent for path in runs), cache=kept,
    )  # fmt: skip
    board = collect(runs, rules=rules, processes=processes, trust=trust, cache=kept, by_measure=True)
    _check_found(board, runs, allow_empty)
    files = site.build(board, output, options)
    copies = [each for each in board.problems if each.code == "duplicate" and each not in board.bad]
    for problem, of_tasks in told_once([*board.bad, *copies]):
        level = "copy" if problem in copies else problem.level
        more = f" ({len(of_tasks)} tasks)" if len(of_tasks) > 1 else ""
        typer.echo(visible(f"lmms-medtasks: {level}{more}: {problem.reason} ({problem.source})"), err=True)
    apart = sum(not entry.ranked for entry in board.entries)
    if unpinned := sorted(task for task, each in board.references.items() if "questions and data" in each.unverified):
        shown_tasks = ", ".join(unpinned[:5]) + (f" and {len(unpinned) - 5} more" if len(unpinned) > 5 else "")
        typer.echo(visible(f"Unverified (no pin of questions and data): {shown_tasks}."), err=True)
    entries = "1 entry" if len(board.entries) == 1 else f"{len(board.entries):,} entries"
    typer.echo(
        f"Written: {output} ({len(files):,} files, {sum(files.values()) / 1e6:,.1f} MB; start with index.html). "
        f"{entries}, {apart} of them not ranked; {board.refused_count} refused.",
        err=True,
    )
    if board.bad:
        raise typer.Exit(1)


def _check_found(board: Board, paths: Sequence[Path], allow_empty: bool) -> None:
    """Name the arguments that nothing came of. Raises UserError where nothing came of any."""
    sources = [entry.source.results for entry in board.entries] + [Path(each.source) for each in board.problems]
    without = [path for path in paths if not any(each.is_relative_to(path) for each in sources)]
    said = [f"No *_results.json and no submission in {path}." for path in without]
    if sources or allow_empty:
        for each in said:
            typer.echo(visible(f"lmms-medtasks: {each}"), err=True)
        return
    raise UserError(
        f"{' '.join(said)} Give the --output_path of runs, or submissions. --allow-empty builds the site of a board "
        "that has no entry yet."
    )


for command in (leaderboard_trust.pin, leaderboard_trust.verify, leaderboard_trust.check, pack.repack):
    app.command()(command)
