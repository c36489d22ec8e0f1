"""``lmms-medtasks pack``: a run as a compact signed-off file, and the check of one; ``leaderboard repack``: of many."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.cli.options import IncludePath
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.visible_text import replace_invisible

SignedOffBy = Annotated[
    str,
    typer.Option(
        "--signed-off-by",
        metavar="'NAME <MAIL>'",
        help="Who vouches that the run is real. A board's site shows the name; the mail stands in the file.",
    ),
]


def pack(
    run: Annotated[
        Path, typer.Argument(help="Result folder of a run; with --check a submission, or a folder with some.")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write: .json or .json.gz.")] = None,
    signed_off_by: SignedOffBy = "",
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the rows of submissions against each other; write nothing.")
    ] = False,
    against: Annotated[
        Path | None, typer.Option("--against", help="With --check: the run that the submission must be of, too.")
    ] = None,
    include_path: IncludePath = None,
) -> None:
    """Write a submission for a leaderboard.

    It holds a run's scores question by question, without texts and images. Exits with 1 when a task of the run could
    not be written, or a submission that is checked is not sound.
    """
    if check:
        _check_submissions(run, against)
        return
    if output is None or against is not None:
        raise UserError("Name the file to write with -o FILE. --against is for --check.")
    if _write_submission(run, output, signed_off_by, task or []):
        raise typer.Exit(1)


def repack(
    runs: Annotated[Path, typer.Argument(help="Folder with runs.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the submissions, one a run.")],
    signed_off_by: SignedOffBy = "",
    include_path: IncludePath = None,
) -> None:
    """Make the submissions of all runs below a folder anew, in the form that this release reads.

    Each is called as the run's result file and lies where that lies below RUNS; what is there is replaced. Exits with 1
    when a task of a run, or a whole run, could not be written.
    """
    from lmms_medtasks.board import packing
    from lmms_medtasks.samples import result_files
    from lmms_medtasks.writing import check_folder

    packing.check_signature(signed_off_by)
    check_folder(output)
    result_paths = sorted(result_files.list_result_files(runs))
    if not result_paths:
        raise UserError(f"No *_results.json in {runs}. Give a folder with the --output_path of runs.")
    bad = False
    for number, file in enumerate(result_paths, start=1):
        name = f"{file.name.removesuffix(result_files.SUFFIX)}.json.gz"
        typer.echo(replace_invisible(f"{number} of {len(result_paths)}: {file}"), err=True)
        try:
            bad |= _write_submission(file, output / file.relative_to(runs).with_name(name), signed_off_by, [])
        except UserError as error:
            typer.echo(replace_invisible(f"refused: {error}"), err=True)
            bad = True
    if bad:
        raise typer.Exit(1)


def _write_submission(run: Path, output: Path, signed_off_by: str, tasks: list[str]) -> bool:
    """Write the submission of a run, and print which tasks could not be written. Returns whether there are any."""
    from lmms_medtasks.board import packing
    from lmms_medtasks.board.collect import collect_entries

    board = collect_entries([run], tasks=tasks, processes=os.cpu_count() or 1)
    tasks_by_reason: dict[str, list[str]] = {}
    for problem in board.problems:
        tasks_by_reason.setdefault(f"{problem.level}: {problem.reason}", []).append(problem.task)
    for reason, of in tasks_by_reason.items():
        clause = f" ({first_listed(list(dict.fromkeys(of)))})" if any(of) else ""
        typer.echo(replace_invisible(f"{reason}{clause}"), err=True)
    if not board.entries:
        raise UserError(f"No task of {run} can be packed.")
    size = packing.write_submission(packing.make_submission(board.entries, signed_off_by), output)
    typer.echo(f"Written: {output} ({len(board.entries)} tasks, {size:,} bytes)", err=True)
    return bool(board.refused)


def _check_submissions(path: Path, against: Path | None) -> None:
    from lmms_medtasks.board import packing, packs
    from lmms_medtasks.board.trust import safe_files
    from lmms_medtasks.samples.result_files import SUFFIX

    unread: list[tuple[Path, str]] = []
    if not path.exists():
        raise UserError(f"{path} is not there. Give a submission, or a folder of some.")
    submissions = [path]
    if path.is_dir():
        candidates, unread = safe_files.list_regular_files(path, packs.ENDINGS)
        submissions = [file for file in candidates if not file.name.endswith(SUFFIX) and packs.is_pack(file)]
    if not submissions and not unread:
        raise UserError(f"No submission in {path}.")
    for _, reason in unread:
        typer.echo(replace_invisible(f"refused: {reason}"))
    bad = bool(unread)
    for file in submissions:
        try:
            entries = packs.read_submission(file)
            differing = packing.submission_differences(entries, against) if against else []
        except UserError as error:
            entries, differing = [], [str(error)]
        for text in differing:
            typer.echo(replace_invisible(f"refused: {text}"))
        bad = bad or bool(differing)
        if not differing:
            rows = sum(len(entry.questions) for entry in entries)
            signed = entries[0].source.signed_off_by
            typer.echo(replace_invisible(f"holds: {file} ({len(entries)} tasks, {rows:,} questions, {signed})"))
    if bad:
        raise typer.Exit(1)
