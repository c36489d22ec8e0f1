"""A contributed task with a judge: run through the real command line, and its gaps filled afterwards."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def test_a_judge_that_fails_and_one_that_fills_the_gaps(harness, judge_server, tmp_path, monkeypatch):
    with (EXAMPLES / "lesion_words" / "questions.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    right = rows[0]["reference"]
    train = [{"question": row["question"], "answer": right, "options": []} for row in rows]
    schema = pa.schema({"question": pa.string(), "answer": pa.string(), "options": pa.list_(pa.string())})
    pq.write_table(pa.Table.from_pylist(train, schema=schema), tmp_path / "t.parquet")
    model = ("--model", "medtasks_most_frequent", "--model_args", f"train={tmp_path / 't.parquet'}")
    judge = {"MEDTASKS_JUDGE": "local:stub", "LLM_JUDGE_URL": f"{judge_server.url}/chat/completions"}
    nobody = {**judge, "LLM_JUDGE_URL": "http://127.0.0.1:9/v1/chat/completions", "MEDTASKS_JUDGE_RETRIES": "0"}
    done = harness(*model, "--include_path", str(EXAMPLES), "--tasks", "lesion_words", **nobody)
    found = done.run.tasks["lesion_words"]
    # Without a judge, only the answers that equal their reference have a score; a mean over those says nothing.
    same = sum(row["reference"] == right for row in rows)
    assert 0 < same < len(rows)
    assert found["judged,trials"] == found["bound_worst,trials"] == pytest.approx(same / len(rows))
    assert found["bound_best,trials"] == 1 and not isinstance(found["score_iid,trials"], float)

    for name, value in {**judge, "MEDTASKS_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    filled = CliRunner().invoke(build_app(), ["judge", str(done.folder), "--include-path", str(EXAMPLES)])
    assert filled.exit_code == 0, filled.output
    found = done.run.tasks["lesion_words"]
    assert found["judged,trials"] == 1 and found["bound_worst,trials"] == found["bound_best,trials"]
    judged = done.run.content["configs"]["lesion_words"]["metadata"]["judge"]
    assert judged["name"] == "local:stub" and judge_server.requests
    # The stub's judge is honest: an answer is right where it holds the reference.
    for side, hospitals in (("iid", ("north", "south")), ("ood", ("harbour",))):
        there = [row["reference"] in right for row in rows if row["hospital"] in hospitals]
        assert found[f"score_{side},trials"] == pytest.approx(sum(there) / len(there))
