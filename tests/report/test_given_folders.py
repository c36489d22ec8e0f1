"""Folders of benchmarks that are given: whose a task is, and the measures and the report that a folder declares."""

from __future__ import annotations

import sys

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.reported_suites import runs_holding
from lmms_medtasks.samples.runs import find_result_files
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite_rows import suite_tasks
from tests import contributed_runs as runs
from tests.report.contributed_reports import tables

pytestmark = pytest.mark.usefixtures("nothing_given")

document = runs.document


def test_tasks_of_a_folder_are_one_benchmark_and_its_name_can_be_a_files(tmp_path):
    def name(task, **metadata):
        return registry.find_suite(task, {"metadata": {"template": "degraded", **metadata}}).name

    assert name("deg") == name("deg_severe") == name("other", benchmark="deg") == "deg"
    assert name("x", benchmark="../../etc/Passwd") == "etc-passwd"
    assert name("x", benchmark="medobvious") == "medobvious_contributed"
    assert registry.find_suite("x", {"metadata": [{"template": "degraded"}]}) is None
    assert registry.find_suite("x", {"metadata": {"template": "no such"}}) is None


OWN = """
from lmms_medtasks.harness.scoring import metric_values
from lmms_medtasks.record import ScoreValue, QuestionRecord
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions

SUITE = Suite(
    name="own", title="Own", cluster="image", measures=(Measure("stars", low=1, high=5, unit="stars", digits=2),),
    metrics=(number_of_questions(), Metric("stars", Mean(measure="stars"), main=True)),
    tasks={"task": ("questions", "stars")},
)


def process_results(doc, results):
    record = QuestionRecord(doc["id"], doc["id"], ("ok",), None, {"stars": ScoreValue(float(len(results[0])))})
    return metric_values(SUITE, "task", record)
"""


def own_folder(tmp_path, name="own", text=OWN):
    folder = tmp_path / name
    folder.mkdir(parents=True)
    (folder / "measures.py").write_text(text, "utf-8")
    (folder / f"{name}_task.yaml").write_text(f"task: {name}_task\n", "utf-8")
    return folder


def test_a_folder_with_measures_of_its_own_is_known_once_it_is_given(tmp_path):
    assert registry.find_suite("own_task", {"metadata": {"benchmark": "own"}}) is None
    registry.add_suite_folders([own_folder(tmp_path)])
    suite = registry.find_suite("own_task", {})
    assert (suite.name, suite.measure("stars").unit) == ("own", "stars")
    assert (suite.measure("stars").low, suite.measure("stars").high) == (1, 5)


REPORT = """
from lmms_medtasks.report.suite_report import SuiteReportSpec
from lmms_medtasks.report.views import ColumnSpec, RowSpec, TableSpec, SectionSpec
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.{name}.measures import SUITE

TABLE = TableSpec("mine", SUITE.title, ("row",), (RowSpec(("all",)),), (ColumnSpec("right", Mean()),))
REPORT = SuiteReportSpec((SectionSpec("mine", "Mine", (TABLE,)),), ())
"""


def folder_with_a_report(tmp_path, name, column):
    """A run on its task, and the folder of a benchmark with measures.py and a report.py with this column."""
    asked = [(document(n), ["AB"[n % 2]]) for n in range(4)]
    path = runs.write_run(tmp_path / "runs", {f"{name}_task": {"template": "multiple_choice", "asked": asked}})
    folder = own_folder(tmp_path, name, OWN.replace('"own"', f'"{name}"').replace("stars", "accuracy"))
    measured = (folder / "measures.py").read_text("utf-8")
    more = "from lmms_medtasks.suites.templates.measures import CHOICE_MEASURES\n"
    own = '(Measure("accuracy", low=1, high=5, unit="accuracy", digits=2),)'
    assert own in measured
    (folder / "measures.py").write_text(more + measured.replace(own, "CHOICE_MEASURES"), "utf-8")
    (folder / "report.py").write_text(REPORT.format(name=name).replace("Mean()", column), "utf-8")
    registry.add_suite_folders([folder])
    return path, folder


def test_a_report_that_is_whole_has_no_default_tables(tmp_path):
    path, folder = folder_with_a_report(tmp_path, "whole", "Mean()")
    report = folder / "report.py"
    report.write_text(report.read_text("utf-8").replace("), ())", "), (), is_whole=True)"), "utf-8")
    assert set(tables(path)) == {("a model", "mine")}


def test_a_table_may_not_take_the_key_of_a_default_one(tmp_path):
    path, folder = folder_with_a_report(tmp_path, "taken", "Mean()")
    report = folder / "report.py"
    report.write_text(report.read_text("utf-8").replace('TableSpec("mine"', 'TableSpec("results"'), "utf-8")
    with pytest.raises(
        UserError, match=r"report.py of taken gives a section or table the key results, .* is_whole=True"
    ):
        tables(path)


def test_a_report_of_a_measure_that_is_not_declared_is_told_with_file_table_and_column(tmp_path):
    path, folder = folder_with_a_report(tmp_path, "typo", 'Mean(measure="acuracy")')
    with pytest.raises(UserError) as error:
        tables(path)
    said = str(error.value)
    assert f"{folder / 'report.py'}, table 'mine', column 'right'" in said
    assert "'acuracy'" in said and "Did you mean 'accuracy'?" in said and "false_alarm" in said


def test_a_report_of_a_column_that_no_question_has_is_told_with_table_and_column(tmp_path):
    path, folder = folder_with_a_report(tmp_path, "lost", 'Mean({"expectd": "A"})')
    with pytest.raises(UserError) as error:
        tables(path)
    where = f"{folder / 'report.py'}, table 'mine', column 'right'"
    assert f"Unknown column 'expectd' in {where}" in str(error.value)
    assert "Did you mean 'expected'?" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("pie", '("right",)', "kind of chart 'pie'"),
        ("ranges", '("wrong",)', "column of table 'mine' 'wrong'"),
        ("heat", '("row",)', "Unknown number column of table 'mine' 'row'"),
        ("bullets", '("right", "right")', "a chart of bullets has one column; got 2"),
        ("points", '("right",), sort="sideways"', "sort 'sideways'"),
        ("plane", '("right",), names="oops"', "names 'oops'"),
        ("heat", '("right",), scale="log"', "scale 'log'"),
    ],
)
def test_a_wrong_chart_is_told_with_file_and_line(tmp_path, kind, more, said):
    path, folder = folder_with_a_report(tmp_path, f"drawn_{kind}_{len(more)}", "Mean()")
    text = (folder / "report.py").read_text("utf-8").replace("(TABLE,)),), ())", "(TABLE,), (CHART,)),), ())")
    chart = f'from lmms_medtasks.report.charts import Chart\nCHART = Chart("{kind}", "c", "C", "", TABLE, {more})\n'
    (folder / "report.py").write_text(text.replace("REPORT = ", f"{chart}REPORT = "), "utf-8")
    with pytest.raises(UserError, match=r"report\.py, line 9\b") as error:
        tables(path, drawn=True)
    assert said in str(error.value) and str(error.value).count(str(folder)) == 1


def test_a_report_in_the_folder_counts(tmp_path):
    path, folder = folder_with_a_report(tmp_path, "mine", "Mean()")
    made = tables(path)
    assert made["a model", "mine"] == {"all": {"row": "all", "right": 50}} and ("a model", "replies") in made
    (folder / "report.py").write_text("REPORT = 1\n", "utf-8")
    sys.modules.pop("lmms_medtasks.task_configs.mine.report")
    with pytest.raises(UserError, match="declares no report"):
        tables(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SUITE = 3\n", "expected SUITE = Suite(...), got int"),
        ("", "got NoneType"),
        ("import no_such_module\n", "measures.py, line 1 can't be imported: ModuleNotFoundError"),
        (OWN.replace('name="own"', 'name="other"'), "SUITE is called 'other'"),
        (OWN.replace('"questions", "stars"', '"questions", "stras"'), "Did you mean 'stars'"),
        (
            OWN.replace('Mean(measure="stars")', 'Mean(measure="stras")'),
            "Unknown measure 'stras' in the metric 'stars'",
        ),
        (OWN.replace("metrics=(number", 'metrics=(Metric("stars", Mean(measure="stars")), number'), "stands twice"),
    ],
)
def test_a_declaration_that_is_none_is_told_with_its_file(tmp_path, text, said):
    registry.add_suite_folders(
        [own_folder(tmp_path, f"own{abs(hash(said))}", text.replace('"own"', f'"own{abs(hash(said))}"'))]
    )
    with pytest.raises(UserError) as error:
        registry.find_suite(f"own{abs(hash(said))}_task", {})
    assert said in str(error.value) and "measures.py" in str(error.value)


def test_folders_that_cannot_be_told_apart_are_refused(tmp_path):
    registry.add_suite_folders([own_folder(tmp_path / "a")])
    registry.add_suite_folders([tmp_path / "a"])  # again is nothing new
    with pytest.raises(UserError, match="Two benchmarks are called 'own'"):
        registry.add_suite_folders([own_folder(tmp_path / "b")])
    other = own_folder(tmp_path / "c", "other")
    (other / "own_task.yaml").write_text("task: own_task\n", "utf-8")
    with pytest.raises(UserError, match="Two benchmarks claim the task 'own_task'"):
        registry.add_suite_folders([other])
    with pytest.raises(UserError, match="Two benchmarks are called 'medobvious'"):
        registry.add_suite_folders([own_folder(tmp_path / "d", "medobvious")])


def test_a_folder_without_tasks_is_refused(tmp_path):
    with pytest.raises(UserError, match="has no task"):
        registry.add_suite_folders([tmp_path])
    folder = own_folder(tmp_path)
    (folder / "own_task.yaml").unlink()
    with pytest.raises(UserError, match="expected at least one YAML file beside measures.py"):
        registry.add_suite_folders([folder])
    with pytest.raises(UserError, match="is no folder"):
        registry.add_suite_folders([folder / "measures.py"])


def judged(protocol, benchmark="lungs"):
    asked = [(document(n, "words", 0, answer_type="open"), ["other words"]) for n in range(4)]
    metadata = {"benchmark": benchmark}
    return {"template": "open", "asked": asked, "settings": {"judge": protocol}, "metadata": metadata}


CHOICE = {"template": "multiple_choice", "asked": [(document(n), ["A"]) for n in range(4)],
          "metadata": {"benchmark": "lungs"}}  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("is_one_run", [True, False])
def test_a_benchmark_of_two_kinds_is_one_in_a_report_whatever_judges_it(order, is_one_run, tmp_path):
    tasks = dict(list({"lungs_choice": CHOICE, "lungs_open": judged("sure_open")}.items())[::order])
    for number, part in enumerate([tasks] if is_one_run else [{name: task} for name, task in tasks.items()]):
        runs.write_run(tmp_path / str(number), part)
    found = tables(tmp_path)
    assert {title.rpartition(": ")[0] for title, _ in found} == {""}
    results = {name: row for (_, key), rows in found.items() if key == "results" for name, row in rows.items()}
    assert set(results) == set(tasks) and results["lungs_choice"]["accuracy"] == 100


def test_scales_that_contradict_each_other_are_two_chapters_and_no_task_is_lost(tmp_path):
    tasks = {"lungs_a": judged("open_answer"), "lungs_choice": CHOICE, "lungs_b": judged("sure_open")}
    path = runs.write_run(tmp_path, tasks)
    asked = [suite_tasks(suite, run) for suite, [run] in runs_holding(find_result_files([path])).values()]
    assert asked == [["lungs_a", "lungs_choice"], ["lungs_b"]]
