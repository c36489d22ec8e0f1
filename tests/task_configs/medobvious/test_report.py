"""The report of MedObvious: its numbers by hand, what it says first, and what it refuses."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.comparability import OTHER_QUESTIONS
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.reported_suites import build_report
from lmms_medtasks.task_configs.medobvious.report import HEADLINE

QUICK = ReportOptions(resamples=20, drawn=False)


def tables_of(document):
    return {table.key: table for _, table in document.tables()}


def numbers(table):
    """Row -> head -> value, of the rows that are not published; rows by their texts."""
    heads = [column.name for column in table.columns]
    found = {}
    for row in table.rows:
        if row.kind != "reference":
            label = tuple(cell.value for cell in row.cells if isinstance(cell.value, str))
            found[label if len(label) > 1 else label[0]] = dict(
                zip(heads, (cell.value for cell in row.cells), strict=True)
            )
    return found


@pytest.fixture
def tables(write):
    return {
        key: numbers(table)
        for key, table in tables_of(build_report([write()], ReportOptions(resamples=50, drawn=False))).items()
    }


def test_accuracies(tables):
    # Item 1 is right throughout (8 of 8); item 2 has one right of its eight, detection open on the positive.
    found = {**tables["formats"]["run", "this run"], **tables["signs"]["run", "this run"]}
    tiers = tables["tiers"]["run", "this run"]
    columns = {
        "A detection MCQ": 2 / 4, "B detection open": 3 / 4, "C referring MCQ": 1 / 2, "D referring open": 1 / 2,
        "E visual referring": 2 / 4, "positive": 6 / 10, "negative": 3 / 6,
    }  # fmt: skip
    assert found["all questions"] == pytest.approx(100 * 9 / 16)
    assert {name: found[name] for name in columns} == pytest.approx(
        {name: 100 * each for name, each in columns.items()}
    )
    assert (found["Avg"], found["balanced"]) == pytest.approx((100 * sum(columns.values()) / 7, 55))
    assert (tiers["T1"], tiers["T3"]) == pytest.approx((100, 12.5))
    assert tiers["all"] == pytest.approx((100 + 12.5) / 2)


@pytest.mark.usefixtures("any_share_read")
def test_the_first_screen_has_the_boards_number_and_the_papers_average_each_by_its_name(write):
    document = build_report([write()], QUICK)
    [finding] = document.first.models[0].findings
    bars = {bar.title: bar.cell.value for bar in finding.bars}
    columns = (2 / 4, 3 / 4, 1 / 2, 1 / 2, 2 / 4, 6 / 10, 3 / 6)
    expected = {"all questions": 100 * 9 / 16, "the paper's average": 100 * sum(columns) / 7, "false alarms": 40}
    assert bars == pytest.approx(expected)
    assert "56.2 %" in finding.sentence and "55.0 %" in finding.sentence and "paper's average" in finding.sentence
    first = HEADLINE.columns[0]
    assert (first.task, first.metric) == ("medobvious", "accuracy") and "all questions" in first.words


def test_chance(tables):
    # 2x2: 1/5; 3x3: 1/10; visual 1/2.
    found, tiers = (tables[name]["uniform guessing", "arithmetic"] for name in ("formats", "tiers"))
    assert found["A detection MCQ"] == pytest.approx(100 * (1 / 5 + 1 / 10) / 2)
    assert found["E visual referring"] == 50
    assert (tiers["T1"], tiers["T3"]) == pytest.approx((100 * (6 / 5 + 1) / 8, 100 * (6 / 10 + 1) / 8))
    assert tiers["all"] == pytest.approx((tiers["T1"] + tiers["T3"]) / 2)


def test_gaps_agreement_alarms(tables):
    # Detection: MCQ right 1, 0 on positives and 1, 0 on negatives; open 1, 1 and 1, 0: gap 2/4 - 3/4.
    assert tables["gaps"]["detection"]["gap"] == pytest.approx(-25)
    assert (tables["gaps"]["referring"]["gap"], tables["gaps"]["detection"]["pairs"]) == (0, 4)
    assert [row["agree"] for row in tables["agreements"].values()] == [50, 50, 50]
    alarms = tables["alarms"]
    # Item 2's negatives: a place, an ambiguous reply, and yes. Its positives: none, refused, and no.
    assert alarms["all formats"]["false alarms"] == pytest.approx(100 * 2 / 5)  # the ambiguous one is left out
    assert alarms["B detection open"]["false alarms"] == 0
    assert alarms["all formats"]["abstentions"] == pytest.approx(100 * 3 / 10)
    assert alarms["C referring MCQ"]["false alarms"] is None


def test_sizes_kinds_replies(tables):
    assert [tables["sizes"][grid]["panels"] for grid in ("2×2", "3×3")] == [4, 9]
    assert tables["sizes"]["3×3"]["detection, positives"] == 50
    assert tables["sizes"]["uniform guessing"]["detection, positives"] == pytest.approx(10)  # the last size's
    assert [tables["kinds"]["T3", "b"][name] for name in ("accuracy", "accuracy ")] == pytest.approx([20, 0])
    negative, positive = (tables["replies"][name, sign] for name, sign in
                          (("B detection open", "negative"), ("D referring open", "positive")))  # fmt: skip
    assert (negative["questions"], negative["unreadable"], negative["empty"]) == (2, 1, 0)
    assert (positive["questions"], positive["refused"], positive["unreadable"]) == (2, 1, 0)


def test_tables_stand_beside_the_published_rows(write):
    document = build_report([write()], QUICK)
    (part,) = document.parts
    found = tables_of(document)
    assert {"formats", "signs", "tiers", "gaps", "agreements", "alarms", "sizes", "kinds", "replies"} <= set(found)
    assert sum(row.kind == "reference" for row in found["formats"].rows) == 18
    assert sum(row.kind == "reference" for row in found["tiers"].rows) == 17
    assert [found[key].rows[0].cells[place].value for key, place in (("formats", 2), ("signs", 3))] == [50.0, 50.0]
    assert "words of a question tell" in " ".join(flag.text for flag in part.flags)


def test_one_size_has_no_scaling_section(write, records):
    one = [record for record in records() if record.tags["grid"] == "2x2"]
    assert "sizes" not in tables_of(build_report([write(medobvious_t1=one)], QUICK))


def test_no_question_counts_twice(write, records):
    found = records()
    by_format = [record for record in found if record.tags["task_type"] == "detection_mcq"]
    document = build_report([write(medobvious=found, medobvious_detection_mcq=by_format)], QUICK)
    (part,) = document.parts
    assert dict(part.facts)["Questions"] == "16 about 2 items"
    assert "4 questions were asked by several tasks" in " ".join(flag.text for flag in part.flags)


@pytest.mark.parametrize("apart", [False, True])
def test_ways_of_asking_are_compared_question_by_question(write, records, apart):
    settings = {"medobvious_noimage": {"no_image": True}, "medobvious_neutral": {"wording": "neutral"}}
    silent = {
        "v1_a_0": (1, "2x2", "top-left", ("none",) * 4 + ("no",), ("none", "none", "no")),
        "v3_b_1": (3, "3x3", "top-center", ("none",) * 4 + ("no",), ("none", "none", "no")),
    }
    tasks = {"medobvious": records(), "medobvious_noimage": records(silent), "medobvious_neutral": records()}
    folders = [write(medobvious=tasks.pop("medobvious"))] if apart else []
    folders.append(write("other" if apart else "run", settings=settings, **tasks))
    results = folders[-1] / "20260101_000000_results.json"
    results.write_text(results.read_text("utf-8").replace("pretrained=other", "pretrained=run"), "utf-8")
    document = build_report(folders, QUICK)
    own = ["run", "run (no image)", "run (neutral wording)"]
    # The comparison comes last where all is of one run.
    assert [part.title for part in document.parts] == (["Comparison", *own] if apart else [*own, "Comparison"])
    first = [cell.value for cell in tables_of(document)["ways"].rows[0].cells]
    # Always none: 6 of 16 right, 9 of 16 as asked.
    assert first[1:4] == ["no image", "all", 16]
    assert first[4:] == pytest.approx([100 * 9 / 16, 100 * 6 / 16, -100 * 3 / 16])
    flags = " ".join(flag.text for part in document.parts for flag in part.flags)
    assert "finds one nowhere" not in flags  # too few answers to say so


def test_a_model_that_always_finds_one_is_named(write, records):
    always = {
        f"v1_a_{n}": (1, "2x2", "top-left", ("top-right",) * 4 + ("yes",), ("top-left", "top-left", "yes"))
        for n in range(5)
    }
    document = build_report([write(medobvious=records(always))], QUICK)
    assert "it finds one everywhere" in " ".join(flag.text for flag in document.parts[0].flags)


def test_failed_requests_have_no_part_in_any_number(write, records):
    failed = {"v1_a_0": (1, "2x2", "top-left", ("failed",) * 5, ("failed",) * 3)}
    document = build_report([write(medobvious=records(failed))], QUICK)
    assert "8 of 8 requests failed" in " ".join(flag.text for flag in document.parts[0].flags)
    (found,) = [row for name, row in numbers(tables_of(document)["signs"]).items() if "arithmetic" not in name]
    assert found["all questions"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tags": {"task_type": "detection"}}, "Unknown task_type 'detection'"),
        ({"tags": {"negative": 2}}, "Unknown negative '2'"),
        ({"cluster": None}, "cluster is None"),
        ({"measures": {"accuracy": {"score": 3}}}, "accuracy is 3"),
        ({"measures": {"precision": {"score": 1}}}, "'precision'"),
        ({"version": 1}, "version 1"),
        ({"trials": []}, "trials is []"),
    ],
)
def test_logs_of_another_form_are_refused_with_their_line(write, records, change, message):
    rows = [record.to_json() for record in records()]
    rows[2] = {**rows[2], **change, "tags": {**rows[2]["tags"], **change.get("tags", {})}}
    with pytest.raises(UserError, match="line 3") as error:
        build_report([write(medobvious=rows)], QUICK)
    assert message in str(error.value)


def test_a_run_on_fewer_questions_is_marked_beside_the_others(write, records):
    folders = [write("one"), write("two"), write("part", medobvious=records()[:5])]
    whole = build_report(folders, QUICK).parts[0]
    for key in ("runs", "formats", "tiers"):
        found = next(table for section in whole.sections for table in section.tables if table.key == key)
        own = {row.cells[0].value: row.cells[0].mark for row in found.rows if row.kind == "run"}
        assert own == {"one": "", "two": "", "part": OTHER_QUESTIONS}
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "part: all formats 5 questions (most rows: 16)" in text


def test_questions_of_a_tier_that_the_paper_does_not_have_are_in_no_average(write, records, one_record):
    """They are prepared as data of their own; a run that asks them by our hooks is not mixed into the paper's."""
    folder = write(medobvious=[*records(), one_record("detection_mcq", "top-left", item="v6_a_0", tier=6)])
    with pytest.raises(UserError, match="Unknown tier '6' in .*, line 17; .* Allowed: 1, 2, 3, 4, 5"):
        build_report([folder], QUICK)
