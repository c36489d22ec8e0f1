"""What degraded pictures cost: paired by question, over pictures, corrected, and totals where there is no more."""

import json

import numpy as np
import pytest

from lmms_medtasks.report import Options, build
from lmms_medtasks.report.degradation_loss import losses
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust

CLEAN = [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]
NOISY = [0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
BLURRED = [1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
PICTURES = [number // 2 for number in range(12)]


def write(folder, clean=CLEAN, **degraded):
    """A run of ``vqa`` and of degraded ones, NAME_LEVEL; returns its result file."""
    folder.mkdir(exist_ok=True)
    tasks = {"vqa": (clean, None)}
    for label, scores in degraded.items():
        name, level = label.rsplit("_", 1)
        tasks[f"vqa@{name}.{level}"] = (scores, (name, level))
    content = {"results": {}, "configs": {}, "higher_is_better": {}, "config": {"model": "some"}, "date": "today"}
    for task, (scores, done) in tasks.items():
        content["results"][task] = {
            "alias": task,
            "acc,none": float(np.mean(scores)),
            "f1,none": 0.5,
            "none,none": None,
        }
        content["higher_is_better"][task] = {"acc": True, "f1": True, "none": True}
        metadata = {"version": 1}
        if done:
            how = {"acc,none": "logged", "f1,none": "totals only"}
            told = {"of": "vqa", "name": done[0], "level": done[1], "seed": 0, "modality": "CT", "scores": how}
            metadata["degradation"] = told
        content["configs"][task] = {"task": task, "metadata": metadata}
        rows = [
            {"doc_id": number, "paired_scores": {"acc,none": score}}
            | ({"degraded_pictures": [{"picture": str(PICTURES[number])}]} if done else {})
            for number, score in enumerate(scores)
        ]
        log = folder / f"1_samples_{task}.jsonl"
        log.write_text("\n".join(map(json.dumps, rows[::-1])), "utf-8")
    path = folder / "1_results.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_change_is_paired_and_tested_over_pictures_and_corrected(tmp_path):
    run = results.read(write(tmp_path, gaussian_noise_2=NOISY, motion_blur_1=BLURRED, gaussian_noise_0=CLEAN))
    found = {(each.degradation, each.level): each for each in losses(run) if each.metric == "acc"}
    noisy, blurred = found["gaussian_noise (CT)", "2"], found["motion_blur (CT)", "1"]
    assert (noisy.clean, noisy.degraded) == (np.mean(CLEAN), np.mean(NOISY))
    assert noisy.change.estimate == pytest.approx(np.mean(NOISY) - np.mean(CLEAN))
    assert noisy.change.low < noisy.change.estimate < noisy.change.high
    assert (noisy.questions, noisy.change.clusters) == (12, 6)
    sums = [np.bincount(PICTURES, weights=np.subtract(each, CLEAN)) for each in (NOISY, BLURRED)]
    assert [noisy.p, blurred.p] == [sign_flip(each) for each in sums]
    assert [noisy.adjusted, blurred.adjusted] == adjust([noisy.p, blurred.p])
    control = found["gaussian_noise (CT)", "0"]
    assert control.change.estimate == 0 and control.adjusted is None


def test_a_metric_without_scores_has_totals(tmp_path):
    run = results.read(write(tmp_path, gaussian_noise_2=NOISY))
    [found] = [each for each in losses(run) if each.metric == "f1"]
    assert found.how == "totals only" and found.change is None and (found.clean, found.degraded) == (0.5, 0.5)
    assert {each.metric for each in losses(run)} == {"acc", "f1"}


def test_a_percentage_has_the_interval_of_its_share(tmp_path):
    share, percent = (
        losses(results.read(write(tmp_path / str(factor), [factor * each for each in CLEAN],
                                  gaussian_noise_2=[factor * each for each in NOISY])))[0]
        for factor in (1, 100)
    )  # fmt: skip
    assert percent.change.low == pytest.approx(100 * share.change.low)
    assert percent.p == share.p


def test_the_report_of_a_foreign_task(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY, motion_blur_1=BLURRED)
    [part] = build([path], Options()).parts
    assert part.title == "Degraded tasks: some"
    [section] = part.sections
    assert [table.key for table in section.tables] == ["s0_loss", "s0_totals"]
    assert len(section.tables[0].rows) == 2 and "<svg" in section.figures[0].svg


def test_without_the_clean_task_that_is_said(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY)
    content = json.loads(path.read_text("utf-8"))
    del content["results"]["vqa"]
    path.write_text(json.dumps(content), "utf-8")
    [part] = build([path], Options(drawn=False)).parts
    assert not part.sections and "vqa is not in this run" in part.flags[0].text


def test_questions_with_a_picture_in_common_are_one_unit(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY)
    log = path.with_name("1_samples_vqa@gaussian_noise.2.jsonl")
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for row in rows:
        row["degraded_pictures"].append({"picture": "common" if row["doc_id"] in (0, 11) else f"own{row['doc_id']}"})
    log.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = losses(results.read(path))[0]
    assert found.change.clusters == 5
