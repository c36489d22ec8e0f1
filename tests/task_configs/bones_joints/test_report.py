"""The report of Bones and Joints: each number from logs written by hand."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import suite_report
from lmms_medtasks.report.comparability import OTHER_QUESTIONS
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.samples import runs
from lmms_medtasks.statistics.intervals import FEW_IN_GROUP
from lmms_medtasks.statistics.significance import adjust_p_values
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.bones_joints import report, report_published
from lmms_medtasks.task_configs.bones_joints.measures import ACCURACY, NO_IMAGE, SUITE
from lmms_medtasks.task_configs.bones_joints.report_published import asked_imaging, results_by_condition
from lmms_medtasks.task_configs.bones_joints.source_forms import task_forms

ALL = {"t1": "AAAA", "t2": "AAAB", "t3": "AABB", "t4": "+++ +++ --- ---", "t5": "++- --- ??? ---",
       "t6": "+++ --- --- ---", "t7": "--- --- --- ---", "t8": "NNN MMM WWW MM?"}  # fmt: skip


def parts_of(*folders, **chosen):
    """The parts of a report on these runs, the comparison first."""
    options = ReportOptions(**{"resamples": 0, "drawn": False, **chosen})
    made = suite_report.suite_report(SUITE, report.REPORT, runs.find_result_files(folders), options)
    return [make() for make in (*made.comparisons, *made.own)]


def sources_of(*folders, resamples=200):
    found = runs.find_result_files(folders)
    return results_by_condition(SUITE, found, suite_table(SUITE, found), ReportOptions(resamples=resamples))


def part_tables(part):
    return {table.key: table for section in part.sections for table in section.tables}


def column(table, name):
    place = [each.name for each in table.columns].index(name)
    return [row.cells[place].value for row in table.rows]


def test_accuracies_and_judgements(write_bones):
    (part,) = parts_of(write_bones(**ALL))
    table = part_tables(part)["tasks"]
    assert [name.partition(":")[0] for name in column(table, "task")] == [
        "I", "II", "III", "IV", "V", "VI", "VII", "VIII",
    ]  # fmt: skip
    # V: (2/3 + 0 + 0 + 0) / 4; VIII: went on counts, (1 + 0 + 1 + 0) / 4
    assert column(table, "accuracy") == pytest.approx([100, 75, 50, 50, 100 / 6, 25, 0, 50])
    # V: 3 of 12 judgements; VIII: 1 of 12
    assert column(table, "Unclear") == [None, None, None, 0, 25, 0, 0, pytest.approx(100 / 12)]
    assert column(table, "all judgements agree") == [None, None, None, 100, 75, 100, 100, 75]
    assert column(table, "steps found") == [None, None, None, None, 50, None, 50, None]
    assert column(table, "n judged") == [None] * 3 + [12] * 5 == column(table, "n")
    # 12 judgements of Task VIII: 3 Named, 3 Named but went on, 5 Missed, 1 Unclear.
    (row,) = part_tables(part)["contradictions"].rows
    assert [cell.value for cell in row.cells[1:]] == pytest.approx([50, 25, 500 / 12, 0, 100 / 12])


def test_sites(write_bones):
    (part,) = parts_of(write_bones(t4=ALL["t4"], t3=ALL["t3"]))
    found = part_tables(part)
    table = found["sites"]
    assert column(table, "site")[-1] == "skull" and len(table.rows) == 8
    # a and c are knees: 1 and 0; b is a hip: 1; d a skull: 0
    judged = dict(zip(column(table, "site"), column(table, "IV"), strict=True))
    assert {site: value for site, value in judged.items() if value is not None} == {"knee": 50, "hip": 100, "skull": 0}
    assert column(table, "questions") == [4, 2, 0, 0, 0, 0, 0, 2]  # two tasks


def test_the_gap(write_bones):
    (part,) = parts_of(write_bones(**ALL), resamples=200)
    table = part_tables(part)["gap"]
    whole, text = table.rows
    # (1 + 0.75 + 0.5) / 3 = 0.75; (0.5 + 1/6 + 0.25 + 0) / 4 = 0.229167
    first, second, gap = whole.cells[2:]
    assert (first.value, second.value) == (pytest.approx(75), pytest.approx(22.91667, abs=1e-5))
    assert gap.value == pytest.approx(75 - 22.91667, abs=1e-5) and gap.reason == FEW_IN_GROUP
    assert text.cells[2].value == 87.5 and column(table, "imaging in IV to VII") == ["images", "images"]
    (some,) = parts_of(write_bones("less", **{key: ALL[key] for key in ("t1", "t2", "t4")}))
    assert "gap" not in part_tables(some)


def test_a_language_model_s_gap_is_over_its_own_tasks(write_bones):
    (part,) = parts_of(
        write_bones(t1="AAAA", t2="AAAB", **{f"{task}_report": ALL[task] for task in ("t4", "t5", "t6", "t7")})
    )
    (gap,) = part_tables(part)["gap"].rows
    assert gap.cells[1].value == "reports" and gap.cells[2].value == 87.5
    assert gap.cells[3].value == pytest.approx(22.91667, abs=1e-5)
    own = [row for row in part_tables(part)["main"].rows if row.kind == "run"]
    assert [row.cells[2].value for row in own] == ["reports"]


@pytest.mark.parametrize(
    ("second", "rate"), [("AABB", 1.0), ("BBAA", 0.0), ("ABBA", 0.5), ("!~BB", 1.0)],
)  # fmt: skip
def test_the_text_shortcut_rate(write_bones, second, rate):
    folder = write_bones(t3="AABB", t3_noimage=second, t3_swapped=second)
    (source,) = sources_of(folder)
    table = report.SHORTCUT.filled([source])
    assert column(table, "images") == ["taken away", "swapped"]
    assert column(table, "same answer") == [100 * rate] * 2
    flags = parts_of(folder, resamples=50)[0].flags
    assert any("that does not look" in flag.text for flag in flags) == (rate == 1.0)


def test_runs_of_one_model_are_one_source(write_bones):
    found = sources_of(
        write_bones("one", t3="AABB"), write_bones("two", t3_noimage="AABB"), write_bones("three", t3="AAAA")
    )
    assert sorted([condition for _, condition in asked_imaging(each)] for each in found) == [[""], ["", NO_IMAGE]]
    assert report.SHORTCUT.filled(sources_of(write_bones("m", t3="AABB", data="mini"))) is None


def test_all_ways_of_asking_are_said(write_bones):
    (part,) = parts_of(write_bones(t3="AABB", t3_noimage="AABB", t4_report="+++ ---"))
    assert dict(part.facts)["Asked"] == "as released, no image, reports"


def test_a_task_asked_twice_by_one_run_is_two_sources(write_bones):
    folder = write_bones(t3="AABB")
    (result,) = folder.glob("*_results.json")
    (log,) = folder.glob("*.jsonl")
    content = json.loads(result.read_text())
    for name in ("results", "configs", "n-samples", "versions"):
        content[name]["my_copy"] = content[name]["bones_joints_t3_image"]
    result.write_text(json.dumps(content))
    log.with_name(log.name.replace("bones_joints_t3_image", "my_copy")).write_text(log.read_text())
    found = sources_of(folder)
    assert [len(each.rows) for each in found] == [4, 4]


def test_missing_judgements_are_no_zeros(write_bones):
    folder = write_bones(t4="+++ +x+ xxx ")
    (source,) = sources_of(folder)
    found = source.interval(ACCURACY)
    assert (found.estimate, found.n, len(source.rows)) == (1, 2, 4)
    table = part_tables(parts_of(folder)[0])["tasks"]
    # worst: (1 + 2/3 + 0) / 3
    names = ("accuracy", "n judged", "n", "missing as wrong", "missing as correct")
    assert [column(table, name)[0] for name in names] == [100, 5, 9, pytest.approx(500 / 9), 100]
    assert {cell.mark for cell in table.rows[0].cells} == {"", "#"}


def test_empty_and_unreadable_replies_are_counted_apart(write_bones):
    (part,) = parts_of(write_bones(t1="A_~!"))
    table = part_tables(part)["tasks"]
    assert (column(table, "empty"), column(table, "unreadable")) == ([1], [1])
    assert column(table, "accuracy") == [pytest.approx(100 / 3)]


def test_no_judge(write_bones):
    (part,) = parts_of(write_bones(t4="xxx xxx", judge=JUDGE_NONE))
    assert column(part_tables(part)["tasks"], "accuracy") == [None]
    assert any("no judge was configured" in flag.text for flag in part.flags)


JUDGE_NONE = {"name": "none"}


def test_the_paper_s_rows(write_bones):
    (part,) = parts_of(write_bones(**ALL))
    table = part_tables(part)["main"]
    rows = {row.cells[0].value: [cell.value for cell in row.cells[3:-1]] for row in table.rows}
    assert rows["GPT-4o"] == [86.8, 95.0, None, None, None, None, 3.9, 8.8]
    assert rows["MedGPT"] == [None, 96.0, None, 83.3, None, None, None, None]
    assert rows["some_model"] == pytest.approx([100, 75, 50, 50, 100 / 6, 25, 0, 50])
    assert "‡" not in {cell.mark for row in table.rows for cell in row.cells}
    where = dict(zip(rows, column(table, "in the paper"), strict=True))
    assert where["some_model"] is None and where["MedGPT"] == "II, IV: Results"
    assert where["GPT-4o"] == "I, II, VIII: Results; VII: Discussion"


def test_no_judged_number_hides_its_judge(write_bones):
    lexical = {**JUDGE_NONE, "name": "lexical"}
    folders = [write_bones(f"r{n}", model=f"m{n}", judge=lexical, **ALL) for n in range(2)]
    compared, own, _ = parts_of(*folders, drawn=True)
    gap = part_tables(own)["gap"]
    assert {row.cells[0].mark for row in gap.rows} == {LEXICAL} and any(
        "no language model" in note for note in gap.all_notes
    )
    for part in (compared, own):
        (pathway,) = [figure for section in part.sections for figure in section.figures]
        assert pathway.about.endswith(f"(IV to VIII): {MEANINGS[LEXICAL]}")
    (said,) = (flag.text for flag in compared.flags if "judged by lexical" in flag.text and flag.kind == "warning")
    assert said.startswith("m0, m1: bones_joints_answer, ") and said.count("m0") == said.count("_answer") == 1
    assert dict(own.origin)["run judge"] == "lexical (no LLM)"
    (paper,) = parts_of(write_bones("paper", **ALL), drawn=True)
    assert {row.cells[0].mark for row in part_tables(paper)["gap"].rows} == {""}


def three_models(write_bones):
    return [write_bones(f"r{n}", model=f"m{n}", **{**ALL, "t3": letters})
            for n, letters in enumerate(("AAAA", "AABB", "BBBB"))]  # fmt: skip


def test_several_models_are_compared(write_bones):
    first, *rest = parts_of(*three_models(write_bones), resamples=50, drawn=True, prefix="x-")
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


def test_the_paper_s_tests_come_last_say_what_they_are_worth_and_are_corrected_over_the_nine(write_bones):
    first, *_ = parts_of(*three_models(write_bones), resamples=50)
    order = [table.key for section in first.sections for table in section.tables]
    assert order == ["main", "kruskal", "dunn"]
    table = part_tables(first)["kruskal"]
    raw, shown = column(table, "p"), column(table, "adjusted p")
    adjusted = adjust_p_values([1.0 if p is None else p for p in raw])
    assert len(raw) == 9 and None in raw and "Empty: all scores" in table.notes[-1]
    assert shown == [None if p is None else pytest.approx(each) for p, each in zip(raw, adjusted, strict=True)]
    assert "independent, which it is not" in table.notes[0]


def test_nothing_answered_is_not_tested(write_bones):
    first, *_ = parts_of(write_bones("a1", model="x", t3="!!"), write_bones("a2", model="y", t3="!!"))
    assert "kruskal" not in part_tables(first)


def test_two_models_need_no_pairs(write_bones):
    first, *_ = parts_of(write_bones("a1", model="x", t1="AAAA"), write_bones("a2", model="y", t1="BBBB"))
    assert "dunn" not in part_tables(first) and column(part_tables(first)["kruskal"], "df") == [1]


def test_logs_that_are_none(write_bones):
    folder = write_bones(t1="AA")
    log = next(folder.glob("*samples*"))
    log.write_text(log.read_text().replace('"paper_task": "t1"', '"paper_task": "t9"', 1))
    with pytest.raises(UserError, match=r"(?s)line 1.*t9|t9.*line 1"):
        sources_of(folder)


def test_what_rules_settle_is_no_mean_where_no_judge_judged(write_bones):
    # The answers of the first case are empty, which a rule settles as the worst.
    folder = write_bones(judge=JUDGE_NONE, t4="000 xxx", t6="000 xxx xxx")
    (part,) = parts_of(folder, resamples=20)
    shown = part_tables(part)
    for name in ("accuracy", "Unclear", "all judgements agree"):
        assert column(shown["tasks"], name) == [None, None]
    assert column(shown["tasks"], "n judged") == [3, 3] and column(shown["tasks"], "n") == [6, 9]
    assert column(shown["tasks"], "missing as correct") == [50, pytest.approx(200 / 3)]
    assert "IV" not in [each.name for each in shown["sites"].columns]
    own = [cell.value for cell in shown["main"].rows[0].cells]
    assert own[3:11] == [None] * 8


def test_a_site_that_no_judge_saw_has_no_mean_though_others_were_judged(write_bones):
    folder = write_bones(t4="000 +++ xxx ---")  # a and c are knees
    shown = part_tables(parts_of(folder)[0])
    found = dict(zip(column(shown["sites"], "site"), column(shown["sites"], "IV"), strict=True))
    assert (found["knee"], found["hip"], found["skull"]) == (None, 100, 0)
    (source,) = sources_of(folder)
    assert SUITE.metric("accuracy_knee").estimate.value(source.rows) is None


def test_no_share_of_contradictions_is_said_where_no_judge_judged(write_bones):
    shown = part_tables(parts_of(write_bones(judge=JUDGE_NONE, t8="000 xxx"))[0])
    assert "contradictions" not in shown


def test_a_model_on_fewer_questions_is_marked_beside_the_others(write_bones):
    folders = [write_bones("one", model="one", t3="AABB"), write_bones("two", model="two", t3="AA"),
               write_bones("three", model="three", t1="AAAA")]  # fmt: skip
    whole = parts_of(*folders)[0]
    own = {row.cells[0].value: row.cells[0].mark for row in part_tables(whole)["main"].rows if row.kind == "run"}
    assert own == {"one": "", "two": OTHER_QUESTIONS, "three": ""}
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "two: Task III 2 questions (most rows: 4)" in text


def test_the_published_numbers():
    rows = {row.texts["model"]: row for row in report_published.PUBLISHED_TABLE.published.rows()}
    numerals = [task.numeral for task in task_forms().values()]
    assert rows["GPT-4o"].values("I", "VIII") == (86.8, 8.8) and rows["MedGPT"].values("IV") == (83.3,)
    assert sum(len(row.values(*numerals)) for row in rows.values()) == 11
    assert {row.texts["imaging"] for row in rows.values()} == set(report_published.IMAGING)


def test_what_the_published_numbers_can_be_shares_of():
    def shares(printed, n):
        return [k for k in range(n + 1) if abs(100 * k / n - printed) <= 0.05 + 1e-9]

    assert shares(53.3, 203) == shares(53.3, 609) == [] and shares(53.3, 30) == [16]
    assert shares(8.8, 203) == [] and shares(35.0, 203) == [71] and shares(86.8, 129) == [112]


def test_the_first_screens_chart_has_each_task_at_its_place_along_the_pathway(write_bones):
    drawn = report_published.pathway_chart(sources_of(write_bones(**ALL))[0])
    root = ElementTree.fromstring(drawn.svg)
    own = {
        each[0].text.partition(": ")[0].partition(", ")[2]: (
            float(each.get("cx").rstrip("%")),
            each[0].text.partition(": ")[2],
        )
        for each in root.iter("{http://www.w3.org/2000/svg}circle")
        if each.get("class") == "own" and len(each)
    }
    # Eight places with half a place of room at the ends: task I at 0.5 / 8, task IV at 3.5 / 8.
    assert own["I"][0] == 6.25 and own["IV"][0] == 43.75
    assert own["I"][1].startswith("100.0 %") and own["II"][1].startswith("75.0 %")
    assert "8 with an accuracy" in drawn.said


def test_the_first_screen_says_which_other_tasks_are_no_better_than_guessing(write_bones):
    """Of four options; 4 images have no interval, and 0 of 4 is not above 25 %."""
    (source,) = sources_of(write_bones("run", t1="BBBB", t2="AAAA", t3="AAAA"))
    found = replace(report.HEADLINE, most=1).of(SUITE, source)
    assert [bar.title for bar in found.bars] == ["reading the image (III)"]
    assert found.sentence.endswith("; too few images for an interval at knowledge (I); 2 more in the tables.")


def test_the_images_benefit_is_shown_for_every_task_that_was_asked_both_ways(write_bones):
    run = write_bones(t3="AABA", t3_noimage="ABBB", t4="+++ +++ --- ---", t4_noimage="+++ --- --- ---")
    table = part_tables(parts_of(run, resamples=50)[0])["without_images"]
    found = [[cell.value for cell in row.cells] for row in table.rows]
    # Task III: 3 of 4 with, 1 of 4 without; IV: 2 of 4 and 1 of 4.
    assert [row[1:] for row in found] == [[4, 75.0, 25.0, 50.0], [4, 50.0, 25.0, 25.0]]
    assert [row[0][:4] for row in found] == ["III:", "IV: "]
    assert "without_images" not in part_tables(parts_of(write_bones("other", t3="AABA"))[0])
    # Nobody answered one of the two ways: no pair has a score.
    failed = write_bones("failed", t3="AABA", t3_noimage="!!!!", t4="+++ +++ --- ---", t4_noimage="+++ --- --- ---")
    table = part_tables(parts_of(failed, resamples=50)[0])["without_images"]
    assert [row.cells[0].value[:4] for row in table.rows] == ["IV: "]
