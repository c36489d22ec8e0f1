"""The whole report: what stands in it, what must not, and that every writer takes it."""

import csv
import io
import re

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.comparability import OTHER_QUESTIONS
from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.report_page import render_html

LABELS = {"c1": "1", "c2": "1", "c3": "0.5", "o1": "5", "o2": "4", "c4": "1", "c5": "0", "o3": "3"}
MIMIC = {name: (f"p10/{name}", side, kind) for name, side, kind in [("1", "iid", "closed"), ("2", "ood", "closed")]}


def report(*runs, **options):
    return build_report(runs, ReportOptions(**{"resamples": 50, "drawn": False, **options}))


def table(part, key):
    """Rows of a table as shown."""
    (found,) = (table for section in part.sections for table in section.tables if table.key == key)
    return [[column.text(cell) for column, cell in zip(found.columns, row.cells, strict=True)] for row in found.rows]


def keys(part):
    return [table.key for section in part.sections for table in section.tables]


def texts(part, kind="warning"):
    return [flag.text for flag in part.flags if flag.kind == kind]


def test_one_run(write_sure_run):
    document = report(write_sure_run())
    (part,) = document.parts
    assert (document.title, part.title) == ("SURE-VQA: some_model", "some_model (with images)")
    closed, stars = table(part, "robustness")
    # i.i.d. by image: a 1, b (1 + 0.5) / 2; c is of the OoD test alone. Two images have no interval.
    assert closed[:4] == ["SLAKE, modality", "closed", "3", "0.83‖"]
    assert (closed[4], closed[7], stars[7]) == ("2", "0.60‖", "0.67‖")
    own, first, *_ = table(part, "published_slake_modality")
    assert own[0] == "this run" and own[2].startswith("0.83")
    assert first == ["No fine-tuning", "LLaVA-Med 1.5", "0.60", "0.31", "0.51", "2.57", "2.60", "1.01"]
    lora = table(part, "published_slake_modality")[4]
    assert lora[4] == "0.51 ± 0.04"
    assert "corruptions" not in keys(part)


def test_flags(write_sure_run):
    labels = {"c1": "0", "c2": "0", "c3": "!", "c4": "?", "o1": "5"}
    (part,) = report(write_sure_run(labels=labels, data="mini", judge="openai:other")).parts
    warnings = "\n".join(texts(part))
    for wanted in (
        "mini data (SURE-VQA): practice, not the benchmark",
        "1 of 5 requests failed",
        "fewer than 100 questions, whose RR says little without its interval: SLAKE, modality, closed 1.",
        "open questions (sure_open): judged by openai:other; the paper's judge is google/gemma-2-9b-it",
        "closed questions (sure_closed): INCOMPLETE",
    ):
        assert wanted in warnings
    assert table(part, "robustness")[0][-1] == "–"  # the i.i.d. score is 0


def test_a_baseline_that_abstains_is_shown_as_in_the_paper(write_sure_run):
    labels = {"c1": "1", "c2": "_", "o1": "5", "c4": "_", "o3": "_"}
    (part,) = report(write_sure_run(labels=labels, model="medtasks_most_frequent", checkpoint="")).parts
    # As the paper: no score and no RR where it answers nothing.
    assert table(part, "published_slake_modality")[0][2:] == ["0.50‖", "–", "–", "5.00‖", "–", "–"]


def test_no_image_has_the_no_image_rows(write_sure_run):
    (part,) = report(write_sure_run(tasks=["sure_ovqa_body_part_noimage"])).parts
    assert part.title == "some_model (no image)"
    rows = table(part, "published_ovqa_body_part_noimage")
    assert rows[1] == ["No fine-tuning", "LLaVA-Med 1.5", "0.41", "0.36", "0.88", "1.24", "1.30", "1.05"]


def test_corruptions_stand_beside_table_22(write_sure_run):
    (part,) = report(write_sure_run(tasks=["sure_slake_modality", "sure_slake_corrupted_low"])).parts
    rows = table(part, "corruptions")
    assert [row[1] for row in rows[:2]] == ["SLAKE, modality", "SLAKE, corrupted low"]
    assert ["IA3", "corrupted low (modality)", "0.85 ± 0.01", "0.83 ± 0.01", "0.98 ± 0.00"] in [row[:5] for row in rows]
    assert ["IA3", "modality shift", "0.85 ± 0.01", "0.64 ± 0.07", "0.75 ± 0.08"] in [row[:5] for row in rows]


@pytest.mark.parametrize("more", [[], ["sure_slake_modality", "sure_slake_corrupted_low"]])
def test_a_shift_that_the_paper_has_no_table_of(write_sure_run, more):
    tasks = ["sure_ovqa_multimodal", *more]
    (part,) = report(write_sure_run(tasks=tasks[:1])).parts
    assert not any(key.startswith("published") for key in keys(part))
    comparison, *_ = report(*(write_sure_run(name=name, checkpoint=name, tasks=tasks) for name in "ab")).parts
    assert [row[:2] for row in table(comparison, "joined")] == [["a", "OVQA, multimodal"], ["b", "OVQA, multimodal"]]
    assert ("published_slake_modality" in keys(comparison)) == ("corruptions" in keys(comparison)) == bool(more)


@pytest.fixture
def several(write_sure_run):
    tasks = ["sure_slake_modality", "sure_slake_question_type"]
    return [
        *(write_sure_run(name=f"s{n}", checkpoint=f"lora_seed{n}", tasks=tasks) for n in (1, 2)),
        write_sure_run(name="p", checkpoint="prompt", tasks=[*tasks, "sure_slake_modality_noimage"]),
    ]


def test_several_runs(several):
    comparison, *parts = report(*several).parts
    assert comparison.title == "Comparison" and len(parts) == 4
    assert [row[0] for row in table(comparison, "published_slake_modality_noimage")][0] == "prompt, no image"
    rows = table(comparison, "published_slake_modality")
    assert [row[0] for row in rows[:2]] == ["lora (2 seeds)", "prompt"]
    assert rows[0][4] == "0.60 ± 0.00"
    depends = table(comparison, "depends")
    assert depends[0][:3] == ["SLAKE", "lora, prompt", "4"]
    assert depends[1][:5] == ["SLAKE", "all fine-tuning methods", "–", "19.16", "7.2e-05"]
    assert len(depends) == 1 + 6


def test_scores_of_a_judge_that_compares_words_are_marked_and_those_of_rules_are_not(write_sure_run):
    """The closed questions got empty replies, which a rule settles."""
    labels = {name: "_" if name.startswith("c") else label for name, label in LABELS.items()}
    runs = [write_sure_run(name=name, checkpoint=name, judge="lexical", labels=labels) for name in ("one", "two")]
    comparison, own, _ = report(*runs).parts
    for key in ("robustness", "tests"):
        assert {row[1] for row in table(own, key)} == {"closed", f"open{LEXICAL}"}, key
    tables = {each.key: each for section in comparison.sections for each in section.tables}
    (row,) = [each for each in tables["published_slake_modality"].rows if each.cells[0].value == "one"]
    marks = [cell.mark for cell in row.cells[2:]]
    assert not any(LEXICAL in mark for mark in marks[:3]) and all(LEXICAL in mark for mark in marks[3:])
    for part in (comparison, own):
        tables = [each for section in part.sections for each in section.tables]
        assert any(note == f"{LEXICAL} {MEANINGS[LEXICAL]}" for each in tables for note in each.all_notes)


def test_every_test_names_hypothesis_unit_and_correction(several):
    comparison, *_ = report(*several).parts
    for section in comparison.sections:
        for each in section.tables:
            heads = [column.name for column in each.columns]
            if "adjusted p" in heads:
                said = " ".join(each.notes)
                assert "Test:" in said and "Unit of independence: the image" in said and "Holm over all rows" in said
                assert "p" in heads or any(head.startswith("p, ") for head in heads)


def test_without_baselines_a_flag_says_what_to_run(several):
    comparison, *_ = report(*several).parts
    assert {row[-1] for row in table(comparison, "baselines")} == {
        "not known: baseline not run (no image, most frequent)", "not known: baseline not run (most frequent)",
    }  # fmt: skip
    said = [text for text in texts(comparison) if text.startswith("Baseline not run")]
    assert ["lora, prompt" in text for text in said] == [True, True]
    assert "_noimage" in said[0] and "--model medtasks_most_frequent" in said[1]


def test_a_method_that_is_not_better_than_its_baselines_is_flagged(write_sure_run, several):
    frequent = write_sure_run(name="f", model="medtasks_most_frequent", checkpoint="",
                              tasks=["sure_slake_modality", "sure_slake_question_type"])  # fmt: skip
    comparison, *_ = report(*several, frequent).parts
    (said,) = [text for text in texts(comparison) if "not better than its baselines" in text]
    # prompt without images: on modality alone; its answers are those with images, so nothing is better.
    assert said.startswith("prompt is not better than its baselines by more than chance in 2 of 2 conditions")
    rows = table(comparison, "baselines")
    assert [row[-1] for row in rows if row[:2] == ["SLAKE, modality, closed", "prompt"]] == ["no"]


FAILED = dict.fromkeys(LABELS, "!")
ONE_IMAGE = {name: ("a", side, kind) for name, side, kind in [
    ("c1", "iid", "closed"), ("c2", "iid", "closed"), ("c4", "ood", "closed")]}  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"labels": FAILED}, {"labels": FAILED}),
        ({}, {"labels": FAILED}),
        ({"labels": {"c1": "1", "c4": "1"}}, {"labels": {"c2": "1", "c5": "0"}}),
        ({"labels": {"c1": "1", "c2": "0", "c4": "1"}, "questions": ONE_IMAGE},
         {"labels": {"c1": "1", "c2": "1", "c4": "0"}, "questions": ONE_IMAGE}),
        ({"labels": dict.fromkeys(("c1", "c2", "c4"), "1")}, {"labels": dict.fromkeys(("c1", "c2", "c4"), "1")}),
    ],
    ids=["nothing answered", "one answers nothing", "no question in common", "one image", "all answers equal"],
)  # fmt: skip
def test_what_can_not_be_compared_is_in_no_analysis(write_sure_run, first, second):
    comparison, *_ = report(*(write_sure_run(name=name, checkpoint=name, **own) for name, own in
                              (("a", first), ("b", second)))).parts  # fmt: skip
    own = [row[3] for row in table(comparison, "depends") if row[1] == "a, b"] if "depends" in keys(comparison) else []
    assert all(f == "–" for f in own)


def test_baselines_are_compared_with_nothing(write_sure_run):
    method = write_sure_run(labels={**LABELS, "c2": "?"})
    comparison, *_ = report(method, write_sure_run(name="b", model="medtasks_random", checkpoint="")).parts
    assert "depends" not in keys(comparison) and "analysis of variance" not in "".join(texts(comparison))
    assert [row[0] for row in table(comparison, "published_slake_modality")[:2]] == ["some_model", "medtasks_random"]


def test_every_writer_takes_it_and_the_same_runs_give_the_same_page(several):
    document = report(*several, drawn=True)
    once = render_html(document)
    assert render_html(report(*several, drawn=True)) == once
    assert once.count('<svg class="chart') == 4
    assert "nan" not in render_markdown(document).lower()
    for part, each in document.tables():
        rows = list(csv.reader(io.StringIO(render_csv(each, part.origin))))
        assert len({len(row) for row in rows}) == 1
    (comparison, *_) = document.parts
    (found,) = (t for s in comparison.sections for t in s.tables if t.key == "published_slake_modality")
    first, row, *_ = csv.reader(io.StringIO(render_csv(found)))
    assert "closed RR sd" in first


@pytest.mark.parametrize("tasks", [["sure_mimic_gender"], ["sure_slake_modality"]])
def test_no_text_of_the_data_gets_out(write_sure_run, tasks):
    runs = [write_sure_run(name=name, checkpoint=name, tasks=tasks, questions=MIMIC,
                           labels={"1": "?", "2": "1"}) for name in ("a", "b")]  # fmt: skip
    document = report(*runs, drawn=True)
    written = (
        render_html(document)
        + render_markdown(document)
        + "".join(render_csv(t, p.origin) for p, t in document.tables())
    )
    for secret in ("SECRET", "p10/1", "p10/2"):
        assert secret not in written
    notes = [text for part in document.parts for text in texts(part, "note")]
    assert any("Credentialed data" in text for text in notes) is (tasks == ["sure_mimic_gender"])


def test_no_table_has_two_judges(write_sure_run):
    runs = [
        write_sure_run(name, model=name, judge=judge)
        for name, judge in [("a", "openai:one"), ("b", "openai:one"), ("c", "openai:other")]
    ]
    both, *own = report(*runs).parts
    assert both.title == "Comparison, judged by openai:one"
    assert "different judges" in texts(both)[0]
    assert not any(
        "c" in row[:1] for section in both.sections for each in section.tables for row in table(both, each.key)
    )
    assert len(own) == 3


def test_a_method_on_fewer_questions_is_marked_beside_the_others(write_sure_run):
    few = {name: LABELS[name] for name in ("c1", "c4", "o1", "o3")}
    modality, question = "sure_slake_modality", "sure_slake_question_type"
    folders = [
        write_sure_run("one", checkpoint="one", labels=LABELS, tasks=(modality, question)),
        write_sure_run("two", checkpoint="two", labels=LABELS, tasks=(modality,)),
        write_sure_run("limited", checkpoint="two", labels=few, tasks=(question,)),
    ]
    whole = build_report(folders, ReportOptions(resamples=0, drawn=False)).parts[0]
    tables = {table.key: table for section in whole.sections for table in section.tables}
    own = {
        key: [row.cells[0].mark for row in tables[key].rows if row.kind == "run"]
        for key in ("published_slake_modality", "published_slake_question_type")
    }
    # The mark stands at the shift of which fewer questions were asked, and at no other one.
    assert own == {
        "published_slake_modality": ["", ""], "published_slake_question_type": ["", OTHER_QUESTIONS],
    }  # fmt: skip
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "SLAKE, question type: closed i.i.d. 1 questions (most rows: 3)" in text


def test_the_largest_fall_alone_is_orange(write_sure_run):
    (part,) = report(write_sure_run(), drawn=True).parts
    (chart,) = [figure.svg for section in part.sections for figure in section.figures if figure.key == "shifts"]
    # 0.83 i.i.d., 0.50 shifted, as in the table; the axis is from 40 to 100 on 300 pixels. The paper's are hollow.
    found = re.findall(r'cy="([\d.]+)" r="5" class="harm"><title>.*?, ([\w.]+): ([\d.]+) %', chart)
    assert [each[1:] for each in found] == [("i.i.d.", "83.3"), ("shifted", "50.0")]
    assert float(found[1][0]) - float(found[0][0]) == pytest.approx(300 * (83.3 - 50) / 60, abs=0.5)
    assert "most frequent answers" in chart
    untuned = r"SLAKE modality, published, ([\w.]+): ([\d.]+) %"
    assert re.findall(untuned, chart) == [("i.i.d.", "60.0"), ("shifted", "31.0"), ("i.i.d.", "69.0")]  # Table 14
