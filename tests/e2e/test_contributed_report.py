"""Both worked examples and a folder with measures of its own: from the real harness to report, gate and board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.contributed_folders import command, rows

pytestmark = pytest.mark.usefixtures("nothing_given")
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
TASKS = "chest_side,chest_side_noimage,lesion_words"
OWN = """
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.record import ScoreValue, QuestionRecord
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions

SUITE = Suite(
    name="own_words", title="Own words", cluster="image", tags=("site",),
    measures=(Measure("words", low=0, high=100, unit="words", digits=1),),
    metrics=(number_of_questions(), Metric("words", Mean(measure="words"), main=True)),
    tasks={"task": ("questions", "words")},
)


def record(doc, results):
    value = ScoreValue(float(len(results[0].split())))
    return QuestionRecord(doc["id"], doc["image_id"], ("ok",), None, {"words": value}, {"site": doc["site"]})


process_results = ScoringHook(SUITE, "task", record)
"""
YAML = """\
task: own_words
dataset_path: csv
dataset_kwargs: {data_files: {test: q.csv}}
test_split: test
output_type: generate_until
process_docs: !function adapter.documents
doc_to_visual: !function lmms_medtasks.harness.template_hooks.prompt_hooks.doc_to_visual
doc_to_text: !function lmms_medtasks.harness.template_hooks.prompt_hooks.doc_to_text
doc_to_target: !function lmms_medtasks.harness.hooks.doc_to_target
process_results: !function measures.process_results
generation_kwargs: {max_new_tokens: 16, temperature: 0, do_sample: false, until: []}
cluster_key: cluster
lmms_eval_specific_kwargs: {default: {prompt: open, no_image: true}}
metric_list: !function lmms_medtasks.harness.scoring.DECLARED
metadata: {version: 1.0}
"""


def test_worked_examples_from_run_to_board(harness, tmp_path):
    runs = [
        harness("--model", model, "--include_path", str(EXAMPLES), "--tasks", TASKS, MEDTASKS_JUDGE="lexical")
        for model in ("medtasks_random", "medtasks_observer")
    ]
    folders = [run.folder for run in runs]
    metadata = runs[0].run.content["configs"]["chest_side_noimage"]["metadata"]
    assert (metadata["template"], metadata["benchmark"]) == ("multiple_choice", "chest_side")

    command("report", *folders, "--include_path", EXAMPLES, "--output", tmp_path / "report", "--resamples", 50)
    written = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"report.html", "report.md", "chest_side-all-models.csv", "lesion_words-all-models.csv"} <= written
    found = {row["task"]: row for row in rows(tmp_path / "report" / "chest_side-medtasks_random-results.csv")}
    random = next(run for run in runs if run.run.content["config"]["model"] == "medtasks_random")
    models = {row["run"]: row for row in rows(tmp_path / "report" / "chest_side-all-models.csv")}
    percent = next(name for name in models["medtasks_random"] if name.startswith("accuracy"))
    assert float(models["medtasks_random"][percent]) == pytest.approx(
        100 * random.run.tasks["chest_side"]["accuracy,trials"]
    )
    assert found and "a coin" in (tmp_path / "report" / "report.md").read_text("utf-8")

    # The folder is not needed: its tasks are known from their runs.
    assert "chest\\_side" in command("report", folders[0], "--format", "md", "--resamples", 0)
    compared = json.loads(command("compare", *folders, "--format", "json"))
    assert {"chest_side", "lesion_words"} <= {row["task"] for row in compared["comparisons"]}
    assert "Gate: passed" in command("gate", folders[0], folders[0], "--include_path", EXAMPLES)
    command("leaderboard", "build", *folders, "--include_path", EXAMPLES, "-o", tmp_path / "board", "--resamples", 50)
    page = (tmp_path / "board" / "suites" / "chest_side.html").read_text("utf-8")
    assert "a coin" in page and "Comparison" in page and "medtasks_observer" in page
    assert "a poet" in (tmp_path / "board" / "suites" / "lesion_words.html").read_text("utf-8")


def test_a_folder_with_measures_of_its_own_from_run_to_board(harness, tmp_path):
    folder = tmp_path / "tasks" / "own_words"
    folder.mkdir(parents=True)
    (folder / "measures.py").write_text(OWN, "utf-8")
    (folder / "own_words.yaml").write_text(YAML, "utf-8")
    (folder / "adapter.py").write_text(
        'from lmms_medtasks.data.adapter import from_columns\n\ndocuments = from_columns(tags=["site"])\n',
        "utf-8",
    )
    (folder / "q.csv").write_text(
        "id,question,a,b,options,answer,site\n"
        + "".join(
            f'n{n},Which of {n}?,x,y,"[""one word"", ""two more words""]",one word,{"uv"[n % 2]}\n' for n in range(6)
        ),
        "utf-8",
    )
    done = harness("--model", "medtasks_random", "--include_path", str(folder.parent), "--tasks", "own_words")
    found = done.run.tasks["own_words"]
    key = next(name for name in found if name.startswith("words,"))
    assert found[key.replace("words", "questions", 1)] == 6
    assert done.run.content["configs"]["own_words"]["metadata"]["benchmark"] == "own_words"
    out = tmp_path / "report"
    command("report", done.folder, "--include_path", folder.parent, "--output", out, "--resamples", 0)
    [row] = rows(out / "results.csv")
    assert float(next(value for name, value in row.items() if name.startswith("words"))) == pytest.approx(found[key])
    assert {row["value"] for row in rows(out / "tags.csv") if row["tag"] == "site"} == {"u", "v"}
    command("leaderboard", "build", done.folder, "--include_path", folder.parent, "-o", tmp_path / "board",
            "--resamples", 0)  # fmt: skip
    assert "words" in (tmp_path / "board" / "suites" / "own_words.html").read_text("utf-8")


def test_a_table_with_both_kinds_is_one_benchmark_from_new_to_report_board_and_pack(harness, tmp_path):
    folder = tmp_path / "tasks" / "both"
    folder.mkdir(parents=True)
    lines = [f"n{n},Which of {n}?,x,y,{'AB'[n % 2]}" if n % 3 else f"n{n},What is {n}?,,,a thing" for n in range(12)]
    (folder / "q.csv").write_text("\n".join(["id,question,A,B,answer", *lines]) + "\n", "utf-8")
    command("new", "both", "--folder", folder, "--dataset", folder / "q.csv")
    run = ("--model", "medtasks_random", "--include_path", str(folder.parent), "--tasks", "both")
    done = harness(*run, MEDTASKS_JUDGE="lexical")
    assert {name: done.run.tasks[name]["questions,trials"] for name in ("both_choice", "both_open")} == {
        "both_choice": 8, "both_open": 4,
    }  # fmt: skip
    command("report", done.folder, "--output", tmp_path / "report", "--resamples", 0)
    assert [row["task"] for row in rows(tmp_path / "report" / "results.csv")] == ["both_choice", "both_open"]
    command("leaderboard", "build", done.folder, "-o", tmp_path / "board", "--resamples", 0)
    assert [path.stem for path in (tmp_path / "board" / "suites").iterdir()] == ["both"]
    command("pack", done.folder, "-o", tmp_path / "pack.json", "--signed-off-by", "A B <a@b.org>")
    assert "(2 tasks, 12 questions" in command("pack", tmp_path / "pack.json", "--check")
