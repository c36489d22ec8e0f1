"""Contributed tables in real runs: the text that models are asked, the settings, and what a baseline learned from."""

import csv
import json
import shutil
from pathlib import Path

import openpyxl
import pytest

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.contribute.smoke_run import run_smoke_test
from lmms_medtasks.errors import UserError
from tests.foreign_tasks import COMMON, EXACT

CARD = {"paper": "none", "licence": "CC0", "terms": "none", "about": "Made up.", "deviations": "none"}
TEXTS = ["None", "NA", "null", "nan", "007", "1e3", "2.50", "True", "a, b", 'say "x"', "two\nlines", "Grüße"]
MODEL = "medtasks_most_frequent"


def write_table(path, columns, rows, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [columns, *rows]:
            book.active.append(row)
        book.save(path)
        return
    if path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]), "utf-8")
        return
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([columns, *rows])


def new(path, **more):
    more.setdefault("columns", {"options": "a,b,c"})
    write_task_folder(NewTaskRequest(path.parent.name, "no_image", str(path), path.parent, card=CARD, **more))
    return path.parent


def append(path, text):
    path.write_text(path.read_text("utf-8") + text, "utf-8")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx"])
def test_a_model_is_asked_the_tables_text_to_the_character(suffix, harness, tmp_path):
    columns = ["id", "question", "a", "b", "c", "answer", "note"]
    rows = [[text, text, *(TEXTS[1:] + TEXTS)[n : n + 2], "" if n % 2 else "None of them", "B", "" if n % 3 else text]
            for n, text in enumerate(TEXTS)]  # fmt: skip
    path = tmp_path / "tasks" / "text" / f"q{suffix}"
    write_table(path, columns, rows, "utf-8-sig")
    folder = new(path, tags=("note",), answer_is="letter")
    append(folder / "text.yaml", "generation_kwargs: {max_new_tokens: 16}\n")
    done = harness("--model", "medtasks_random", "--include_path", str(folder.parent), "--tasks", "text")
    config = done.run.content["configs"]["text"]
    assert config["generation_kwargs"] == {"temperature": 0.0, "do_sample": False, "max_new_tokens": 16, "until": []}
    prompt = (folder / "prompt.txt").read_text("utf-8").removesuffix("\n")
    samples = done.samples("text")
    assert len(samples) == len(rows)
    for sample, row in zip(samples, rows, strict=True):
        options = "\n".join(f"{letter}. {text}" for letter, text in zip("ABC", row[2:5], strict=False) if text)
        assert sample["input"] == prompt.replace("{question}", row[1]).replace("{options}", options)
        record = sample["questions"]
        assert (sample["target"], record["id"], record["tags"]["note"]) == ("B", row[0], row[6])
        assert record["tags"]["option_count"] == sum(map(bool, row[2:5]))


def test_lists_of_answers_end_a_run_with_row_and_id(harness, tmp_path):
    path = tmp_path / "tasks" / "lists" / "q.jsonl"
    path.parent.mkdir(parents=True)
    record = {"id": "n1", "question": "q", "options": ["liver", "hepar"], "answer": ["liver", "hepar"]}
    path.write_text(json.dumps(record) + "\n", "utf-8")
    folder = new(path, columns={})
    done = harness("--model", "medtasks_random", "--include_path", str(folder.parent), "--tasks", "lists", status=2)
    assert "row 1 (id 'n1'): ['liver', 'hepar']" in done.printed


def learnable(folder: Path, name: str = "learnable", training: bool = True) -> Path:
    """Ten test questions, one of which the training table has the right answer of; MedQ-Deg's would know others."""
    columns = ["id", "question", "a", "b", "c", "answer"]
    path = folder / name / "test.csv"
    write_table(path, columns, [[str(n), f"Question {n}?", "lung", "heart", "bone", "heart"] for n in range(10)])
    made = new(path, answer_is="text")
    if training:
        # Question 0 is known, with heart; the most frequent answer of all is lung.
        rows = [["t0", "Question 0?", "heart"], *([f"t{n}", f"Other {n}?", "lung"] for n in range(1, 4))]
        write_table(path.with_name("train.csv"), columns, [[*row[:2], "lung", "heart", "bone", row[2]] for row in rows])
        text = (made / f"{name}.yaml").read_text("utf-8")
        (made / f"{name}.yaml").write_text(
            text.replace("    test: test.csv\n", "    test: test.csv\n    train: train.csv\ntraining_split: train\n"),
            "utf-8",
        )
    return made


def test_the_most_frequent_answer_is_that_of_the_tasks_own_training_split(harness, tmp_path):
    folder = learnable(tmp_path / "tasks")
    done = harness("--model", MODEL, "--include_path", str(folder.parent), "--tasks", "learnable")
    replies = [sample["filtered_resps"][0] for sample in done.samples("learnable")]
    assert replies == ["B", *["A"] * 9]
    assert done.run.tasks["learnable"]["accuracy,trials"] == 0.1
    assert "1 of 10 requests of learnable" in done.printed


def test_a_contributed_task_without_a_training_split_is_refused(harness, tmp_path):
    folder = learnable(tmp_path / "tasks", training=False)
    done = harness("--model", MODEL, "--include_path", str(folder.parent), "--tasks", "learnable", status=2)
    assert "learnable: medtasks_most_frequent" in done.printed and "training_split" in done.printed


def test_smoke_leaves_the_model_out_by_default_and_refuses_it_where_it_is_asked_for(tmp_path):
    folder = learnable(tmp_path, training=False)
    with pytest.raises(UserError, match="learnable: medtasks_most_frequent has nothing to learn from"):
        run_smoke_test(folder, models=(MODEL,))
    rows = run_smoke_test(folder, limit=2)
    assert [(row.metric, row.value) for row in rows if row.model == MODEL] == [("not run", "no training_split")]
    assert {row.model for row in rows if row.metric == "accuracy"} == {"medtasks_random", "medtasks_observer"}


def test_smoke_runs_it_on_the_own_training_split(tmp_path):
    rows = run_smoke_test(learnable(tmp_path), limit=10, models=(MODEL,))
    assert {row.metric: row.value for row in rows}["accuracy"] == 0.1


@pytest.mark.parametrize(("split", "said"), [("test", "is the test split"), ("dev", "has no split 'dev'")])
def test_a_training_split_that_cannot_be_learned_from_is_refused(split, said, tmp_path):
    folder = learnable(tmp_path)
    path = folder / "learnable.yaml"
    path.write_text(path.read_text("utf-8").replace("training_split: train", f"training_split: {split}"), "utf-8")
    with pytest.raises(UserError, match=said):
        run_smoke_test(folder, models=(MODEL,))


def test_a_training_split_that_holds_the_whole_test_split_is_refused(tmp_path):
    folder = learnable(tmp_path)
    shutil.copy(folder / "test.csv", folder / "train.csv")
    with pytest.raises(UserError, match="'train' has all questions of the test split"):
        run_smoke_test(folder, models=(MODEL,))


def test_a_task_of_others_whose_training_documents_are_not_in_our_form_is_refused(harness, tmp_path):
    folder = tmp_path / "foreign"
    folder.mkdir()
    for split in ("test", "train"):
        (folder / f"{split}.json").write_text(json.dumps({"question": f"{split}?", "answer": "red"}) + "\n", "utf-8")
    data = COMMON.replace("test: rows.json", "test: test.json, train: train.json")
    (folder / "foreign_text.yaml").write_text(f"task: foreign_text{data}{EXACT}training_split: train\n", "utf-8")
    done = harness("--model", MODEL, "--include_path", str(folder), "--tasks", "foreign_text", status=2)
    assert "foreign_text: training_split: 'train'" in done.printed
