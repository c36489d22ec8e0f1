"""Judged open answers in a report: who judged, what is missing, and means that say so."""

import sys
from types import ModuleType

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import Dimension, Protocol
from lmms_medtasks.report import judged
from lmms_medtasks.report.document import Part
from lmms_medtasks.report.suites import Options

NAME = "judged_report_protocol:PROTOCOL"


@pytest.fixture
def protocol(monkeypatch):
    scale = {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0, "5": 5.0}
    found = Protocol(
        name=NAME,
        prompt="again.txt",
        version=2,
        dimensions=(Dimension("clear", scale), Dimension("right", scale)),
        fields=("problem", "format"),
        paper_judge="DeepSeek-V3.2-Exp",
        item=lambda doc, reply: None,
        total=lambda numbers: 25 * (numbers["right"] - 1),
    )
    module = ModuleType("judged_report_protocol")
    module.PROTOCOL = found
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("lmms_medtasks.judges.registry.check", lambda protocol: None)
    return found


def record(number, verdict, name="openai:gpt-4o", paper=False, trial="ok", image="a", **tags):
    described = {"name": name, "protocol": NAME, "prompt": "open.txt", "version": 2, "is_paper_judge": paper}
    if isinstance(verdict, tuple):
        verdict = {"status": "judged", "labels": dict(zip(("clear", "right"), verdict, strict=True)), "reason": ""}
    return {
        "id": f"q{number}",
        "image_id": image,
        "trials": [trial],
        "judge": described,
        "verdicts": [[verdict]] if verdict else [[]],
        **tags,
    }


def by(record, url="http://h:1/v1", model="m-1"):
    """The record as judged at ``url`` by what answered as ``model``."""
    verdicts = [[{**each, "model": model if each["status"] == "judged" else None} for each in trials]
                for trials in record["verdicts"]]  # fmt: skip
    return {**record, "judge": {**record["judge"], "endpoint": url}, "verdicts": verdicts}


MISSING = {"status": "missing", "labels": {}, "reason": "no verdict: it said \x1b[31m"}
EXACT = {"status": "exact", "labels": {"clear": "5", "right": "5"}, "reason": "exact match"}


def judging(protocol, *records):
    found = judged.Judging(protocol)
    for each in records:
        found.add(each)
    return found


def test_what_is_counted(protocol):
    records = [record(1, ("4", "3")), record(2, MISSING), record(3, EXACT), record(4, None, trial="failed")]
    found = judging(protocol, *records)
    assert (found.wanted, found.statuses["exact"], found.statuses["judged"], found.statuses["missing"]) == (3, 1, 1, 1)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.replies == {"ok": 3, "failed": 1}
    assert found.reasons == {"no verdict": 1}
    assert found.rules == {"exact match": 1}
    row = judged.judgements({"task": found}).rows[0]
    assert [cell.value for cell in row.cells[:9]] == ["task", 4, 1, 0, 0, 3, 1, 1, 1]
    assert [[cell.value for cell in row.cells] for row in judged.causes({"task": found}).rows] == [
        ["task", "exact", "exact match", 1],
        ["task", "missing", "no verdict", 1],
    ]


def test_means_have_bounds_and_are_over_what_was_had(protocol):
    # right: 3, missing, 5. Mean (3 + 5) / 2 = 4; worst (3 + 1 + 5) / 3 = 3, best (3 + 5 + 5) / 3.
    records = [record(1, ("4", "3")), record(2, MISSING, image="b"), record(3, EXACT, image="c")]
    values = [judged.values(each, "here") for each in records]
    (found,) = judged.means(records, [each["right"] for each in values], [], resamples=20).values()
    assert (found.mean.estimate, found.mean.n, found.judged, found.wanted) == (4, 2, 2, 3)
    assert (found.worst, found.best) == (3, pytest.approx(13 / 3))
    # Totals 50 and 100.
    (total,) = judged.means(records, [each[judged.TOTAL] for each in values], [], resamples=0).values()
    assert (total.mean.estimate, total.worst) == (75, 50)
    assert [cell.value for cell in judged.mean_cells(found)] == [4, 2, 3, 3, pytest.approx(13 / 3)]
    assert [cell.value for cell in judged.mean_cells(None)] == [None, 0, 0, None, None]


def test_group_without_any_verdict_has_no_mean_and_the_widest_bounds(protocol):
    records = [record(1, MISSING, kind="x"), record(2, ("4", "3"), kind="y")]
    values = [judged.values(each, "here")["right"] for each in records]
    found = judged.means(records, values, ["kind"], resamples=0)
    assert (found["x",].mean.estimate, found["x",].worst, found["x",].best) == (None, 1, 5)


@pytest.mark.parametrize(
    ("records", "kind", "text"),
    [
        ([record(1, ("4", "3"))], "warning", "judged by openai:gpt-4o; the paper's judge is DeepSeek-V3.2-Exp"),
        ([record(1, ("4", "3"), "lexical")], "warning", "which compares words and is NO LLM"),
        ([record(1, MISSING, "none")], "warning", "no judge was configured; 1 judgements are missing"),
        ([record(1, ("4", "3")), record(2, ("4", "3"), "openai:b")], "warning", "several judges in one task"),
        ([record(1, ("4", "3")), record(2, MISSING)], "warning", "INCOMPLETE, 50.0% of the judgements were had"),
        ([*(record(n, ("4", "3")) for n in range(19)), record(20, MISSING)], "note", "1 of 20 judgements are missing"),
    ],
)
def test_flags(protocol, records, kind, text):
    found = list(judged.flags({"task": judging(protocol, *records)}))
    assert any(flag.kind == kind and text in flag.text for flag in found), found


def test_what_is_the_same_of_several_tasks_is_said_once(protocol):
    found = {name: judging(protocol, record(1, ("4", "3"), "lexical")) for name in ("one", "two")}
    found["three"] = judging(protocol, record(1, MISSING, "none"))
    texts = [flag.text for flag in judged.flags(found)]
    assert [text.split(":")[0] for text in texts] == ["one, two", "three"]


def test_papers_judge_and_all_had_is_no_flag(protocol):
    found = judging(protocol, record(1, ("4", "3"), "openai:deepseek-v3.2-exp", paper=True))
    assert list(judged.flags({"task": found})) == []
    assert found.said == "openai:deepseek-v3.2-exp (prompt open.txt version 2)"


def test_judge_that_is_no_llm_is_not_called_another_than_the_papers(protocol):
    found = judging(protocol, record(1, ("4", "3"), "lexical"))
    assert found.others == ()
    assert len(list(judged.flags({"task": found}))) == 1


APART = [
    {"url": "http://h:2/v1"}, {"url": "http://h:1/team/v1"}, {"url": "https://h:1/v1"}, {"model": "m-2"}, {"model": ""}
]  # fmt: skip


@pytest.mark.parametrize("other", APART)
def test_judges_of_one_name_are_told_apart(protocol, other):
    """In one task: a flag names both; in two runs: no table has both."""
    one, two = by(record(1, ("4", "3"))), by(record(2, ("4", "3")), **other)
    both = judging(protocol, one, two, by(record(3, EXACT)))
    assert len(both.names) == 2
    (flag,) = [each.text for each in judged.flags({"task": both}) if "several judges in one task" in each.text]
    assert all(name in flag for name in both.names)
    assert both.said.count("openai:gpt-4o (at http") == 2
    seen = []
    runs = [[judging(protocol, each)] for each in (one, two, one)]
    parts = judged.compared(
        runs, lambda run: run, lambda group, options: seen.append(group) or Part("k", "Compared", (), (), ()), Options()
    )
    assert seen == [[runs[0], runs[2]]]
    assert parts[0].title == "Compared, judged by openai:gpt-4o at http://h:1/v1, answered by m-1"
    assert "different judges" in parts[0].flags[0].text


def test_what_a_rule_settled_is_of_no_other_judge(protocol):
    """A run in which no judge was needed names no model that answered: it stands with the others."""
    one, two = (
        judging(protocol, by(record(1, ("4", "3"))), by(record(2, EXACT))),
        judging(protocol, by(record(1, EXACT))),
    )
    assert one.names == ("openai:gpt-4o at http://h:1/v1, answered by m-1",)
    assert not any("several judges" in flag.text for flag in judged.flags({"task": one}))
    seen = []
    judged.compared(
        [one, two],
        lambda run: [run],
        lambda group, options: seen.append(group) or Part("k", "x", (), (), ()),
        Options(),
    )
    assert seen == [[one, two]]


@pytest.mark.parametrize(
    "changed",
    [
        {"judge": {"name": "x"}},
        {"verdicts": [[{"status": "judged", "labels": {"clear": "9", "right": "1"}}]]},
        {"verdicts": [[{"status": "judged", "labels": {"clear": "1"}}]]},
        {"verdicts": [{}, None]},
        {"verdicts": 3},
    ],
)
def test_broken_verdicts_are_named_with_their_place(protocol, changed):
    with pytest.raises(UserError, match="file, line 3: its verdicts can't be read"):
        judged.values({**record(1, ("4", "3")), **changed}, "file, line 3")
