"""The report of MedObvious: its numbers by hand, what it says first, and what it refuses."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.assemble import build
from lmms_medtasks.report.medobvious.analysis import analyse
from lmms_medtasks.report.medobvious.reading import NEUTRAL, NO_IMAGE, sources
from lmms_medtasks.report.page import page as html_page
from lmms_medtasks.report.same_questions import OTHER_QUESTIONS
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.runs import find

QUICK = Options(resamples=20, drawn=False)


@pytest.fixture
def analysis(write):
    return analyse(sources(find([write()]))[0], resamples=50)


def test_accuracies(analysis):
    # Item 1 is right throughout (8 of 8); item 2 has one right of its eight, detection open on the positive.
    assert analysis.overall.estimate == 9 / 16
    columns = {name: interval.estimate for name, interval in analysis.columns.items()}
    assert columns == {
        "detection_mcq": 2 / 4, "detection_open": 3 / 4, "referring_mcq": 1 / 2, "referring_open": 1 / 2,
        "visual_referring": 2 / 4, "positive": 6 / 10, "negative": 3 / 6,
    }  # fmt: skip
    assert analysis.average.estimate == pytest.approx(sum(columns.values()) / 7)
    assert {tier: each.estimate for tier, each in analysis.tiers.items()} == {1: 1.0, 3: 1 / 8}
    assert analysis.tier_mean.estimate == pytest.approx((1 + 1 / 8) / 2)
    assert analysis.overall.clusters == 2


def test_chance(analysis):
    # 2x2: 1/5; 3x3: 1/10; visual 1/2.
    assert analysis.chance["detection_mcq"] == pytest.approx((1 / 5 + 1 / 10) / 2)
    assert analysis.chance["visual_referring"] == 1 / 2
    assert analysis.tier_chance == pytest.approx({1: (6 / 5 + 1) / 8, 3: (6 / 10 + 1) / 8})


def test_gaps_agreement_alarms(analysis):
    # Detection: MCQ right 1, 0 on positives and 1, 0 on negatives; open 1, 1 and 1, 0: gap 2/4 - 3/4.
    assert analysis.gaps["detection"].gap.estimate == pytest.approx(-1 / 4)
    assert analysis.gaps["referring"].gap.estimate == 0
    assert {name: each.share.estimate for name, each in analysis.agreements.items()} == {
        "positive": 1 / 2, "negative": 1 / 2, "both": 1 / 2,
    }  # fmt: skip
    # Item 2's negatives: a place, an ambiguous reply, and yes.
    assert analysis.alarms["negative"].estimate == 2 / 6
    assert analysis.alarms["detection_open"].estimate == 0
    # Its positives: none, refused, and no.
    assert analysis.abstentions["positive"].estimate == 3 / 10
    assert analysis.alarms["referring_mcq"].estimate is None


def test_sizes_kinds_outcomes(analysis):
    assert {grid: each.panels for grid, each in analysis.sizes.items()} == {"2x2": 4, "3x3": 9}
    assert analysis.sizes["3x3"].detection.estimate == 1 / 2
    assert analysis.sizes["3x3"].detection_chance == pytest.approx(1 / 10)
    assert [each.estimate for each in analysis.kinds[3, "b"]] == [1 / 5, 0]
    assert analysis.outcomes["detection_open", 1] == {"right": 1, "ambiguous": 1}
    assert analysis.outcomes["referring_open", 0] == {"right": 1, "refused": 1}
    assert analysis.outcomes["visual_referring", 0] == {"right": 1, "wrong yes or no": 1}


def test_parts_and_their_keys(write):
    document = build([write()], QUICK)
    (part,) = document.parts
    tables = {table.key: table for _, table in document.tables()}
    assert {"formats", "tiers", "accuracies", "gaps", "agreements", "alarms", "sizes", "kinds", "replies"} <= set(
        tables
    )
    assert sum(row.kind == "reference" for row in tables["formats"].rows) == 18
    assert sum(row.kind == "reference" for row in tables["tiers"].rows) == 17
    own = tables["formats"].rows[0].cells
    assert [own[2].value, own[8].value] == [50.0, 50.0]
    assert "words of a question tell" in " ".join(flag.text for flag in part.flags)


def test_one_size_has_no_scaling_section(write, rows):
    one = [row for row in rows() if row["grid"] == "2x2"]
    document = build([write(medobvious_t1=one)], QUICK)
    assert "sizes" not in {table.key for _, table in document.tables()}


def test_formats_of_a_run_are_one_part_and_no_question_counts_twice(write, rows):
    found = rows()
    by_format = {"medobvious_detection_mcq": [row for row in found if row["task_type"] == "detection_mcq"]}
    (source,) = sources(find([write(medobvious=found, **by_format)]))
    assert (len(source.records), source.repeated) == (16, 4)


def test_ways_of_asking_are_compared_question_by_question(write, rows):
    settings = {"medobvious_noimage": {"no_image": True}, "medobvious_neutral": {"wording": "neutral"}}
    silent = {
        item: (*each[:3], ("none",) * 4 + ("no",), ("none", "none", "no")) for item, each in items_of(rows).items()
    }
    tasks = {"medobvious": rows(), "medobvious_noimage": rows(silent), "medobvious_neutral": rows()}
    folder = write(settings=settings, **tasks)
    assert [each.variant for each in sources(find([folder]))] == ["", NO_IMAGE, NEUTRAL]
    document = build([folder], QUICK)
    assert [part.title for part in document.parts][0] == "Comparison"
    ways = next(table for _, table in document.tables() if table.key == "ways")
    first = [cell.value for cell in ways.rows[0].cells]
    # Always none: 6 of 16 right, 9 of 16 as asked.
    assert first[1:4] == [NO_IMAGE, "all", 16]
    assert first[4:] == pytest.approx([100 * 9 / 16, 100 * 6 / 16, -100 * 3 / 16])
    flags = " ".join(flag.text for part in document.parts for flag in part.flags)
    assert "finds one nowhere" not in flags  # too few answers to say so


def items_of(rows):
    found = {}
    for row in rows():
        found.setdefault(row["item"], (row["tier"], row["grid"], row["answer_position"]))
    return found


def test_a_model_that_always_finds_one_is_named(write, rows):
    always = {
        f"v1_a_{n}": (1, "2x2", "top-left", ("top-right",) * 4 + ("yes",), ("top-left", "top-left", "yes"))
        for n in range(5)
    }
    document = build([write(medobvious=rows(always))], QUICK)
    assert "it finds one everywhere" in " ".join(flag.text for flag in document.parts[0].flags)


def test_failed_requests_have_no_part_in_any_number(write, rows):
    failed = {"v1_a_0": (1, "2x2", "top-left", ("failed",) * 5, ("failed",) * 3)}
    document = build([write(medobvious=rows(failed))], QUICK)
    assert "8 of 8 requests failed" in " ".join(flag.text for flag in document.parts[0].flags)
    tables = {table.key: table for _, table in document.tables()}
    assert all(cell.value in (None, 0) for cell in tables["accuracies"].rows[0].cells[1:3])


def test_the_page_is_drawn_and_escaped(write, rows):
    found = [{**row, "kind": "<script>alert(1)</script>"} for row in rows()]
    page = html_page(build([write("a<b", medobvious=found), write("c", medobvious=found)], Options(resamples=20)))
    assert page.count("<svg") >= 6
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_type": "detection"}, "Unknown task_type 'detection'"),
        ({"grid": "many"}, "grid is 'many'"),
        ({"negative": 2}, "negative 2"),
        ({"item": None}, "the record has no item"),
        ({"score": 3}, "score is 3"),
    ],
)
def test_logs_of_another_form_are_refused_with_their_line(write, rows, change, message):
    found = rows()
    found[2] |= change
    with pytest.raises(UserError, match="line 3") as error:
        sources(find([write(medobvious=found)]))
    assert message in str(error.value)


def test_a_run_on_fewer_questions_is_marked_beside_the_others(write, rows):
    folders = [write("one"), write("two"), write("part", medobvious=rows()[:5])]
    whole = build(folders, QUICK).parts[0]
    for key in ("runs", "formats", "tiers"):
        found = next(table for section in whole.sections for table in section.tables if table.key == key)
        own = {row.cells[0].value: row.cells[0].mark for row in found.rows if row.kind == "run"}
        assert own == {"one": "", "two": "", "part": OTHER_QUESTIONS}
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "part: all formats 5 questions (most rows: 16)" in text
