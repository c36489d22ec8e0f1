"""The report of Bones and Joints: each number from logs written by hand."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.bones_joints import assemble, tables
from lmms_medtasks.report.bones_joints.analysis import analyse
from lmms_medtasks.report.bones_joints.reading import sources
from lmms_medtasks.report.same_questions import OTHER_QUESTIONS
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples import runs
from lmms_medtasks.task_configs.bones_joints import judged as scoring

ALL = {"t1": "AAAA", "t2": "AAAB", "t3": "AABB", "t4": "+++ +++ --- ---", "t5": "++- --- ??? ---",
       "t6": "+++ --- --- ---", "t7": "--- --- --- ---", "t8": "NNN MMM WWW MM?"}  # fmt: skip


def of(*folders, resamples=200):
    return [analyse(source, resamples=resamples) for source in sources(runs.find(folders))]


def part_tables(part):
    return {table.key: table for section in part.sections for table in section.tables}


def column(table, name):
    place = [each.name for each in table.columns].index(name)
    return [row.cells[place].value for row in table.rows]


def test_accuracies_and_judgements(write_bones):
    (found,) = of(write_bones(**ALL))
    estimates = {each.asked.label: each.overall.estimate for each in found.results}
    # V: (2/3 + 0 + 0 + 0) / 4; VIII: went on counts, (1 + 0 + 1 + 0) / 4
    expected = {"I": 1, "II": 0.75, "III": 0.5, "IV": 0.5, "V": 1 / 6, "VI": 0.25, "VII": 0, "VIII": 0.5}
    assert estimates == pytest.approx(expected)
    chain = found.of("t5", "images")
    assert chain.unclear == pytest.approx(3 / 12) and chain.unanimous == 0.75 and chain.steps == 0.5
    assert found.of("t4", "images").steps is None and found.of("t1", "text").unclear is None
    assert found.of("t8", "images").labels == {"Named": 3, "Missed": 5, "Named but went on": 3, "Unclear": 1}


def test_sites_and_diseases(write_bones):
    (found,) = of(write_bones(t4=ALL["t4"], t3=ALL["t3"]))
    judged = found.of("t4", "images")
    assert {site: each.estimate for site, each in judged.sites.items()} == {"knee": 0.5, "hip": 1, "skull": 0}
    assert {key: each.n for key, each in judged.diseases.items()} == {
        ("gout", "unlisted"): 2, ("anterior cruciate ligament tear", "listed"): 1,
    }  # fmt: skip
    table = tables.by_site(found)
    assert column(table, "site")[-1] == "skull" and len(table.rows) == 8
    assert column(table, "IV")[:2] == [50.0, 100.0] and column(table, "IV")[2] is None


def test_the_gap(write_bones):
    (found,) = of(write_bones(**ALL))
    whole, text = found.gaps
    # (1 + 0.75 + 0.5) / 3 = 0.75; (0.5 + 1/6 + 0.25 + 0) / 4 = 0.229167
    assert whole.gap.estimate == pytest.approx(0.75 - 0.2291667, abs=1e-6)
    assert text.first.estimate == 0.875 and whole.gap.low <= whole.gap.estimate <= whole.gap.high
    (some,) = of(write_bones("less", **{key: ALL[key] for key in ("t1", "t2", "t4")}))
    assert some.gaps == ()


def test_a_language_model_s_gap_is_over_its_own_tasks(write_bones):
    (found,) = of(
        write_bones(t1="AAAA", t2="AAAB", **{f"{task}_report": ALL[task] for task in ("t4", "t5", "t6", "t7")})
    )
    (gap,) = found.gaps
    assert gap.imaging == "reports" and gap.first.estimate == 0.875
    rows = assemble.parts(runs.find([found.source.asked[0].run.path]), Options(resamples=0, drawn=False))
    own = [row for row in part_tables(rows[0])["main"].rows if row.kind == "run"]
    assert [row.cells[2].value for row in own] == ["reports"]


@pytest.mark.parametrize(
    ("second", "rate"), [("AABB", 1.0), ("BBAA", 0.0), ("ABBA", 0.5), ("!~BB", 1.0)],
)  # fmt: skip
def test_the_text_shortcut_rate(write_bones, second, rate):
    folder = write_bones(t3="AABB", t3_noimage=second, t3_swapped=second)
    (found,) = of(folder)
    for said in ("taken away", "swapped"):
        assert found.shortcuts[said].rate.estimate == rate
    flags = assemble.parts(runs.find([folder]), Options(resamples=50, drawn=False))[0].flags
    assert any("the model does not look" in flag.text for flag in flags) == (rate == 1.0)


def test_runs_of_one_model_are_one_source(write_bones):
    parts = of(write_bones("one", t3="AABB"), write_bones("two", t3_noimage="AABB"), write_bones("three", t3="AAAA"))
    assert [len(each.source.asked) for each in parts] == [2, 1]
    assert of(write_bones("m", t3="AABB", data="mini"))[0].shortcuts == {}


def test_missing_judgements_are_no_zeros(write_bones):
    (found,) = of(write_bones(t4="+++ +x+ xxx "))
    each = found.of("t4", "images")
    assert each.overall.estimate == 1 and each.overall.n == 2 and each.overall.unscored == 2
    assert (each.judgements, each.wanted) == (5, 9)
    # worst: (1 + 2/3 + 0) / 3
    assert (each.worst, each.best) == (pytest.approx(5 / 9), 1)


def test_no_judge(write_bones):
    folder = write_bones(t4="xxx xxx", judge={**JUDGE_NONE})
    (found,) = of(folder)
    assert found.of("t4", "images").overall.estimate is None
    flags = assemble.parts(runs.find([folder]), Options(resamples=0, drawn=False))[0].flags
    assert any("no judge was configured" in flag.text for flag in flags)


JUDGE_NONE = {"name": "none"}


def test_examples_stand_side_by_side_failures_first(write_bones):
    (part,) = assemble.parts(runs.find([write_bones(**ALL)]), Options(resamples=50, drawn=True))
    shown = part_tables(part)["examples"]
    assert column(shown, "verdicts")[:2] == ["Missed", "Missed (2), Unclear (1)"]
    assert column(shown, "text is about")[0] == "hip" and set(column(shown, "images show")) == {"wrist"}
    assert column(shown, "images of")[0] == "z"
    assert "\x1b" not in column(shown, "text")[0] and "<b>" in column(shown, "text")[0]  # writers escape
    figures = [figure for section in part.sections for figure in section.figures]
    assert [figure.key for figure in figures] == ["radar"] and figures[0].svg.startswith("<svg")
    assert part_tables(part)["contradiction"].rows[0].cells[0].value == "Missed"


def test_the_paper_s_rows(write_bones):
    (part,) = assemble.parts(runs.find([write_bones(**ALL)]), Options(resamples=0, drawn=False))
    table = part_tables(part)["main"]
    rows = {row.cells[0].value: [cell.value for cell in row.cells[3:-1]] for row in table.rows}
    assert rows["GPT-4o"] == [86.8, 95.0, None, None, None, None, 3.9, 8.8]
    assert rows["MedGPT"] == [None, 96.0, None, 83.3, None, None, None, None]
    assert rows["some_model"] == pytest.approx([100, 75, 50, 50, 100 / 6, 25, 0, 50])
    assert "‡" not in {cell.mark for row in table.rows for cell in row.cells}
    where = dict(zip(rows, column(table, "in the paper"), strict=True))
    assert where["some_model"] is None and where["MedGPT"] == "II, IV: Results"
    assert where["GPT-4o"] == "I, II, VIII: Results; VII: Discussion"


@pytest.mark.parametrize(("url", "model"), [("http://h:2/v1", "m-1"), ("http://h:1/team/v1", "m-1"), ("", "m-2")])
def test_judges_of_one_name_stand_in_no_table_together(write_bones, url, model):
    """The same name at another port or path, or answered by another model, is another judge."""
    folders = []
    for name, own_url, own_model in (("a", "", "m-1"), ("b", "", "m-1"), ("c", url, model)):
        judge = {"name": "local:j", "endpoint": own_url or "http://h:1/v1", "is_paper_judge": False}
        folders.append(write_bones(name, model=name, judge=judge, **ALL))
        for log in folders[-1].glob("*samples*"):
            log.write_text(log.read_text().replace('"reply": ""', f'"reply": "", "model": "{own_model}"'))
    compared, *own = assemble.parts(
        [run for each in folders for run in runs.find([each])], Options(resamples=0, drawn=False)
    )
    assert compared.title == "Comparison, judged by local:j at http://h:1/v1, answered by m-1"
    assert dict(compared.facts)["Models"] == "a, b"
    assert "different judges" in compared.flags[0].text
    assert dict(own[2].facts)["Judge"] == f"local:j at {url or 'http://h:1/v1'}, answered by {model}"


def test_no_judged_number_hides_its_judge(write_bones):
    lexical = {**JUDGE_NONE, "name": "lexical"}
    folders = [write_bones(f"r{n}", model=f"m{n}", judge=lexical, **ALL) for n in range(2)]
    compared, own, _ = assemble.parts(runs.find(folders), Options(resamples=0, drawn=True))
    gap = part_tables(own)["gap"]
    assert {row.cells[0].mark for row in gap.rows} == {"¶"} and any("no LLM" in note for note in gap.all_notes)
    for part in (compared, own):
        (radar,) = [figure for section in part.sections for figure in section.figures]
        assert radar.about.endswith("IV to VIII: By a judge that compares words, no LLM: a smoke test, no score.")
    assert any("judged by lexical" in flag.text and flag.kind == "warning" for flag in compared.flags)
    assert dict(own.origin)["run judge"] == dict(compared.origin)["judges of the runs"] == "lexical (no LLM)"
    (paper,) = assemble.parts(runs.find([write_bones("paper", **ALL)]), Options(resamples=0, drawn=True))
    assert {row.cells[0].mark for row in part_tables(paper)["gap"].rows} == {""}


def test_several_models_are_compared(write_bones):
    folders = [
        write_bones(f"r{n}", model=f"m{n}", **{**ALL, "t3": letters})
        for n, letters in enumerate(("AAAA", "AABB", "BBBB"))
    ]
    first, *rest = assemble.parts(runs.find(folders), Options(resamples=50, drawn=True, prefix="x-"))
    found = part_tables(first)
    assert first.title == "Comparison" and len(rest) == 3 and first.key == "x-all"
    assert column(found["kruskal"], "task") == ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "all tasks"]
    # III: scores 1 1 1 1, 1 1 0 0, 0 0 0 0: ranks 3.5 (six zeros), 9.5 (six ones); means 9.5, 6.5, 3.5;
    # H = 12 / (12 * 13) * 4 * (9.5² + 6.5² + 3.5²) - 39 = 5.538462, ties 1 - 2 * 210 / 1716 = 0.755245: 7.333333
    assert column(found["kruskal"], "H")[2] == pytest.approx(7.333333, abs=1e-6)
    assert column(found["kruskal"], "H")[0] is None  # all alike
    assert column(found["dunn"], "task").count("III") == 3
    # 4 and 4 of 12: the variance of ranks 13 * 12 / 12 - 420 / 132 = 9.818182, the error sqrt(9.818182 / 2) = 2.215647;
    # 9.5 less 3.5 is 2.708 errors
    assert column(found["dunn"], "z")[6 + 1] == pytest.approx(6 / 2.215647, abs=1e-5)


def test_two_models_need_no_pairs(write_bones):
    first, *_ = assemble.parts(
        runs.find([write_bones("a1", model="x", t1="AAAA"), write_bones("a2", model="y", t1="BBBB")]),
        Options(resamples=0, drawn=False),
    )
    assert "dunn" not in part_tables(first) and column(part_tables(first)["kruskal"], "df") == [1]


def test_logs_that_are_none(write_bones, tmp_path):
    folder = write_bones(t1="AA")
    log = next(folder.glob("*samples*"))
    log.write_text(log.read_text().replace('"task": "t1"', '"task": "t9"', 1))
    with pytest.raises(UserError, match="Unknown task|Allowed"):
        of(folder)
    log.write_text(log.read_text().replace('"task": "t9"', '"task": "t2"', 1))
    with pytest.raises(UserError, match="a record of t1 in a log of t2"):
        of(folder)


@pytest.fixture
def write_unjudged(write_bones):
    """As write_bones, without a judge; the answers of the first case are empty, which a rule settles as the worst."""

    def write(worst, **given):
        folder = write_bones(judge=JUDGE_NONE, **given)
        for log in folder.glob("*.jsonl"):
            rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
            for verdict in rows[0]["accuracy"]["verdicts"][0]:
                verdict.update(status="exact", labels={**worst}, reason="no answer")
            log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return folder

    return write


def test_what_rules_settle_is_no_mean_where_no_judge_judged(write_unjudged):
    folder = write_unjudged({"verdict": "Incorrect"}, t4="xxx xxx", t6="xxx xxx xxx")
    (log,) = folder.glob("*t4*.jsonl")
    metrics = [scoring.metrics_of(json.loads(line)["accuracy"]) for line in log.read_text("utf-8").splitlines()]
    for name in ("accuracy", "unclear_rate", "unanimous"):
        assert scoring.judged_mean([each[name] for each in metrics]) is None
    part = assemble.parts(runs.find([folder]), Options(resamples=20, drawn=False))[0]
    shown = part_tables(part)
    for name in ("accuracy", "Unclear", "all judgements agree"):
        assert column(shown["tasks"], name) == [None, None]
    assert column(shown["tasks"], "n judged") == [3, 3] and column(shown["tasks"], "n") == [6, 9]
    assert column(shown["tasks"], "missing as right") == [50, pytest.approx(200 / 3)]
    assert set(column(shown["sites"], "IV")) == {None}
    own = [cell.value for cell in shown["main"].rows[0].cells]
    assert own[3:11] == [None] * 8


def test_a_site_that_no_judge_saw_has_no_mean_though_others_were_judged(write_bones):
    folder = write_bones(t4="+++ +++ xxx ---")  # a and c are knees
    (log,) = folder.glob("*.jsonl")
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for verdict in rows[0]["accuracy"]["verdicts"][0]:
        verdict.update(status="exact", labels={"verdict": "Incorrect"}, reason="no answer")
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (found,) = of(folder)
    sites = found.of("t4", "images").sites
    assert {site: each.estimate for site, each in sites.items()} == {"knee": None, "hip": 1, "skull": 0}
    metrics = [scoring.metrics_of(row["accuracy"])["accuracy_knee"] for row in rows]
    assert scoring.judged_mean(metrics) is None


def test_no_share_of_contradictions_is_said_where_no_judge_judged(write_unjudged):
    folder = write_unjudged({"verdict": "Missed"}, t8="xxx xxx")
    part = assemble.parts(runs.find([folder]), Options(resamples=0, drawn=False))[0]
    assert "contradiction" not in part_tables(part)


def test_a_model_on_fewer_questions_is_marked_beside_the_others(write_bones):
    folders = [write_bones("one", model="one", t3="AABB"), write_bones("two", model="two", t3="AA"),
               write_bones("three", model="three", t1="AAAA")]  # fmt: skip
    whole = assemble.parts(runs.find(folders), Options(resamples=0, drawn=False))[0]
    for key in ("models", "main"):
        own = {row.cells[0].value: row.cells[0].mark for row in part_tables(whole)[key].rows if row.kind == "run"}
        assert own == {"one": "", "two": OTHER_QUESTIONS, "three": ""}
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "two: Task III 2 questions (most rows: 4)" in text
