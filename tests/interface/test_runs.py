"""Runs as a data frame of samples: what stands in each column, and that estimates of it are the report's."""

import json

import pandas as pd
import pytest

import lmms_medtasks as mt
from lmms_medtasks.interface.runs import COLUMNS


@pytest.fixture
def folder(made_up_runs, tmp_path):
    rows = made_up_runs.choice_rows({"q1": "AAB", "q2": "-A_", "q3": "!A!", "q4": "!!!"}, images=3)
    made_up_runs.write(tmp_path / "a", {"medq_deg_l1": rows})
    made_up_runs.write(tmp_path / "b", {"medq_deg_l1": rows}, model="model-b")
    return tmp_path


def test_a_row_for_each_run_question_and_trial(folder):
    frame = mt.read_runs(folder)
    assert list(frame.columns)[: len(COLUMNS)] == list(COLUMNS)
    assert len(frame) == 2 * 4 * 3 and list(frame.model.unique()) == ["model-a", "model-b"]
    own = frame[frame.run == "model-a"].set_index(["id", "trial"])
    assert own.outcome.tolist() == ["ok", "ok", "ok", "unreadable", "ok", "empty", "failed", "ok", *["failed"] * 4]
    assert own.reading.dropna().tolist() == ["A", "A", "B", "A", "A"] and set(own.answer) == {"A"}
    assert own.correct.tolist()[:6] == [1, 1, 0, 0, 1, 0] and own.correct.isna().sum() == 5
    assert own.reply["q1", 2] == "reply B to q1" and own.reply.isna().sum() == 5
    assert own.score["q1"].tolist() == pytest.approx([2 / 3] * 3) and own.score["q3", 0] == 1
    assert own.score["q4"].isna().all() and own.cluster["q4", 0] == "image 0"
    assert set(own.measure) == {"accuracy"} and own["score.accuracy"].equals(own.score.rename("score.accuracy"))
    assert set(own.modality) == {"CT"}


def test_questions_count_once_and_runs_are_not_mixed(folder):
    frame = mt.read_runs(folder)
    found = mt.accuracy(frame[frame.model == "model-a"])
    assert (found.n, found.left_out, found.value) == (3, 1, pytest.approx((2 / 3 + 1 / 3 + 1) / 3))
    by_trial = mt.accuracy(frame[frame.model == "model-a"], column="correct")
    assert (by_trial.n, by_trial.left_out, by_trial.value) == (found.n, found.left_out, pytest.approx(found.value))
    with pytest.raises(mt.UserError, match=r"2 runs \(model-a, model-b\)"):
        mt.accuracy(frame)
    same = mt.difference(*(rows for _, rows in frame.groupby("model")))
    assert (same.value, same.n, same.p) == (0, 3, 1.0)


def test_texts_that_terms_withhold_are_in_no_frame(made_up_runs, tmp_path):
    rows = made_up_runs.judged_rows({"q1": 50.0, "q2": 20.0})
    rows[0]["questions"]["judgement"]["items"] = "withheld"
    made_up_runs.write(tmp_path, {"med_cmr_open": rows})
    frame = mt.read_runs(tmp_path).set_index("id")
    assert pd.isna(frame.reply["q1"]) and pd.isna(frame.answer["q1"]) and frame.reply["q2"] == "answer to q2"
    assert frame.score.tolist() == [50, 20] and set(frame.measure) == {"total"}
    assert frame.reading.isna().all() and frame.correct.isna().all()


def test_a_task_of_the_harness_has_what_it_logs(tmp_path):
    rows = [{"doc_id": n, "target": "cat", "filtered_resps": [text], "paired_scores": {"exact_match,none": n * 1.0},
             "degraded_pictures": [{"picture": "p"}]} for n, text in enumerate(["cat", "dog\x1b[0m"])]  # fmt: skip
    content = {"results": {"pets": {}}, "configs": {"pets": {"task": "pets"}}, "config": {"model": "m"}, "date": "d"}
    (tmp_path / "d_results.json").write_text(json.dumps(content), "utf-8")
    (tmp_path / "d_samples_pets.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    frame = mt.read_runs(tmp_path / "d_results.json")
    assert frame.id.tolist() == ["0", "1"] and set(frame.cluster) == {"p"} and set(frame.answer) == {"cat"}
    assert frame.score.tolist() == [0, 1] and set(frame.measure) == {"exact_match"}
    assert frame.reply.tolist() == ["cat", "dog\ufffd[0m"] and frame.reading.isna().all()


def test_what_is_no_run_is_refused(tmp_path, made_up_runs):
    with pytest.raises(mt.UserError, match="is not there"):
        mt.read_runs(tmp_path / "nowhere")
    with pytest.raises(mt.UserError, match=r"No \*_results.json"):
        mt.read_runs(tmp_path)
    (tmp_path / "pack.json.gz").write_bytes(b"\x1f\x8b")
    for read in (mt.read_runs, mt.report):
        with pytest.raises(mt.UserError, match="pack.json.gz is no result file of a run. A submission has"):
            read(tmp_path / "pack.json.gz")
    with pytest.raises(mt.UserError, match="got int"):
        mt.read_runs([3])
    made_up_runs.write(tmp_path, {"medq_deg_l1": made_up_runs.choice_rows({"q": "A"})}, samples=False)
    with pytest.raises(mt.UserError, match="--log_samples"):
        mt.read_runs(tmp_path)


def test_the_estimates_of_a_run_are_those_of_its_report_to_the_last_bit(evaluated):
    frame = evaluated.samples
    clean = mt.accuracy(frame[frame.task == "medq_deg_l0"])
    tables = mt.report(evaluated, figures=False).tables
    [levels] = [table for name, table in tables.items() if name.endswith("levels")]
    [row] = levels.to_dict("records")
    assert row["accuracy (%)"] == 100 * clean.value
    assert (row["accuracy (%) low"], row["accuracy (%) high"]) == (100 * clean.low, 100 * clean.high)
    assert clean.value == evaluated.results["medq_deg_l0"]["accuracy"]
