"""``lmms-medtasks agreement``."""

import csv
import json
import sys
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from lmms_medtasks.cli import agreement
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import registry
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.record import QuestionJudgement, QuestionRecord


@pytest.fixture
def app():
    app = typer.Typer()
    app.add_typer(agreement.app, name="agreement")
    return app


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A judged run of six questions."""
    (tmp_path / "prompt.txt").write_text("{{answer}}")
    protocol = JudgeProtocol(
        name="cli_sample:PROTOCOL",
        prompt=str(tmp_path / "prompt.txt"),
        version=1,
        dimensions=(ScoreDimension("stars", {"1": 1.0, "2": 2.0, "3": 3.0}),),
        fields=("answer",),
        paper_judge="",
        item=lambda doc, reply: None,
    )
    monkeypatch.setitem(sys.modules, "cli_sample", SimpleNamespace(PROTOCOL=protocol))
    registry.forget_custom_protocols()
    records = [
        QuestionRecord(
            f"q{number}", f"i{number}", ("ok",), None, {}, {"modality": "CT"},
            judgement=QuestionJudgement(
                {"name": "openai:j", "protocol": protocol.name},
                ({"answer": f"answer {number}"},),
                (({"status": "judged", "labels": {"stars": str(number % 3 + 1)}, "reason": "", "reply": ""},),),
            ),
        )
        for number in range(6)
    ]  # fmt: skip
    folder = tmp_path / "run"
    folder.mkdir()
    settings = {"lmms_eval_specific_kwargs": {"default": {"judge": protocol.name}}}
    content = {"results": {"open": {}}, "configs": {"open": settings}, "config": {"model": "m"}}
    (folder / "x_results.json").write_text(json.dumps(content))
    lines = "".join(json.dumps({"questions": record.to_json()}) + "\n" for record in records)
    (folder / "x_samples_open.jsonl").write_text(lines)
    yield folder
    registry.forget_custom_protocols()


@pytest.fixture
def humans(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("id,stars\n" + "".join(f"q{number},{number % 3 + 1}\n" for number in range(5)) + "q5,1\n")
    return path


def invoke(app, *arguments):
    return CliRunner().invoke(app, ["agreement", *map(str, arguments)])


@pytest.mark.parametrize(
    ("format", "start", "number"),
    [
        ("terminal", "Agreement: cli_sample:PROTOCOL", "0.83"),
        ("md", "# Agreement: cli", "0.83"),
        ("csv", "Agreement on cli_sample:PROTOCOL,", "0.83333"),
        ("html", "<!doctype html>", "0.83"),
    ],
)
def test_formats(app, run, humans, format, start, number):
    result = invoke(app, run, "--ratings", humans, "--format", format)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(start)
    # Five of the six are rated alike.
    assert number in result.stdout


def test_compute_by_name_is_the_same(app, run, humans):
    options = ("--ratings", humans, "--format", "csv")
    assert invoke(app, run, *options).stdout == invoke(app, "compute", run, *options).stdout
    assert invoke(app, *options, run).stdout == invoke(app, run, *options).stdout


def test_sheet_and_back(app, run, tmp_path):
    output = tmp_path / "new" / "sheet"
    result = invoke(app, "sheet", run, "--questions", 4, "-o", output)
    assert result.exit_code == 0, result.output
    key = tmp_path / "new" / "sheet.key.csv"
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "4 answers to 4 questions by 1 model, 0 of them with images.",
        f"For those who rate: {output} (sheet.html or sheet.csv). Only for you: {key}",
    ]
    assert {path.name for path in output.iterdir()} == {"sheet.csv", "sheet.html"}
    assert not (output / "sheet.csv").read_text("utf-8-sig").count("openai:j")
    rated = tmp_path / "rated.csv"
    text = (output / "sheet.csv").read_text("utf-8-sig").splitlines()
    filled = [line.removesuffix(",,") + f",{place % 3 + 1}," for place, line in enumerate(text[1:])]
    rated.write_text("\n".join([text[0], *filled]))
    result = invoke(app, run, "--ratings", rated, "--key", key, "--format", "csv")
    assert result.exit_code == 0, result.output
    assert next(csv.DictReader(result.stdout.splitlines()[1:]))["n"] == "4"


def test_a_sheet_is_never_overwritten(app, run, tmp_path):
    invoke(app, "sheet", run, "-o", tmp_path / "sheet")
    before = (tmp_path / "sheet" / "sheet.csv").read_bytes()
    result = invoke(app, "sheet", run, "-o", tmp_path / "sheet", "--seed", 1)
    assert isinstance(result.exception, UserError)
    assert "is there already, perhaps with ratings on it" in str(result.exception)
    assert (tmp_path / "sheet" / "sheet.csv").read_bytes() == before


def test_nothing_could_be_compared(app, run, tmp_path):
    log = run / "x_samples_open.jsonl"
    log.write_text(log.read_text().replace('"judged"', '"missing"'))
    path = tmp_path / "anna.csv"
    path.write_text("id,stars\nq1,3\n")
    result = invoke(app, run, "--ratings", path)
    assert result.exit_code == 1
    assert "nothing could be compared" in result.stderr
    assert "No judge gave a verdict on these answers" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to compare: no ratings by people"),
        (["--key", "k.csv"], "--key belongs to --ratings"),
        (["--ratings", "none.csv"], "none.csv cannot be read"),
        (["--ratings", "HUMANS", "--task", "closed"], "No judged task is called 'closed'"),
        (["--ratings", "HUMANS", "--protocol", "x"], "Unknown judge protocol 'x'"),
    ],
)
def test_mistakes(app, run, humans, arguments, message):
    result = invoke(app, run, *(humans if each == "HUMANS" else each for each in arguments))
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_help_names_both_commands(app):
    result = invoke(app, "--help")
    assert result.exit_code == 0
    assert "compute" in result.stdout and "sheet" in result.stdout


def test_a_sheet_where_nothing_can_be_written(app, run, tmp_path):
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["agreement", "sheet", str(run), "-o", str(tmp_path / "file" / "sheet")])
    assert isinstance(done.exception, UserError) and "file is a file)" in str(done.exception)
