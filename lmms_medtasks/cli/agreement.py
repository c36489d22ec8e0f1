"""``lmms-medtasks agreement``: how well judges agree with people, and a blind sheet for people to rate on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli.options import ReportFormat, group_with
from lmms_medtasks.errors import UserError
from lmms_medtasks.writing import write_bytes_atomically, write_text_atomically

if TYPE_CHECKING:
    from lmms_medtasks.agreement.judged_answers import JudgedAnswers
    from lmms_medtasks.agreement.rater_comparison import AgreementResult

app = typer.Typer(
    name="agreement",
    cls=group_with("compute"),
    no_args_is_help=True,
    help="How judges agree with people and one another.\n\n'agreement RUN' is short for 'agreement compute RUN'.",
)

RunsArgument = Annotated[list[Path], typer.Argument(help="Result folders of runs, or their *_results.json files.")]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only this task (or wildcard); may be given several times.")
]
ProtocolOption = Annotated[str, typer.Option("--protocol", help="Only answers judged by this protocol.")]


@app.command()
def compute(
    runs: RunsArgument,
    ratings: Annotated[
        list[Path] | None, typer.Option("--ratings", help="CSV with ratings by people; may be given several times.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Key of the blind sheet that the ratings are on.")] = None,
    task: TaskOption = None,
    protocol: ProtocolOption = "",
    format: Annotated[ReportFormat, typer.Option("--format", help="What to print.")] = "terminal",
) -> None:
    """Compare judges with people, people with one another, judges of the same answers, and repeated judgings.

    Takes runs with --log_samples. RATINGS have a row an answer: id, a column for each dimension rated, and where needed
    rater, model and trial. Ends with status 1 if nothing could be compared.
    """
    from lmms_medtasks.agreement import judged_answers, rater_comparison
    from lmms_medtasks.agreement import ratings as rating_files

    if key is not None and not ratings:
        raise UserError("--key belongs to --ratings: it says whose answers the codes in these are.")
    judged = judged_answers.read_judged_answers(runs, task or [], protocol)
    people = rating_files.read_ratings(ratings, judged, key) if ratings else {}
    result = rater_comparison.compare(judged, people)
    if not result.comparisons and not people:
        raise UserError(
            "Nothing to compare: no ratings by people, no two judges of the same answers, no repeated judgings. "
            "Give --ratings CSV (`lmms-medtasks agreement sheet` draws a sheet), or a run judged by another judge."
        )
    _print_comparison(judged, result, format)
    if not any(
        number.value is not None for comparison in result.comparisons for number in comparison.coefficients.values()
    ):
        print("lmms-medtasks: nothing could be compared.", file=sys.stderr)
        raise typer.Exit(1)


def _print_comparison(judged: JudgedAnswers, result: AgreementResult, format: ReportFormat) -> None:
    from rich.console import Console

    from lmms_medtasks.agreement.rater_comparison import make_agreement_document
    from lmms_medtasks.report.terminal import document_text, print_report

    document = make_agreement_document(judged, result)
    if format == "terminal" and sys.stdout.isatty():
        print_report(document, Console())
    else:
        typer.echo(document_text(document, format), nl=False)


@app.command()
def sheet(
    runs: RunsArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the sheet; its key is put beside it.")],
    questions: Annotated[int, typer.Option(min=1, help="How many questions to draw.")] = 50,
    seed: Annotated[int, typer.Option(help="The same runs and seed give the same sheet.")] = 0,
    task: TaskOption = None,
    protocol: ProtocolOption = "",
) -> None:
    """Draw a blind rating sheet: answers in random order, models and verdicts hidden, as CSV and as a page.

    Give the folder to those who rate. The key (OUTPUT.key.csv) stays with you: `agreement RUN --ratings CSV --key KEY`.
    """
    from lmms_medtasks.agreement import judged_answers
    from lmms_medtasks.agreement import sheet as sheets
    from lmms_medtasks.samples import runs as report_runs

    key = output.with_name(f"{output.name}.key.csv")
    for path in (output, key):
        if path.exists():
            raise UserError(f"{path} is there already, perhaps with ratings on it. Name a new folder with --output.")
    judged = judged_answers.read_judged_answers(runs, task or [], protocol)
    drawn = sheets.draw_sheet_answers(judged, questions, seed=seed)
    pictures = sheets.read_sheet_images(report_runs.find_result_files(runs), drawn)
    for problem in pictures.problems:
        typer.echo(f"lmms-medtasks: {problem}", err=True)
    texts = {
        output / "sheet.csv": sheets.sheet_csv(drawn, judged.protocol, pictures),
        output / "sheet.html": sheets.render_sheet(drawn, judged.protocol, pictures),
        key: sheets.key_csv(drawn),
    }
    for path, text in texts.items():
        write_text_atomically(path, text)
    for name, content in pictures.files.items():
        write_bytes_atomically(output / "images" / name, content)
    count = len({answer.answer.key.id for answer in drawn})
    few = f" (asked for {questions:,}; there are no more)" if count < questions else ""
    models = len(judged.models)
    shown = f"{models:,} model{'' if models == 1 else 's'}"
    seen = len({answer.answer.key.id for answer in drawn if pictures.picture_names(answer)})
    typer.echo(
        f"{len(drawn):,} answers to {count:,} questions{few} by {shown}, {seen:,} of them with images.", err=True
    )
    typer.echo(f"For those who rate: {output} (sheet.html or sheet.csv). Only for you: {key}", err=True)
