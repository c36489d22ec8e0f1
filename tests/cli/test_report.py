"""``lmms-medtasks report``; ``view`` in a process of its own."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest
import typer
from typer.testing import CliRunner

from lmms_medtasks.cli import report
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.medq_deg import measures
from tests import made_up_runs


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(report.report)
    return app


@pytest.fixture
def run(tmp_path):
    doc = {
        "id": "q1", "question_id": "q1", "image_id": "i1", "data": "mini", "modality": "CT", "capability": "Counting",
        "degradation": "", "severity": 0, "options": ["1", "2", "3", "4"], "answer": "A",
    }  # fmt: skip
    record = measures.choice_question_record(doc, ["A", "A", "B"]).to_json()
    folder = tmp_path / "run"
    folder.mkdir()
    content = {"results": {"medq_deg_l0": {}}, "configs": {"medq_deg_l0": {"metadata": {"data": "mini"}}}}
    (folder / "x_results.json").write_text(json.dumps(content))
    (folder / "x_samples_medq_deg_l0.jsonl").write_text(json.dumps({"questions": record}) + "\n")
    return folder


def invoke(app, *arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize(
    ("format", "start", "number"),
    [
        ("terminal", "unnamed model   ", "66.7"),
        ("md", "# MedQ-Deg: ", "66.67"),
        ("csv", "", "66.66667"),
        ("html", "<!doctype html>", "66.67"),
    ],
)
def test_formats(app, run, format, start, number):
    result = invoke(app, run, "--format", format, "--resamples", 10)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(start)
    assert number in result.stdout


def test_files(app, run, tmp_path):
    output = tmp_path / "new" / "report"
    result = invoke(app, run, "-o", output, "--resamples", 10)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    names = {path.name for path in output.iterdir()}
    assert result.stderr.splitlines() == [f"Written: {output} ({len(names)} files; start with report.html)"]
    assert {"report.md", "report.html", "levels.csv", "table6.csv", "calibration.csv"} <= names
    assert (output / "levels.csv").read_text().splitlines()[1].startswith("L0,1,66.66667,")
    assert (
        (output / "levels.csv")
        .read_text()
        .splitlines()[1]
        .endswith(',unnamed model,"medq_deg_l0; our degradations, 3 trials",mini,run')
    )
    assert "<svg" in (output / "report.html").read_text()
    before = {path: path.read_bytes() for path in output.iterdir()}
    invoke(app, run, "-o", output, "--resamples", 10)
    assert {path: path.read_bytes() for path in output.iterdir()} == before


def test_output_that_is_a_file(app, run, tmp_path):
    (tmp_path / "file").write_text("")
    result = invoke(app, run, "-o", tmp_path / "file")
    assert isinstance(result.exception, UserError)
    assert "Name a folder" in str(result.exception)


def test_broken_log(app, run):
    (run / "x_samples_medq_deg_l0.jsonl").write_text('{"accuracy": {')
    result = invoke(app, run)
    assert isinstance(result.exception, UserError)
    assert "x_samples_medq_deg_l0.jsonl, line 1" in str(result.exception)


def test_a_report_of_the_other_logs_ends_with_2(app, run, tmp_path):
    content = json.loads((run / "x_results.json").read_text())
    content = {name: {**each, "medq_deg_l2": each["medq_deg_l0"]} for name, each in content.items()}
    (run / "x_results.json").write_text(json.dumps(content))
    (run / "x_samples_medq_deg_l2.jsonl").write_text('{"accuracy": {')
    result = invoke(app, run, "--resamples", 0)
    assert result.exit_code == 2 and "clean images" in result.stdout
    assert result.stdout.startswith("! Left out:")
    result = invoke(app, run, "--resamples", 0, "-o", tmp_path / "report")
    assert result.exit_code == 2 and "Left out: " in result.stderr
    assert "Left out:" in (tmp_path / "report" / "report.md").read_text()


def test_pairs_and_sizes_are_read(app, run, tmp_path):
    result = invoke(app, run, "--pair", "base")
    assert "expected BASE=TUNED" in str(result.exception)
    result = invoke(app, run, "--parameters", "a=many")
    assert "is not a number of parameters" in str(result.exception)
    result = invoke(app, run, "--parameters", "a=7B")
    assert "--parameters has no effect here: nothing in the report of MedQ-Deg" in str(result.exception)


def test_one_benchmark_in_the_terminal(app, run):
    result = invoke(app, run, "--suite", "medq_deg", "--resamples", 0)
    assert result.exit_code == 0 and "What became of the replies" in result.stdout
    assert "May these numbers be quoted?" not in result.stdout
    wrong = invoke(app, run, "--suite", "medq", "--resamples", 0)
    assert "MedQ-Deg" in str(wrong.exception)


def test_a_sample_log_is_not_taken_for_a_result_file(tmp_path):
    log = tmp_path / "x_samples_y.jsonl"
    log.write_text("{}\n{}\n", "utf-8")
    app = typer.Typer()
    app.command()(report.report)
    done = CliRunner().invoke(app, [str(log)])
    assert "is a sample log. Give the *_results.json beside it" in str(done.exception)


@pytest.fixture
def view(tmp_path):
    """Starts the command on a run, and gives its process and the address that it printed."""
    made_up_runs.write(tmp_path / "run", {"medobvious": made_up_runs.choice_rows({"q/1": "B", "q2": "A"})})
    started = []

    def start():
        command = [sys.executable, "-m", "lmms_medtasks", "view", str(tmp_path / "run"), "--no-browser"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout):
            each.close()


@pytest.mark.parametrize("end", ["closed input", signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_answers_at_once_and_ends_with_its_terminal(view, end):
    process, address = view()
    with urllib.request.urlopen(address, timeout=60) as found:
        assert found.url == f"{address}questions/medobvious.html?was=lost"
    if end == "closed input":
        process.stdin.close()
    else:
        process.send_signal(end)
    assert process.wait(60) == (0 if end in ("closed input", signal.SIGINT) else -end)


def test_view_refuses_a_folder_and_a_port_that_are_none(tmp_path):
    done = CliRunner().invoke(build_app(), ["view", str(tmp_path / "none")])
    assert done.exit_code != 0 and "is not there" in str(done.exception)
    assert CliRunner().invoke(build_app(), ["view", str(tmp_path), "--port", "70000"]).exit_code == 2
