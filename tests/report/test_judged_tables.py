"""Judged answers in a report: who judged, what is missing, and which sources may stand in one table."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest

from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.record import QuestionJudgement, QuestionRecord
from lmms_medtasks.report import judged_tables, suite_report
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.views import ModelResults, RowSpec
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.judged_measures import measure_value

NAME = "judged_report_protocol:PROTOCOL"
MISSING = {"status": "missing", "labels": {}, "reason": "no verdict: it said \x1b[31m"}
EXACT = {"status": "exact", "labels": {"clear": "5", "right": "5"}, "reason": "exact match"}


@pytest.fixture(autouse=True)
def protocol(monkeypatch):
    scale = {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0, "5": 5.0}
    found = JudgeProtocol(
        name=NAME,
        prompt="again.txt",
        version=2,
        dimensions=(ScoreDimension("clear", scale), ScoreDimension("right", scale)),
        fields=("problem", "format"),
        paper_judge="DeepSeek-V3.2-Exp",
        item=lambda doc, reply: None,
        total=lambda numbers: 25 * (numbers["right"] - 1),
    )
    module = ModuleType("judged_report_protocol")
    module.PROTOCOL = found
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("lmms_medtasks.judges.registry.check_protocol", lambda protocol: None)
    return found


def record(number, verdict, name="openai:gpt-4o", paper=False, trial="ok", image="a", **tags):
    described = {"name": name, "protocol": NAME, "prompt": "open.txt", "version": 2, "is_paper_judge": paper}
    if isinstance(verdict, tuple):
        verdict = {"status": "judged", "labels": dict(zip(("clear", "right"), verdict, strict=True)), "reason": ""}
    judgement = QuestionJudgement(described, ({},), ((verdict,) if verdict else (),))
    measures = {"right": measure_value(judgement, "right")}
    return QuestionRecord(f"q{number}", image, (trial,), None, measures, tags, judgement=judgement)


def by(made, url="http://h:1/v1", model="m-1"):
    """The record as judged at ``url`` by what answered as ``model``."""
    (verdicts,) = made.judgement.verdicts
    verdicts = tuple({**each, "model": model if each["status"] == "judged" else None} for each in verdicts)
    judge = {**made.judgement.judge, "endpoint": url}
    return replace(made, judgement=replace(made.judgement, judge=judge, verdicts=(verdicts,)))


def judging(*records):
    return judged_tables.JudgingSummary.of(QuestionTable.of_records(records))


def source(name, *records):
    rows = QuestionTable.of_records(records)
    return ModelResults(name, rows, rows, 0)


def compared(sources):
    """The comparisons that a report makes of these sources, and the names of those in each."""
    seen = []

    def mark(part, group):
        seen.append((part.key, [each.name for each in group]))
        return part

    report = suite_report.SuiteReportSpec((), (), mark=mark)
    suite = registry.get("med_cmr")
    return [make() for make in suite_report._plan_comparisons(suite, report, sources, ReportOptions())], seen


def test_what_is_counted():
    found = judging(record(1, ("4", "3")), record(2, MISSING), record(3, EXACT), record(4, None, trial="failed"))
    counted = (found.requested, found.statuses["exact"], found.statuses["judged"], found.statuses["missing"])
    assert counted == (3, 1, 1, 1)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.reasons == {"no verdict": 1}
    assert found.rules == {"exact match": 1}
    row = judged_tables.judgement_table({"task": found}).rows[0]
    assert [cell.value for cell in row.cells] == ["task", 3, 1, 1, 1, pytest.approx(200 / 3), "openai:gpt-4o"]
    assert [[cell.value for cell in row.cells] for row in judged_tables.cause_table({"task": found}).rows] == [
        ["task", "exact", "exact match", 1],
        ["task", "missing", "no verdict", 1],
    ]


def test_questions_that_nobody_judges_have_no_judgements():
    rows = QuestionTable.of_records([QuestionRecord("q1", "a", ("A",), "A", {})])
    assert judged_tables.JudgingSummary.of(rows) is None
    assert judged_tables.judge_names(rows) == ""
    assert judged_tables.judgement_table({}) is None
    assert judged_tables.cause_table({}) is None


def test_groups_stand_in_the_order_of_their_first_questions():
    rows = QuestionTable.of_records([record(1, ("4", "3"), kind="open"), record(2, EXACT, kind="closed"),
                               record(3, MISSING, kind="open")])  # fmt: skip
    found = judged_tables.summarize_judgings(rows, ["kind"], lambda kind: f"{kind} questions")
    assert {name: each.requested for name, each in found.items()} == {"open questions": 2, "closed questions": 1}
    assert list(found) == ["open questions", "closed questions"]


def test_means_stand_beside_their_counts_and_bounds():
    # right: 3, missing, 5. Mean (3 + 5) / 2 = 4; worst (3 + 1 + 5) / 3 = 3, best (3 + 5 + 5) / 3.
    own = source("s", record(1, ("4", "3")), record(2, MISSING, image="b"), record(3, EXACT, image="c"))
    columns = judged_tables.judged_columns("right", Mean(measure="right"), "right")
    cells = [each.cell(own, RowSpec(())).value for each in columns]
    assert cells == [4, 2, 3, 3, pytest.approx(13 / 3)]
    empty = [each.cell(own, RowSpec((), {"id": "none"})).value for each in columns]
    assert empty == [None, 0, 0, None, None]


def test_group_without_any_verdict_has_no_mean_and_the_widest_bounds():
    own = source("s", record(1, MISSING, kind="x"), record(2, ("4", "3"), kind="y"))
    columns = judged_tables.judged_columns("right", Mean(measure="right"), "right")
    assert [each.cell(own, RowSpec((), {"kind": "x"})).value for each in columns] == [None, 0, 1, 1, 5]


@pytest.mark.parametrize(
    ("records", "kind", "text"),
    [
        ([(1, ("4", "3"))], "warning", "judged by openai:gpt-4o; the paper's judge is DeepSeek-V3.2-Exp"),
        ([(1, ("4", "3"), "lexical")], "warning", "which compares words and is NO LLM"),
        ([(1, MISSING, "none")], "warning", "no judge was configured; 1 judgements are missing"),
        ([(1, ("4", "3")), (2, ("4", "3"), "openai:b")], "warning", "several judges in one task"),
        ([(1, ("4", "3")), (2, MISSING)], "warning", "INCOMPLETE, 50.0% of the judgements were obtained"),
        ([*((n, ("4", "3")) for n in range(19)), (20, MISSING)], "note", "1 of 20 judgements are missing"),
    ],
)
def test_flags(records, kind, text):
    found = list(judged_tables.judging_notices({"task": judging(*(record(*each) for each in records))}))
    assert any(flag.kind == kind and text in flag.text for flag in found), found


def test_what_is_the_same_of_several_groups_is_said_once():
    found = {name: judging(record(1, ("4", "3"), "lexical")) for name in ("one", "two")}
    found["three"] = judging(record(1, MISSING, "none"))
    texts = [flag.text for flag in judged_tables.judging_notices(found)]
    assert [text.split(":")[0] for text in texts] == ["one, two", "three"]


def test_papers_judge_and_all_obtained_is_no_flag():
    found = judging(record(1, ("4", "3"), "openai:deepseek-v3.2-exp", paper=True))
    assert list(judged_tables.judging_notices({"task": found})) == []
    assert found.said == "openai:deepseek-v3.2-exp (prompt open.txt version 2)"
    assert judged_tables.judging_marks(found, None) == ""


def test_judge_that_is_no_llm_is_not_called_another_than_the_papers():
    found = judging(record(1, ("4", "3"), "lexical"))
    assert found.others == ()
    assert len(list(judged_tables.judging_notices({"task": found}))) == 1
    assert found.shown == found.short == "lexical (no LLM)"


def test_a_judges_short_name_has_no_address():
    found = judging(record(1, ("4", "3"), "openai:stub at http://10.0.0.1/v1, asked freely, answered by stub"))
    assert found.short == "openai:stub"


def test_marks_say_who_judged_and_what_is_missing():
    lexical = judging(record(1, ("4", "3"), "lexical"))
    other = judging(record(1, ("4", "3")), record(2, MISSING))
    assert judged_tables.judging_marks(lexical) == judged_tables.LEXICAL
    assert judged_tables.judging_marks(other) == judged_tables.OTHER + judged_tables.INCOMPLETE


APART = [
    {"url": "http://h:2/v1"}, {"url": "http://h:1/team/v1"}, {"url": "https://h:1/v1"}, {"model": "m-2"}, {"model": ""}
]  # fmt: skip


@pytest.mark.parametrize("other", APART)
def test_judges_of_one_name_are_told_apart(other):
    """In one task: a flag names both; in two runs: no table has both."""
    one, two = by(record(1, ("4", "3"))), by(record(2, ("4", "3")), **other)
    both = judging(one, two, by(record(3, EXACT)))
    assert len(both.names) == 2
    (flag,) = [
        each.text for each in judged_tables.judging_notices({"task": both}) if "several judges in one task" in each.text
    ]
    assert all(name in flag for name in both.names)
    assert both.said.count("openai:gpt-4o at http") == 2
    parts, seen = compared([source("a", one), source("b", two), source("c", one)])
    assert seen == [("judge1-all", ["a", "c"])]
    assert parts[0].title == "Comparison, judged by openai:gpt-4o at http://h:1/v1, answered by m-1"
    assert "different judges" in parts[0].flags[0].text


@pytest.mark.parametrize(
    "other",
    [
        {"settings": {"temperature": 0.0, "max_tokens": 1024, "reply": "free"}},
        {"settings": {"temperature": 1.0, "max_tokens": 1024, "reply": "schema"}},
        {"digest": "bbb"},
    ],
)
def test_judges_asked_in_two_ways_stand_in_no_table_together(other):
    """Settings, by schema or not, and the prompt are the judge too, whatever its name."""

    def asked(made, **described):
        settings = {"temperature": 0.0, "max_tokens": 1024, "reply": "schema"}
        judge = {**made.judgement.judge, "settings": settings, "digest": "aaa", **described}
        return replace(made, judgement=replace(made.judgement, judge=judge))

    one, two = (asked(by(record(number, ("4", "3"))), **way) for number, way in ((1, {}), (2, other)))
    parts, seen = compared([source("a", one), source("b", two), source("c", one)])
    assert seen == [("judge1-all", ["a", "c"])]
    assert "asked by schema (max_tokens 1024, temperature 0.0), answered by m-1" in parts[0].title
    assert ("by the text aaa of its prompt open.txt" in parts[0].title) == ("digest" in other)
    rows = judged_tables.deciding_judges([source("a", one).rows, source("b", two).rows])
    assert len(set(rows)) == 2


def test_how_a_server_served_the_judge_is_told():
    """A server's system_fingerprint changes with its own set-up: it is told, and is no other judge."""

    def served(made, name):
        (verdicts,) = made.judgement.verdicts
        verdicts = tuple({**each, "system_fingerprint": name} for each in verdicts)
        return replace(made, judgement=replace(made.judgement, verdicts=(verdicts,)))

    rows = [served(by(record(number, ("4", "3"))), "fp_1" if number else "fp_0") for number in range(3)]
    found = judging(*rows)
    assert found.said.endswith("; system_fingerprint fp_1 (2), fp_0 (1)") and len(found.names) == 1
    assert any("2 system_fingerprints" in flag.text for flag in judged_tables.judging_notices({"task": found}))
    assert not any(
        "system_fingerprints" in flag.text for flag in judged_tables.judging_notices({"task": judging(*rows[1:])})
    )


def test_what_a_rule_settled_is_of_no_other_judge():
    """A run in which no judge was needed names no model that answered: it stands with the others."""
    one, two = by(record(1, ("4", "3"))), by(record(2, EXACT))
    assert judging(one, two).names == ("openai:gpt-4o at http://h:1/v1, answered by m-1",)
    assert not any("several judges" in flag.text for flag in judged_tables.judging_notices({"task": judging(one, two)}))
    assert compared([source("a", one, two), source("b", two)])[1] == [("all", ["a", "b"])]


def test_a_source_alone_is_compared_with_nothing():
    assert compared([source("a", record(1, ("4", "3")))]) == ([], [])


# --- Sources by model -------------------------------------------------------------------------------------------------


def run(model, date="20260101_000000"):
    content = {
        "config": {"model": "hf", "model_args": f"pretrained={model}"},
        "configs": {name: {"metadata": {"data": "full"}} for name in ("one", "two")},
        "versions": {"one": 1.0, "two": 1.0},
        "date": date,
    }
    return SimpleNamespace(content=content, path=SimpleNamespace(name=date))


def grouped(*asked, **options):
    """The tasks of each source, as (task, the run's number); ``asked``: (run, task) with a row each, or with tags."""
    runs = list({id(own): own for own, *_ in asked}.values())
    rows = [
        {"id": f"{number}", "cluster": "i", "trials": ["ok"], "run": runs.index(own), "task": task, "condition": "",
         "repeated": False, "line": 1, **(more[0] if more else {})}
        for number, (own, task, *more) in enumerate(asked)
    ]  # fmt: skip
    found = suite_report.sources_by_model(None, runs, QuestionTable.of_rows(rows), ReportOptions(), **options)
    return [[(task, runs.index(own)) for own, tasks in each.asked for task in tasks] for each in found]


def test_a_run_that_asks_again_begins_another_source():
    first, again, other = run("m"), run("m", "20260102_000000"), run("other")
    asked = [(first, "one"), (again, "one"), (again, "two"), (other, "one")]
    assert grouped(*asked) == [[("one", 0)], [("one", 1), ("two", 1)], [("one", 2)]]
    third = run("m", "20260103_000000")
    assert grouped((first, "one"), (again, "two"), (third, "two")) == [[("one", 0), ("two", 1)], [("two", 2)]]


def test_what_a_task_asks_may_be_said_by_a_tag():
    own = run("m")
    asked = [(own, "one", {"form": "open"}), (own, "two", {"form": "open"})]
    assert grouped(*asked, once=["form"]) == [[("one", 0)], [("two", 0)]]
    assert grouped(*asked) == [[("one", 0), ("two", 0)]]
    assert grouped(*asked, apart=["task"]) == [[("one", 0)], [("two", 0)]]


def test_runs_of_two_judges_stay_apart_where_a_source_has_one_judge():
    described = '{{"name": "{0}", "protocol": "' + NAME + '"}}'
    judged = {"verdict_statuses": ["judged"], "verdict_reasons": [""], "verdict_models": [None],
              "verdict_labels": [None], "system_fingerprints": [""]}  # fmt: skip
    asked = [
        (run("m", "20260101_000000"), "one", {"judge": described.format("openai:a"), **judged}),
        (run("m", "20260102_000000"), "two", {"judge": described.format("openai:b"), **judged}),
        (run("m", "20260103_000000"), "three"),
    ]
    for own, task, *_ in asked:
        own.content["configs"][task] = {"metadata": {"data": "full"}}
    assert grouped(*asked) == [[("one", 0), ("two", 1), ("three", 2)]]
    assert grouped(*asked, one_judge=True) == [[("one", 0), ("three", 2)], [("two", 1)]]


def test_what_is_said_of_several_runs():
    first, again = run("m"), run("m", "20260102_000000")
    own = replace(source("s", record(1, ("4", "3"))), asked=((first, ("one",)), (again, ("two",))))
    said = dict(suite_report.csv_origin(own))
    assert said == {
        "run model": "m", "run task set": "one, two", "run data": "full", "run judge": "openai:gpt-4o"
    }  # fmt: skip


def test_a_judge_that_says_the_same_of_every_answer_is_flagged():
    same = judging(*(record(number, ("4", "3")) for number in range(10)), record(10, EXACT))
    assert same.labels == {("clear", "4"): 10, ("right", "3"): 10}
    (flag,) = [each for each in judged_tables.judging_notices({"open": same}) if "same verdict" in each.text]
    assert flag.kind == "warning" and "all 10 answers" in flag.text and "clear 4, right 3" in flag.text


def test_few_or_different_verdicts_are_not_flagged():
    few = judging(*(record(number, ("4", "3")) for number in range(9)))
    different = judging(*(record(number, ("4", "3")) for number in range(10)), record(10, ("4", "4")))
    assert not judged_tables.constant_verdict(few) and not judged_tables.constant_verdict(different)


@pytest.mark.parametrize(("check", "warned"), [("passed: 32 of 32", False), ("failed: 0 of 32", True),
                                               ("incomplete: valid 3 of 40", True), (None, False)])  # fmt: skip
def test_a_check_stands_with_the_judges_name_and_is_warned_of_unless_it_was_passed(check, warned):
    made = record(1, ("4", "3"))
    judge = {**made.judgement.judge, **({"check": check} if check else {})}
    found = judging(replace(made, judgement=replace(made.judgement, judge=judge)))
    assert (f"check {check}" in found.said) == bool(check)
    flags = [each for each in judged_tables.judging_notices({"open": found}) if "judge's check" in each.text]
    assert [each.kind for each in flags] == ["warning"] * warned and all(check in each.text for each in flags)
