"""What degraded pictures cost: paired by question, over pictures, corrected, and totals where there is no more."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from lmms_medtasks.report import ReportOptions, build_report, degradation_loss
from lmms_medtasks.report.degradation_loss import corrected_degradation_losses
from lmms_medtasks.report.first_screen import first_screen
from lmms_medtasks.report.report_page import render_html
from lmms_medtasks.report.reported_suites import report_document
from lmms_medtasks.report.terminal import document_text
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.statistics.intervals import ALIKE
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust_p_values

CLEAN = [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]
NOISY = [0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
BLURRED = [1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
PICTURES = [number // 2 for number in range(12)]


def write(folder, clean=CLEAN, about=None, lengths=None, **degraded):
    """A run of ``vqa`` and of degraded ones, NAME_LEVEL; ``about`` is told of these; returns its result file."""
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
            told |= about or {}
            metadata["degradation"] = told
        content["configs"][task] = {"task": task, "metadata": metadata}
        rows = [
            {"doc_id": number, "paired_scores": {"acc,none": score}}
            | (
                {"degraded_pictures": [{"picture": str(PICTURES[number]), **picture(done, number, lengths)}]}
                if done
                else {}
            )
            for number, score in enumerate(scores)
        ]
        log = folder / f"1_samples_{task}.jsonl"
        log.write_text("\n".join(map(json.dumps, rows[::-1])), "utf-8")
    path = folder / "1_results.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def picture(done, number, sides):
    """What is recorded of a picture of the given shorter side whose length is 40 pixels."""
    side = sides[PICTURES[number]] if sides else 0
    return {"name": done[0], "shorter_side": side, "length_share": 40 / side} if side else {}


def notes_of(path):
    return build_report([path], ReportOptions(drawn=False)).parts[0].sections[0].tables[0].notes


def test_the_spread_of_image_sizes_is_said_where_it_matters(tmp_path):
    path = write(tmp_path, lengths=[320, 512, 1024, 1024, 1024, 2048], motion_blur_2=BLURRED, motion_blur_1=BLURRED)
    [spread] = [note for note in notes_of(path) if note.startswith("Image sizes")]
    assert "shorter sides 320 to 2,048 pixels, median 1,024." in spread
    assert (
        "motion_blur L1 1.95 to 12.5 %, motion_blur L2 1.95 to 12.5 %." in spread
        and "--degrade-lengths share" in spread
    )
    for name, sides in (("even", [1000, 1000, 1024, 1024, 1024, 1100]), ("unknown", None)):
        path = write(tmp_path / name, lengths=sides, motion_blur_2=BLURRED)
        assert not any("sizes" in note for note in notes_of(path))


def test_the_same_share_is_a_degradation_of_its_own(tmp_path):
    path = write(tmp_path, about={"lengths": "share"}, lengths=[40, 50, 60, 70, 80, 900], motion_blur_2=BLURRED)
    assert not any("sizes" in note for note in notes_of(path))  # those that are too small are unchanged
    [found] = [each for each in corrected_degradation_losses(results.read_result_file(path)) if each.metric == "acc"]
    assert found.degradation == "motion_blur (CT, same share)"


def test_unchanged_images_are_counted(tmp_path):
    path = write(tmp_path, about={"pictures": 6, "changed": 4}, motion_blur_1=BLURRED)
    assert "they are counted in: motion_blur (CT) L1 2 of 6." in notes_of(path)[-1]
    path = write(tmp_path / "all", about={"pictures": 6, "changed": 6}, motion_blur_1=BLURRED)
    assert not any("unchanged" in note for note in notes_of(path))


def test_the_change_is_paired_and_tested_over_pictures_and_corrected(tmp_path):
    run = results.read_result_file(
        write(tmp_path, gaussian_noise_2=NOISY, motion_blur_1=BLURRED, gaussian_noise_0=CLEAN)
    )
    found = {(each.degradation, each.level): each for each in corrected_degradation_losses(run) if each.metric == "acc"}
    noisy, blurred = found["gaussian_noise (CT)", "2"], found["motion_blur (CT)", "1"]
    assert (noisy.clean, noisy.degraded) == (np.mean(CLEAN), np.mean(NOISY))
    assert noisy.change.estimate == pytest.approx(np.mean(NOISY) - np.mean(CLEAN))
    assert noisy.change.low < noisy.change.estimate < noisy.change.high
    assert (noisy.questions, noisy.change.clusters) == (12, 6)
    sums = [np.bincount(PICTURES, weights=np.subtract(each, CLEAN)) for each in (NOISY, BLURRED)]
    assert [noisy.p, blurred.p] == [sign_flip(each) for each in sums]
    assert [noisy.adjusted, blurred.adjusted] == adjust_p_values([noisy.p, blurred.p])
    control = found["gaussian_noise (CT)", "0"]
    assert control.change.estimate == 0 and control.adjusted is None


def test_a_metric_without_scores_has_totals(tmp_path):
    run = results.read_result_file(write(tmp_path, gaussian_noise_2=NOISY))
    [found] = [each for each in corrected_degradation_losses(run) if each.metric == "f1"]
    assert found.how == "totals only" and found.change is None and (found.clean, found.degraded) == (0.5, 0.5)
    assert {each.metric for each in corrected_degradation_losses(run)} == {"acc", "f1"}
    cell = build_report([run.path], ReportOptions(drawn=False)).parts[0].sections[0].tables[0].rows[-1].cells[7]
    assert (cell.value, cell.low) == (0.0, None) and cell.reason.startswith("the metric has no score for each question")


def test_a_percentage_has_the_interval_of_its_share(tmp_path):
    share, percent = (
        corrected_degradation_losses(results.read_result_file(write(tmp_path / str(top), [top * each for each in CLEAN],
                                  about={"best_scores": {"acc,none": float(top)}},
                                  gaussian_noise_2=[top * each for each in NOISY])))[0]
        for top in (1, 100)
    )  # fmt: skip
    assert percent.change.low == pytest.approx(100 * share.change.low)
    assert percent.change.high == pytest.approx(100 * share.change.high)
    assert percent.p == share.p


def test_no_range_is_read_off_the_scores(tmp_path):
    """Scores of 0 and 1 may be of a scale up to 5: without a stated best score the interval is Student's."""
    told, silent = (
        corrected_degradation_losses(
            results.read_result_file(write(tmp_path / name, about=about, gaussian_noise_2=NOISY, motion_blur_1=CLEAN))
        )
        for name, about in (("told", {"best_scores": {"acc,none": 1.0}}), ("silent", None))
    )
    sums = np.bincount(PICTURES, weights=np.subtract(NOISY, CLEAN))
    noisy = silent[0].change
    half = t.ppf(0.975, 5) * sums.std(ddof=1) / 2 / np.sqrt(6)
    assert (noisy.low, noisy.high) == pytest.approx((noisy.estimate - half, noisy.estimate + half))
    assert told[0].change.low != pytest.approx(noisy.low)
    unchanged = [
        next(each.change for each in found if each.degradation.startswith("motion")) for found in (told, silent)
    ]
    assert unchanged[0].low < 0 < unchanged[0].high
    assert unchanged[1].low is None and unchanged[1].reason == ALIKE


def test_strengths_are_in_order(tmp_path):
    runs = {f"gaussian_noise_{level}": NOISY for level in ("2", "0.5", "1", "1.5")}
    path = write(tmp_path, **runs, motion_blur_2=BLURRED)
    levels = [
        each.level for each in corrected_degradation_losses(results.read_result_file(path)) if each.metric == "acc"
    ]
    assert levels == ["0.5", "1", "1.5", "2", "2"]


def test_a_task_without_a_result_is_told_with_the_reason(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY, motion_blur_1=BLURRED)
    content = json.loads(path.read_text("utf-8"))
    name = "vqa@motion_blur.1"
    content["results"][name] = {"alias": name}
    content["configs"][name]["metadata"]["degradation"]["failed"] = f"{name}: none of its 6 pictures was changed"
    path.write_text(json.dumps(content), "utf-8")
    [part] = build_report([path], ReportOptions(drawn=False)).parts
    assert [row.cells[0].value for row in part.sections[0].tables[0].rows] == ["acc", "f1"]
    assert name in part.flags[0].text and "none of its 6 pictures" in part.flags[0].text
    [problem] = results.list_missing_results([results.read_result_file(path)], ["vqa", name])
    assert name in problem and "none of its 6 pictures" in problem


def test_the_report_of_a_foreign_task(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY, motion_blur_1=BLURRED)
    document = build_report([path], ReportOptions())
    [part] = document.parts
    assert document.first is None and part.title == "Degraded tasks: some"
    [section] = part.sections
    assert [table.key for table in section.tables] == ["s0_loss"]
    assert [row.cells[-1].value for row in section.tables[0].rows] == ["logged", "logged", "totals only", "totals only"]


def test_without_the_clean_task_that_is_said(tmp_path):
    path = write(tmp_path, gaussian_noise_2=NOISY)
    content = json.loads(path.read_text("utf-8"))
    del content["results"]["vqa"]
    path.write_text(json.dumps(content), "utf-8")
    [part] = build_report([path], ReportOptions(drawn=False)).parts
    assert not part.sections and "vqa is not in this run" in part.flags[0].text


@pytest.mark.parametrize(
    ("more", "units"),
    [
        # Six pictures; one more that the first and the last question share.
        (lambda row: {"degraded_pictures": [*row["degraded_pictures"], {"picture": shared(row["doc_id"])}]}, 5),
        # Three patients of two pictures each, and a record that is none.
        (lambda row: {"questions": {"cluster": f"patient {row['doc_id'] // 4}"}}, 3),
        (lambda row: {"questions": 3}, 6),
    ],
)
def test_questions_with_a_picture_or_a_cluster_in_common_are_one_unit(tmp_path, more, units):
    path = write(tmp_path, gaussian_noise_2=NOISY)
    log = path.with_name("1_samples_vqa@gaussian_noise.2.jsonl")
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    log.write_text("\n".join(json.dumps(row | more(row)) for row in rows), "utf-8")
    found = corrected_degradation_losses(results.read_result_file(path))[0]
    assert found.change.clusters == units


def shared(number):
    return "common" if number in (0, 11) else f"own{number}"


@pytest.mark.parametrize(("values", "digits"), [((0.312, 1.021), 3), ((31.2, 18.8), 1)])
def test_a_share_keeps_its_decimals_beside_a_score_on_a_short_scale(values, digits):
    found = [
        degradation_loss.DegradationLoss("t", "haze", "1", name, "logged", *values) for name in ("accuracy", "distance")
    ]
    columns = {each.name: each.digits for each in degradation_loss._loss_section("t", found).tables[0].columns}
    assert columns["clean"] == columns["degraded"] == columns["change"] == digits


@pytest.mark.parametrize(
    ("degraded", "adjusted", "said"),
    [
        ((0.4, 0.7), (0.01, 0.2), "0.400 under haze L1 instead of 0.800 clean (-0.400, no test); "
                                  "no change beyond chance in 1 other."),
        ((0.7, 0.9), (0.2, 0.3), "no change beyond chance in 2 degraded tasks; "
                                 "the largest loss is 0.700 under haze L1 instead of 0.800 clean (-0.100, no test)."),
        ((0.9, 0.8), (1.0, 1.0), "no change beyond chance in 2 degraded tasks."),
        ((0.9, 0.8), (None, None), ""),
    ],
)  # fmt: skip
def test_what_was_lost_is_a_sentence_with_the_most_lost_first(degraded, adjusted, said):
    """``haze`` at levels 1 and 2; the control, level 0, is never told."""
    found = [degradation_loss.DegradationLoss("vqa", "haze", level, "acc", "logged", 0.8, value, adjusted=p)
             for level, value, p in zip("012", (0.1, *degraded), (None, *adjusted), strict=True)]  # fmt: skip
    assert degradation_loss.loss_sentence(found) == (said and f"vqa, acc: {said}")


def test_the_first_screen_says_what_was_lost(tmp_path):
    made = report_document([results.read_result_file(write(tmp_path, haze_1=NOISY))], ReportOptions(drawn=False))
    [said] = made.parts[0].sections[0].paragraphs
    first = first_screen([], [], losses=[said] * 5)
    whole = replace(made, first=first)
    again = "1 more metric: see Degraded tasks."
    assert said.startswith("vqa, acc: ") and first.losses == (*[said] * 4, again)
    for text in (" ".join(document_text(whole, "terminal").split()), render_html(whole)):
        assert text.count("On degraded images") == 5 and "0.833 clean" in text and again in text
