"""Commands about tasks: ``tasks``, ``path`` and ``metrics`` of ours; ``new``, ``validate`` and ``smoke`` of yours."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmms_medtasks.cli.options import IncludePath
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import count_noun

if TYPE_CHECKING:
    from lmms_medtasks.board.listed_tasks import ListedTask

Datasets = Annotated[
    list[str],
    typer.Option(
        help="A table in the folder, a hub's owner/name, or medtasks://suite/split. Given again, a second table of the "
        "same benchmark."
    ),
]


def tasks(
    names: Annotated[
        list[str] | None, typer.Argument(help="A benchmark, a task, a group, or a pattern: '*_l?'.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List our tasks: questions, trials, judge, data.

    Without NAMES, text leaves out variants of the tasks that it lists. The harness's own tasks are listed by
    `lmms-eval --tasks list`.
    """
    from lmms_medtasks.board.listed_tasks import list_installed_tasks

    listed = list_installed_tasks(names or (), variants=bool(names) or as_json)
    if as_json:
        typer.echo(json.dumps([task.to_json() for task in listed], indent=2, ensure_ascii=False))
        return
    # A terminal's lines are not broken: a task has one.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in _list_lines(listed, is_whole=not names):
        typer.echo(line[:width])


def _list_lines(listed: Sequence[ListedTask], *, is_whole: bool) -> Iterator[str]:
    from lmms_medtasks import folders
    from lmms_medtasks.board.listed_tasks import NOT_PREPARED

    counts = Counter(path.parent.name for path in folders.task_files().values())
    heads = ("task", "questions", "trials", "judge", "data", "")
    for benchmark, of_benchmark in itertools.groupby(listed, lambda task: task.benchmark):
        together = list(of_benchmark)
        rows = [heads, *map(_list_cells, together)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        yield together[0].title + f": {together[0].asks}" * bool(together[0].asks)
        for name, questions, *cells, about in rows:
            middle = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths[2:], strict=False))
            yield f"  {name.ljust(widths[0])}  {questions.rjust(widths[1])}  {middle}  {about}".rstrip()
        if (more := counts[benchmark] - len(together)) and is_whole:
            yield f"  {more} more, parts and variants of these: lmms-medtasks tasks {benchmark}"
        if missing := dict.fromkeys(name for task in together if NOT_PREPARED in task.data for name in task.data_sets):
            yield f"  Not prepared: {' '.join(missing)}"
        yield ""
    yield "judge yes: a judge that you name (MEDTASKS_JUDGE) scores open answers."
    if any(NOT_PREPARED in task.data for task in listed):
        yield (
            "data no: not prepared (lmms-medtasks data prepare NAME). The questions are those of the bundled mini "
            "data, for trying out (MEDTASKS_DATA=mini)."
        )


def _list_cells(task: ListedTask) -> tuple[str, ...]:
    from lmms_medtasks.board.listed_tasks import NOT_PREPARED

    members = f"{len(task.members)} tasks: {', '.join(task.members)}" if task.members else ""
    return (
        task.name,
        "" if task.questions is None else f"{task.questions:,}",
        "" if task.trials is None else str(task.trials),
        "yes" if task.judge else "",
        task.data.replace(NOT_PREPARED, "no"),
        task.about or members,
    )


def new(
    name: Annotated[str, typer.Argument(help="The task's name, and its folder's.")],
    dataset: Datasets,
    template: Annotated[
        str,
        typer.Option(
            help="What to build on; one of the templates listed above. Recognised from the table if left out."
        ),
    ] = "",
    folder: Annotated[Path | None, typer.Option(help="Where to write; a folder called NAME here.")] = None,
    split: Annotated[str, typer.Option(help="The hub data set's split.")] = "test",
    image: Annotated[str | None, typer.Option(help="The column with the image, or several: a,b,c.")] = None,
    images_in: Annotated[str, typer.Option(help="The folder in the task's folder where names of images start.")] = "",
    image_ending: Annotated[str, typer.Option(help="What is put behind names of images: .jpg, or .jpg,.png.")] = "",
    no_image: Annotated[bool, typer.Option("--no-image", help="No image is shown, though some lie there.")] = False,
    question: Annotated[str | None, typer.Option(help="The column with the question.")] = None,
    options: Annotated[
        str | None, typer.Option(help="The column with all options (also the question's), or their columns: a,b,c.")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="The column with the correct answer.")] = None,
    answer_is: Annotated[str, typer.Option(help="letter, text, index (from 0) or number (from 1).")] = "",
    several: Annotated[
        str, typer.Option(help="What several right answers mean: all (must be named) or any (is right).")
    ] = "",
    sheet: Annotated[str, typer.Option(help="The sheet of an Excel workbook that has several.")] = "",
    id_: Annotated[str | None, typer.Option("--id", help="The column with the questions' names.")] = None,
    cluster: Annotated[str | None, typer.Option(help="The column of what intervals are over, as the patient.")] = None,
    tags: Annotated[str, typer.Option(help="Further columns to keep for analyses: a,b,c.")] = "",
    degradation: Annotated[str | None, typer.Option(help="The degradation of all images, or drawn.")] = None,
    severity: Annotated[int | None, typer.Option(help="0, 1 or 2.")] = None,
    modality: Annotated[str | None, typer.Option(help="What all images are of.")] = None,
    judge: Annotated[str | None, typer.Option(help="The judge protocol of open answers.")] = None,
    shift: Annotated[str | None, typer.Option(help="COLUMN:IID:OOD, as in site:own:other,third.")] = None,
    paper: Annotated[str, typer.Option(help="For the card.")] = "",
    licence: Annotated[str, typer.Option(help="For the card.")] = "",
    terms: Annotated[
        str, typer.Option(help="For the card: the data-use terms. The setting terms in the YAML refuses servers.")
    ] = "",
    about: Annotated[str, typer.Option(help="For the card: a sentence on what is asked.")] = "",
    deviations: Annotated[str, typer.Option(help="For the card: deviations from the paper.")] = "",
    look: Annotated[bool, typer.Option("--look", help="Say what the table holds, and write nothing.")] = False,
) -> None:
    """Make a task of a table of questions.

    Writes a folder with the task's YAMLs, prompt, card and, where columns are called otherwise, a one-line adapter.

    Columns that no option names are recognised by their names and values, and shown with the first question.

    A table with multiple-choice and open questions, or several tables, become one benchmark: NAME is the group of its
    tasks, NAME_choice and NAME_open.

    Templates: multiple_choice, open, grid, shift_pair, open_shift_pair, degraded, calibration, no_image.
    """
    from lmms_medtasks.contribute import recognising
    from lmms_medtasks.contribute.new import NewTaskRequest, check_name, write_task_folder

    check_name(name)
    columns = dict(image=image, question=question, options=options, answer=answer, id=id_)
    settings: dict[str, Any] = dict(
        degradation=degradation, severity=severity, modality=modality, judge=judge, cluster=cluster
    )
    if no_image:
        settings["no_image"] = True
    if shift:
        settings["shift"] = _parse_shift(shift)
    request = NewTaskRequest(
        name=name,
        template=template,
        dataset="",
        folder=folder or Path(name),
        split=split,
        columns={key: value for key, value in columns.items() if value},
        answer_is=answer_is,
        several=several,
        images_in=images_in,
        image_ending=image_ending,
        reader={"sheet": sheet} if sheet else {},
        tags=tuple(filter(None, tags.split(","))),
        settings={key: value for key, value in settings.items() if value is not None},
        card={"paper": paper, "licence": licence, "terms": terms, "about": about, "deviations": deviations},
    )
    requests = [replace(request, dataset=_without_hub(each)) for each in dict.fromkeys(dataset)]
    misplaced = {each.dataset: each.misplaced for each in requests if look and each.misplaced}
    found = recognising.recognise_tables(
        [replace(each, folder=Path(each.dataset).parent) if each.dataset in misplaced else each for each in requests]
    )
    typer.echo("\n".join([line for recognised in found for line in recognised.said] + [*misplaced.values()]))
    # Both tasks of a mixed table may find the same.
    if problems := dict.fromkeys(recognised.problem for recognised in found if recognised.problem):
        said = " ".join(problem if problem.endswith((".", "?")) else f"{problem}." for problem in problems)
        raise UserError(f"{said} Nothing was written.")
    if not look:
        typer.echo("\n".join(map(str, write_task_folder(*(recognised.wanted for recognised in found)))))
        typer.echo(f"Next: lmms-medtasks validate {request.folder}", err=True)


def _without_hub(dataset: str) -> str:
    """A hub's owner/name without what stands before it in addresses."""
    for start in ("hf://datasets/", "hf://", "https://huggingface.co/datasets/"):
        if dataset.startswith(start):
            return dataset.removeprefix(start).rstrip("/")
    return dataset


def _parse_shift(text: str) -> dict[str, Any]:
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise UserError(f"--shift {text!r}: expected COLUMN:IID:OOD, as in site:own:other,third.")
    column, iid, ood = parts
    return {"column": column, "iid": _split_values(iid), "ood": _split_values(ood)}


def _split_values(text: str) -> Any:
    values = text.split(",")
    return values if len(values) > 1 else values[0]


def validate(
    path: Annotated[Path, typer.Argument(help="The task's folder, or a YAML in it.")],
    static: Annotated[bool, typer.Option("--static", help="Import and execute nothing of it.")] = False,
    show: Annotated[
        Path | None, typer.Option(help="Write a page with the first questions as a model gets them, and open it.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Record the prompts in prompts.json.")] = False,
) -> None:
    """Check a task's folder; exit with 1 if anything is wrong.

    First come the checks that execute nothing: keys and settings, includes, hooks, names, data files, card.
    Then the task's hooks are called on its data: with five questions as a model gets them, the expected answers as
    replies, random replies, and from several threads at once.
    """
    from lmms_medtasks.contribute.validate import validate_folder as run

    findings = run(path, static_only=static, show=show, write=write)
    for line in findings.told:
        typer.echo(line)
    for problem in findings.problems:
        typer.echo(problem)
    errors, others = len(findings.errors), len(findings.problems) - len(findings.errors)
    prefix = "Nothing was executed. " if static else ""
    typer.echo(f"{prefix}{count_noun(errors, 'error')}, {count_noun(others, 'other finding')}.")
    if show is not None and show.is_file() and sys.stdout.isatty():
        typer.launch(show.resolve().as_uri())
    if errors:
        raise typer.Exit(1)


def smoke(
    path: Annotated[Path, typer.Argument(help="The task's folder, or a YAML in it.")],
    limit: Annotated[int, typer.Option(help="Questions of each task.", min=1)] = 5,
    model: Annotated[list[str] | None, typer.Option(help="A built-in model; may be given several times.")] = None,
) -> None:
    """Try a folder's tasks on five questions.

    They run through the real harness with the built-in models.

    This executes the folder's code. Open answers are judged by MEDTASKS_JUDGE, by token overlap if that names none. The
    values say nothing of the task: built-in models guess, and five questions are few. medtasks_most_frequent runs where
    a task has a training_split.
    """
    from lmms_medtasks.contribute.smoke_run import run_smoke_test as run

    for row in run(path, limit, tuple(model) if model else None):
        value = f"{row.value:.3f}" if isinstance(row.value, float) else row.value
        typer.echo(f"{row.task:32} {row.model:24} {row.metric:28} {value}")


def path() -> None:
    """Print the folder with our task YAMLs.

    For the harness's subcommands that never load plugins: lmms-eval tasks list --include-path "$(lmms-medtasks path)".
    """
    from lmms_medtasks import folders

    typer.echo(folders.suites_root())


def metrics(
    task: Annotated[str, typer.Argument(help="A task's name, as `--tasks` takes it.")],
    include_path: IncludePath = None,
) -> None:
    """Print a task's metrics, and what each is.

    In the order of its table: the name, which way is better (`*` before the name: the leaderboard ranks by it), and
    what it is.
    """
    from lmms_medtasks.harness.rescoring import TaskDefinitions
    from lmms_medtasks.suites import registry

    config = TaskDefinitions([str(path) for path in include_path or ()] or None).get_definition(task)
    suite = registry.find_suite(task, config)
    declared = {metric.name: metric for metric in suite.metrics} if suite else {}
    for row in config.get("metric_list") or []:
        metric = declared.get(row["metric"])
        better = {True: "higher", False: "lower"}.get(row.get("higher_is_better"), "-")
        mark = "*" if metric and metric.main else " "
        typer.echo(f"{mark} {row['metric']:32} {better:7} {metric.about if metric else ''}".rstrip())
