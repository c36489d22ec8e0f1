"""The report of a contributed benchmark: its tables hold the numbers that hand arithmetic gives."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lmms_medtasks.board import installed
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import records
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.record import VERSION
from lmms_medtasks.report import ReportOptions, build_report, reported_suites
from lmms_medtasks.report import first_screen as first_screens
from lmms_medtasks.report.default_report import metric_column
from lmms_medtasks.report.headlines import default_headline
from lmms_medtasks.report.published import PUBLISHED, read_rows
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.templates import measures
from tests import contributed_runs as runs
from tests.board.made_up_entries import KINDS, of_every_kind
from tests.report.contributed_reports import tables

pytestmark = pytest.mark.usefixtures("nothing_given")

document = runs.document


def test_metrics_tags_and_replies_of_multiple_choice(tmp_path):
    # Right: 1, 2 of site a (2 of 3); of site b none of 2, one of which said nothing; one request failed.
    replies = ["A", "A", "B", "B", " ", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"]
    asked = [(document(n, site="ab"[n > 2]), [reply]) for n, reply in enumerate(replies)]
    found = tables(runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}}))
    row = found["a model", "results"]["lungs"]
    assert (row["questions"], row["accuracy"], row["chance"]) == (6, pytest.approx(40), 50)
    assert (row["parse_rate"], row["failed_requests"]) == (80, 1)
    by_tag = found["a model", "tags"]
    assert by_tag["lungs/site/a"]["accuracy"] == pytest.approx(200 / 3) and by_tag["lungs/site/b"]["accuracy"] == 0
    replies = found["a model", "replies"]["lungs"]
    assert {name: replies[name] for name in ("right", "wrong", "empty", "failed")} == {
        "right": 2, "wrong": 2, "empty": 1, "failed": 1,
    }  # fmt: skip
    assert (replies["unreadable"], row["unreadable_replies"], row["empty_replies"]) == (0, 0, 1)


@pytest.mark.parametrize("settings", [{"cluster": "patient"}, {}])
def test_intervals_are_over_the_column_that_the_settings_name(settings, tmp_path):
    # 8 of 20 right, 1, 2, 1, 1, 3 of the 4 of each patient. Miller's equation 4: the variance of independent questions,
    # 0.4 * 0.6 / 19, and the products of two questions of one patient: 3.2, the sum of the patients' squared sums of
    # deviations (-0.6, 0.4, -0.6, -0.6, 1.4), less 4.8, that of the questions' squares, over 20 squared.
    right = [number % 4 < (1, 2, 1, 1, 3)[number // 4] for number in range(20)]
    asked = [(document(n, patient=f"P{n // 4}"), ["A" if is_right else "B"]) for n, is_right in enumerate(right)]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked, "settings": settings}})
    told = installed.recorded_declaration(json.loads(path.read_text("utf-8"))["configs"]["lungs"])
    assert installed.task_declaration("lungs", told).cluster == settings.get("cluster", "image")
    assert installed.task_declaration("lungs", {**told, "cluster": "a\x1b[31m"}).cluster == "a\ufffd[31m"
    (part,) = build_report([path], ReportOptions(drawn=False)).parts
    assert ("Questions", "20 about 5 patients" if settings else "20 about 20 images") in part.facts
    found = {table.key: table for section in part.sections for table in section.tables}
    (accuracy,) = (
        cell for row in found["results"].rows for cell in row.cells if cell.stderr_clustered and cell.n == 20
    )
    assert accuracy.value == pytest.approx(40)
    shared = (3.2 - 4.8) / 400 if settings else 0
    assert accuracy.stderr_clustered == pytest.approx(100 * (0.24 / 19 + shared) ** 0.5)
    assert f"interval over {'patient' if settings else 'image'}s." in " ".join(found["results"].notes)
    assert ("tags" in found) is not bool(settings)  # a patient is no group to compare


def test_the_note_on_replies_names_every_kind_without_an_answer(tmp_path):
    asked = [(document(n), [reply]) for n, reply in enumerate("AB")]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    sections = [section for part in build_report([path], ReportOptions(resamples=0)).parts for section in part.sections]
    (note,) = [
        note for section in sections for table in section.tables if table.key == "replies" for note in table.notes
    ]
    assert all(kind in note.lower() for kind in ("unreadable", "cut", "without an answer", "failed", "wrong"))
    assert "Answered" not in note  # nobody judges here: the table has no such column


def test_a_log_that_gives_other_numbers_than_the_result_file_is_told(tmp_path):
    asked = [(document(n), [reply]) for n, reply in enumerate("AABB")]  # 2 of 4
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    assert not [flag for part in build_report([path]).parts for flag in part.flags if "result file" in flag.text]
    (log,) = tmp_path.glob("*.jsonl")
    log.write_text(log.read_text("utf-8").replace('"score": 0.0', '"score": 1.0'), "utf-8")
    flags = [flag for part in build_report([path]).parts for flag in part.flags if "result file" in flag.text]
    assert [flag.kind for flag in flags] == ["warning"]
    assert flags[0].text.startswith("lungs: accuracy is 0.5 in the result file; its samples give 1.")


def test_drop_against_the_same_questions_on_clean_pictures(tmp_path):
    clean = [(document(n), ["A" if n < 8 else "B"]) for n in range(10)]  # 8 of 10
    degraded = [(document(n), ["A" if n < 3 else "B"]) for n in range(8)]  # 3 of 8, whose clean forms are all right
    tasks = {
        "deg": {"template": "degraded", "asked": degraded, "settings": {"severity": 1}},
        "deg_clean": {"template": "degraded", "asked": clean, "settings": {"severity": 0}},
    }
    row = tables(runs.write_run(tmp_path, tasks))["a model", "levels"]["1/accuracy"]
    assert (row["pairs"], row["level 0"], row["level"], row["difference"]) == (8, 100, 37.5, -62.5)


def test_equal_ids_of_other_questions_are_no_pairs(tmp_path):
    tasks = {
        "deg": {"template": "degraded", "asked": [(document(0, "A"), ["A"])], "settings": {"severity": 1}},
        "deg_clean": {"template": "degraded", "asked": [(document(0, "B"), ["B"])], "settings": {"severity": 0}},
    }
    assert tables(runs.write_run(tmp_path, tasks))["a model", "levels"]["1/accuracy"]["pairs"] == 0


def test_relative_robustness_and_what_is_lost(tmp_path):
    # i.i.d. 4 of 5, out of distribution 2 of 4: 0.5 / 0.8
    asked = [(document(n, set="iid"), ["A" if n else "B"]) for n in range(5)]
    asked += [(document(n, set="ood"), ["A" if n < 7 else "B"]) for n in range(5, 9)]
    shift = {"shift": {"column": "x", "iid": "1", "ood": "2"}}
    found = tables(runs.write_run(tmp_path, {"pair": {"template": "shift_pair", "asked": asked, "settings": shift}}))
    tests = {name: found["a model", "tags"][f"pair/set/{name}"] for name in ("iid", "ood")}
    assert {name: row["questions"] for name, row in tests.items()} == {"iid": 5, "ood": 4}
    assert {name: row["accuracy"] for name, row in tests.items()} == {"iid": pytest.approx(80), "ood": 50}
    assert found["a model", "results"]["pair"]["relative_robustness"] == pytest.approx(0.625)


def test_calibration_of_a_task_on_that_template(tmp_path):
    asked = [(document(n, "AB"[n % 2]), ["A"] * 10) for n in range(4)]  # sure, right on half
    found = tables(runs.write_run(tmp_path, {"sure": {"template": "calibration", "asked": asked}}))
    row = found["a model", "results"]["sure"]
    assert (row["confidence"], row["calibration_shift"]) == (pytest.approx(100), pytest.approx(50))
    assert (row["ece"], row["brier"]) == (pytest.approx(0.5), pytest.approx(0.5))


def test_answers_that_nobody_judged_have_no_mean_and_both_bounds(tmp_path, monkeypatch):
    # An exact match is settled by a rule; a mean over it would be the rule's.
    protocol = protocols.get("open_answer")
    [item] = records.make_judged_items({**document(0, "a spot"), "options": []}, ["a spot"], protocol)
    best = {each.name: max(each.labels, key=each.labels.get) for each in protocol.dimensions}
    monkeypatch.setattr(TABLE, "_verdicts", {judgement_key(protocol, item, 0): JudgeVerdict("exact", best)})
    asked = [({**document(n, answer), "options": []}, ["a spot"]) for n, answer in enumerate(["a spot", "a line", "x"])]
    path = runs.write_run(tmp_path, {"words": {"template": "open", "asked": asked}})
    found = tables(path)
    [row] = found["a model", "judgements"].values()
    assert [row[name] for name in ("exact", "by a judge", "missing")] == [1, 0, 2]
    row = found["a model", "results"]["words"]
    assert (row["score"], row["judged"]) == (None, pytest.approx(100 / 3))
    assert (row["bound_worst"], row["bound_best"]) == (pytest.approx(100 / 3), pytest.approx(100))
    [part] = build_report([path], ReportOptions(resamples=0)).parts
    assert any("no judge was configured; 2 judgements are missing" in flag.text for flag in part.flags)


def test_two_models_and_a_task_without_pictures(tmp_path):
    def tasks(right):
        asked = [(document(n), ["A" if n < right else "B"]) for n in range(4)]
        blind = [(document(n), ["B"]) for n in range(4)]
        return {
            "lungs": {"template": "multiple_choice", "asked": asked},
            "lungs_noimage": {"template": "multiple_choice", "asked": blind, "settings": {"no_image": True}},
        }

    for name, right in (("one", 1), ("two", 3)):
        runs.write_run(tmp_path / name, tasks(right), model=name)
    found = tables(tmp_path)
    accuracy = {key: row["accuracy"] for key, row in found["Comparison", "models"].items() if "noimage" not in key}
    assert sorted(accuracy.values()) == [25, 75]
    assert found["Comparison", "ways"]["one/no image/accuracy"]["difference"] == -25
    assert {key[0] for key in found} == {"Comparison", "one", "two", "one (no image)", "two (no image)"}


def test_numbers_of_several_tables_do_not_mix(tmp_path):
    """The sources remember numbers by estimate: one that is forgotten must not leave its place to another."""
    asked = [(document(n, site="ab"[n % 2], set=("iid", "ood")[n % 2]), ["AB"[n % 2]]) for n in range(40)]
    shift = {"shift": {"column": "x", "iid": "1", "ood": "2"}}
    path = runs.write_run(tmp_path, {"pair": {"template": "shift_pair", "asked": asked, "settings": shift}})
    for _ in range(3):
        found = tables(path)
        assert found["a model", "tags"]["pair/site/a"] == {
            "task": "pair", "tag": "site", "value": "a", "questions": 20, "accuracy": 100, "chance": 50,
        }  # fmt: skip
        assert found["a model", "tags"]["pair/set/ood"]["accuracy"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,acuracy\na,1\n", "line 1. Did you mean 'accuracy'?"),
        ("name,accuracy\na,1\n", "line 1: no column 'model'"),
        ("model,accuracy,accuracy\na,1,2\n", "line 1: a column stands twice"),
        ("model,accuracy\na,1\nb,high\n", "line 3: accuracy is 'high'"),
        ("model,accuracy\na,nan\n", "line 2: accuracy is 'nan'"),
        ("model,accuracy\na,1,2\n", "line 2: another number of cells"),
        ("model,accuracy\n,1\n", "line 2: the model has no name"),
        ("model,accuracy\nM\udcfcller,1\n", "can't be read"),
    ],
)
def test_published_rows_that_cannot_be_read_are_told_with_file_and_line(tmp_path, text, said):
    file = tmp_path / PUBLISHED
    file.parent.mkdir()
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as error:
        read_rows(tmp_path, measures.contributed_suite("lungs").estimates)
    assert said in str(error.value) and "published.csv" in str(error.value)


@pytest.mark.parametrize(
    ("head", "source", "said"), [("source,", "Table 2,", "published, Table 2"), ("", "", "published")]
)
def test_published_rows_stand_beside_those_of_their_task(tmp_path, head, source, said):
    folder = tmp_path / "lungs"
    (folder / "reference").mkdir(parents=True)
    (folder / "lungs.yaml").write_text("task: lungs\n", "utf-8")
    (folder / "reference" / "published.csv").write_text(
        f"model,task,{head}accuracy\nTheirs,,{source}61.5\nTheirs,lungs_b,{source}\n", "utf-8"
    )
    registry.add_suite_folders([folder])
    asked = [(document(n), ["A"]) for n in range(4)]
    path = runs.write_run(tmp_path / "runs", {"lungs": {"template": "multiple_choice", "asked": asked}})
    found = tables(path)
    assert found["a model", "published-lungs"][f"Theirs/{said}"]["accuracy"] == 61.5
    assert found["a model", "published-lungs"]["a model/this run"]["accuracy"] == 100
    assert ("a model", "published-lungs_b") not in found  # of a task that was not run
    from lmms_medtasks.board.site.board_tables import published_scores_of_task

    [row] = published_scores_of_task("lungs", {"template": "multiple_choice"})
    assert (row.model, row.source, row.cells["accuracy"].value) == ("Theirs", said, 61.5)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f'"version": {VERSION}', '"version": 2', "line 2: the record is of version 2"),
        ('"accuracy": {"score": 1.0}', '"acuracy": {"score": 1.0}', "line 2"),
        ('"trials": ["A"]', '"trials": []', "line 2: trials is []"),
    ],
)
def test_a_log_that_cannot_be_read_is_told_with_file_and_line(tmp_path, old, new, said):
    asked = [(document(n), ["A"]) for n in range(3)]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    log = path.with_name("20260101_000000_samples_lungs.jsonl")
    lines = log.read_text("utf-8").splitlines()
    assert old in lines[1]
    log.write_text("\n".join([lines[0], lines[1].replace(old, new), lines[2]]) + "\n", "utf-8")
    with pytest.raises(UserError) as error:
        build_report([path])
    assert said in str(error.value) and log.name in str(error.value)


def test_of_a_task_that_is_not_installed_only_its_runs_say_what_it_asks(tmp_path):
    """Nothing here is known of its data: its numbers may not be quoted as those of a benchmark."""
    asked = [(document(n), ["A"]) for n in range(3)]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    (tmp_path / "chest").mkdir()
    (tmp_path / "chest" / "lungs.yaml").write_text("task: lungs\n", "utf-8")
    for given, said in (([], "not installed here; only its runs"), ([tmp_path], "in a folder that is given")):
        registry.add_suite_folders(given)
        first = build_report([path]).first
        check = next(each for each in first.checks if each.title == "full data")
        assert check.state != "yes" and first.verdict != "Yes." and said in check.reason


def test_a_log_that_was_cut_off_is_told_with_file_and_line(tmp_path):
    asked = [(document(n), ["A"]) for n in range(3)]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    log = path.with_name("20260101_000000_samples_lungs.jsonl")
    log.write_text(log.read_text("utf-8")[:-40], "utf-8")
    with pytest.raises(UserError, match=r"samples_lungs\.jsonl, line 3: broken or cut off"):
        build_report([path])


def test_the_command_ends_with_one_message_for_a_log_that_was_cut_off(tmp_path):
    asked = [(document(n), ["A"]) for n in range(3)]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    log = path.with_name("20260101_000000_samples_lungs.jsonl")
    log.write_text(log.read_text("utf-8")[:-40], "utf-8")
    command = [sys.executable, "-m", "lmms_medtasks", "report", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"{log}, line 3: broken or cut off" in done.stderr


def test_a_run_whose_folder_declares_its_measures_says_how_to_give_it(tmp_path):
    asked = [(document(0), ["A"])]
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": asked}})
    path.write_text(path.read_text("utf-8").replace('"template": "multiple_choice"', '"benchmark": "lungs"'), "utf-8")
    with pytest.raises(UserError, match="--include_path FOLDER"):
        build_report([path])


def test_rotated_options_have_a_section(tmp_path):
    # Two questions with two options: the first is right under both rotations, the second is always answered A.
    replies = {("q00", 0): "A", ("q00", 1): "B", ("q01", 0): "A", ("q01", 1): "A"}
    asked = [
        (
            {**document(n, "AB"[rotation]), "id": f"{name}/r{rotation}", "question_id": name, "rotation": rotation},
            [reply],
        )
        for n, ((name, rotation), reply) in enumerate(replies.items())
    ]
    task = {"template": "multiple_choice", "asked": asked, "settings": {"rotate_options": True}}
    found = tables(runs.write_run(tmp_path / "run", {"lungs_circular": task}))
    rows = next(rows for (_, key), rows in found.items() if key == "circular")
    assert {name: row["accuracy"] for name, row in rows.items()} == {
        "right under every rotation": 50.0, "as asked, not rotated": 100.0,
        "mean over all copies (the metric accuracy)": 75.0,
    }  # fmt: skip


def test_the_first_screen_says_of_each_task_whether_it_is_better_than_guessing(tmp_path):
    right = {"guessed": 10, "known": 20, "c": 10, "d": 10, "e": 10}  # of 20 with two options
    tasks = {
        name: {
            "template": "multiple_choice",
            "asked": [(document(n), ["A" if n < count else "B"]) for n in range(20)],
            "metadata": {"benchmark": "lungs"},
        }
        for name, count in right.items()
    }
    (model,) = build_report([runs.write_run(tmp_path, tasks)], ReportOptions(resamples=0)).first.models
    (found,) = model.findings
    assert not found.guessing and "100 % accuracy on known" in found.clause
    assert '(no better than guessing at "guessed, accuracy", ' in found.clause
    assert "accuracy on guessed, no better than guessing" in found.sentence
    assert found.sentence.endswith("; 1 more in the tables.")


def test_two_suites_of_one_title_are_both_on_the_first_screen(tmp_path, monkeypatch):
    """As a folder's choices and open answers are: neither takes the other's place or sentence."""
    seen = {}

    def first_screen(found, asked, *more):
        seen["given"] = found, asked
        return None

    monkeypatch.setattr(reported_suites, "first_screen", first_screen)
    tasks = {"eye": {"template": "multiple_choice", "asked": [(document(n), ["A"]) for n in range(6)]}}
    build_report([runs.write_run(tmp_path, tasks)], ReportOptions(resamples=0))
    found, [(choices, finding)] = seen["given"]
    words = replace(choices, suite=replace(choices.suite))
    other = replace(finding, aside=("of words",))
    both = first_screens.first_screen(found, [(choices, finding), (words, other)])
    assert [each.sentence for each in both.models[0].findings] == [finding.sentence, other.sentence]
    assert list(both.sentences.values()) == [f"{finding.sentence} {other.sentence}"]


@pytest.mark.parametrize(("name", "told"), [("folder/parts.py:haze", True), ("gaussian_noise", False)])
def test_a_degradation_of_someones_own_is_named_with_level_and_modality(tmp_path, name, told):
    path = runs.write_run(tmp_path, {"lungs": {"template": "multiple_choice", "asked": [(document(0), ["A"])]}})
    content = json.loads(path.read_text("utf-8"))
    settings = {"degradation": name, "severity": 2, "modality": "OCT"}
    content["configs"]["lungs"]["lmms_eval_specific_kwargs"]["default"] = settings
    path.write_text(json.dumps(content), "utf-8")
    said = " ".join(flag.text for part in build_report([path], ReportOptions(resamples=0)).parts for flag in part.flags)
    assert ("lungs: images degraded by parts.py:haze, level 2, OCT. Not of lmms-medtasks." in said) is told


def test_the_first_number_of_a_task_that_tests_a_shift_is_the_shifted_tests(tmp_path):
    asked = [(document(n, set=("iid", "ood")[n % 2]), ["B" if n == 1 else "A"]) for n in range(4)]
    shift = {"shift": {"column": "x", "iid": "1", "ood": "2"}}
    path = runs.write_run(tmp_path, {"pair": {"template": "shift_pair", "asked": asked, "settings": shift}})
    [finding] = build_report([path], ReportOptions(resamples=0, drawn=False)).first.models[0].findings
    assert [(bar.title, bar.cell.value) for bar in finding.bars] == [("accuracy, shifted", 50.0)]
    # The board's column for tasks of no installed benchmark.
    have = ("accuracy", "accuracy_iid", "accuracy_ood", "score_ood")
    entry = SimpleNamespace(task="pair", metrics=have)
    assert suite_words.suite_texts("contributed folder").headline_of([entry]) == ("pair", "accuracy_ood")


def test_a_finding_of_a_change_or_a_ratio_is_on_its_own_scale_without_guessing():
    """Easy questions all right, hard ones 3 of 6: a drop of 50 points on a scale of 200, a ratio of 0.5."""
    entry = of_every_kind("m", "1" * 6, "10" * 3)
    source = SimpleNamespace(
        tasks=("t",),
        rows=SimpleNamespace(where=lambda where: entry.samples),
        interval=lambda estimate, where: estimate.of(entry.samples)[estimate.main],
    )
    bars = {}
    for metric in KINDS:
        suite = replace(entry.declaration, metrics=(metric,), tasks={})
        (number,) = default_headline(suite).numbers(source)
        bars[metric.name] = number.measured(source)
    found = {name: (bar.cell.value, bar.unit, bar.bottom, bar.top, bar.chance) for name, bar in bars.items()}
    assert found["drop"] == (50.0, "points", -100.0, 100.0, None) and not bars["drop"].higher_is_better
    assert found["robust"] == (0.5, "", 0.0, 1.0, None)
    assert found["balanced"] == (75.0, "%", 0.0, 100.0, None)
    assert found["ece"] == (0.25, "", 0.0, 0.5, None)


def test_a_ratio_and_a_number_on_its_own_have_three_decimals_whatever_their_measure_has():
    suite = of_every_kind("m", "1" * 6, "10" * 3).declaration
    ratio = replace(KINDS[2], unit=None)
    columns = [metric_column(suite, each) for each in (*KINDS[:2], ratio, KINDS[5])]
    found = [(column.unit, column.digits) for column in columns]
    assert found == [("%", 1), ("points", 1), ("", 3), ("", 3)]
