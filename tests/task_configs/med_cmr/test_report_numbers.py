"""The numbers of a run small enough to work out by hand (conftest.py has its questions)."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.judged_tables import JudgingSummary
from lmms_medtasks.task_configs.med_cmr.measures import count_reply_parts

# q1 and q3 right, q2 wrong, q4 unreadable.
REPLIES = {"q1": "A", "q2": "A", "q3": "A", "q4": "unreadable"}
TITLES = {
    "SOD": "Subtle Object Detection (SOD)",
    "FDD": "Fine-grained Detail Discrimination (FDD)",
    "SU": "Spatial Understanding (SU)",
    "CR": "Causal Reasoning (CR)",
}


@pytest.fixture
def tables(write_cmr):
    """The tables of a run's report by key, each by the first cell of its rows: the values of the others."""

    def of(**given):
        (part,) = build_report([write_cmr(**given)], ReportOptions(resamples=20, drawn=False)).parts
        return {
            each.key: {row.cells[0].value: [cell.value for cell in row.cells[1:]] for row in each.rows}
            for section in part.sections
            for each in section.tables
        }

    return of


@pytest.fixture
def source(write_cmr, read_models):
    def of(**given):
        (found,) = read_models(write_cmr(**given)).values()
        return found

    return of


def test_accuracy_overall_by_dimension_and_by_side(tables):
    found = tables(mcq=REPLIES)
    # All: 2 of 4. SOD 1 of 2, FDD 1 of 1, CR 0 of 1. Visual: (0.5 + 1) / 2, reasoning: 0, the rest has no question.
    accuracies = found["mcq"]
    assert accuracies["All questions"] == [4, 50]
    assert {name: accuracies[TITLES[name]] for name in TITLES} == {
        "SOD": [2, 50], "FDD": [1, 100], "SU": [0, None], "CR": [1, 0],
    }  # fmt: skip
    assert accuracies["Mean of the visual dimensions"] == [3, 75]
    assert accuracies["Mean of the reasoning dimensions"] == [1, 0]
    # Right, wrong, unreadable, cut, empty, refused, failed.
    assert found["replies"]["med_cmr_mcq"] == [2, 1, 1, 0, 0, 0, 0]
    assert found["mcq_organ_system"]["Chest"] == [4, 50]


def test_mean_over_fewer_dimensions_is_marked(write_cmr):
    (part,) = build_report([write_cmr(mcq=REPLIES)], ReportOptions(resamples=0, drawn=False)).parts
    (table,) = (each for section in part.sections for each in section.tables if each.key == "mcq")
    marks = {row.cells[0].value: row.cells[0].mark for row in table.rows}
    assert [name for name, mark in marks.items() if mark == "∂"] == [
        "Mean of the visual dimensions", "Mean of the reasoning dimensions",
    ]  # fmt: skip
    assert any(note.startswith("∂ ") for note in table.all_notes)


def test_failed_request_counts_as_nothing(tables):
    found = tables(mcq={"q1": "A", "q2": "failed"})
    assert found["mcq"]["All questions"] == [1, 100]
    assert found["replies"]["med_cmr_mcq"][-1] == 1


def test_an_empty_reply_is_counted_apart_from_an_unreadable_one_and_is_as_wrong(tables):
    found = tables(mcq={**REPLIES, "q4": "empty"})
    assert found["replies"]["med_cmr_mcq"] == [2, 1, 0, 0, 1, 0, 0]
    assert found["mcq"]["All questions"] == [4, 50] and found["mcq"][TITLES["CR"]] == [1, 0]


def test_letters(write_cmr):
    (part,) = build_report(
        [write_cmr(circular={"q1": "AAAA", "q2": "AAA ", "q4": "-AA?"})], ReportOptions(resamples=0)
    ).parts
    (table,) = (each for section in part.sections for each in section.tables if each.key == "circular")
    # Right letters: q1 A D C B, q2 B A D C, q4 D C B A; a reply to q2 is empty, of q4 one failed and one is unreadable.
    # Readable: A nine times, right A twice, B three times, C and D twice.
    assert any("readable replies: 0.778 (0 is alike)" in note for note in table.notes)


def test_circular(tables):
    # Right letters: q1 A D C B, q2 B A D C, q4 D C B A. q1 is right everywhere, q2 twice, q4 once; q3 lacks a reply.
    found = tables(circular={"q1": "ADCB", "q2": "BAAA", "q3": "AD-B", "q4": "AAAA"})["circular"]
    assert found["right under every rotation"] == [3, pytest.approx(100 / 3)]
    # Not rotated: q1 A and q2 B right, q4 A for D wrong.
    assert found["as asked, not rotated"] == [3, pytest.approx(200 / 3)]
    # All copies, with q3's three, all right: (4 + 2 + 1 + 3) / 15. It is the harness's accuracy.
    assert found["mean over all copies (the metric accuracy)"] == [15, pytest.approx(1000 / 15)]
    assert found[f"every rotation, {TITLES['SOD']}"] == [2, 50]
    assert found[f"every rotation, {TITLES['FDD']}"] == [0, None]
    assert found[f"every rotation, {TITLES['CR']}"] == [1, 0]


def test_questions_that_lack_a_rotation_are_said_to_be_left_out(write_cmr):
    folder = write_cmr(circular={"q1": "ADCB", "q3": "AD-B"})
    (part,) = build_report([folder], ReportOptions(resamples=0, drawn=False)).parts
    (table,) = (each for section in part.sections for each in section.tables if each.key == "circular")
    assert any("1 of 2 questions lack a reply to a rotation" in note for note in table.notes)


def test_open_scores_and_totals(tables):
    # Totals: 5555 is 100; 5500 is 100 (5 + 5) / 50 = 20; a missing one lies between 0 and 100.
    # The single scores are 5, 5, 2.5, 2.5; all three answers have both parts, one has the reference's words.
    found = tables(open={"q1": "5555", "q2": "5500", "q3": "?", "q4": ""})
    rows = found["open_dimensions"]
    scores = [5, 5, 2.5, 2.5]
    assert rows["All questions"] == pytest.approx([60, 2, 3, 40, 220 / 3, *scores, 100, 100 / 3])
    assert rows[TITLES["SOD"]] == [60, 2, 2, 60, 60, *scores, 100, 50]
    assert rows[TITLES["FDD"]] == [None, 0, 1, 0, 100, *[None] * 4, 100, 0]
    # Answered, unreadable, cut, empty, refused, failed.
    assert found["replies"]["med_cmr_open"] == [3, 0, 0, 0, 0, 1]
    # Requested, exact, judged, missing, coverage.
    assert found["judgements"]["med_cmr_open"][:5] == [3, 0, 2, 1, pytest.approx(200 / 3)]


def test_empty_answer_is_worst_by_a_rule(tables, source):
    given = {"q1": "empty", "q2": "5555"}
    assert tables(open=given)["open_dimensions"]["All questions"][0] == 50
    rows = source(name="again", open=given).rows
    assert JudgingSummary.of(rows).statuses == {"exact": 1, "judged": 1}
    assert count_reply_parts(rows) == {"empty": 1, "both": 1}


def test_without_the_image(tables):
    # On q1 to q3, which both have a value for: 2/3 with, 1/3 without the image.
    blind = {"q1": "A", "q2": "A", "q3": "B", "q4": "failed"}
    found = tables(mcq=REPLIES, mcq_noimage=blind)["mcq_noimage"]
    # Questions and accuracy without the image, pairs and difference.
    assert found["All questions"] == [3, pytest.approx(100 / 3), 3, pytest.approx(100 / 3)]
    assert found["Mean of the visual dimensions"] == [3, 25, None, None]
    assert found[TITLES["SOD"]] == [2, 50, 2, 0]
    assert found[TITLES["FDD"]] == [1, 0, 1, 100]


def test_open_without_the_image(tables):
    given = {"open": {"q1": "5555", "q2": "?"}, "open_noimage": {"q1": "5500", "q2": "5555"}}
    found = tables(**given)["open_dimensions_noimage"]
    assert found["All questions"][0] == 60 and found["All questions"][-2:] == [1, 80]
