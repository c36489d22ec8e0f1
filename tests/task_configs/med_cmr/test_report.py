"""The Med-CMR report as a whole: what it shows beside the paper, of several models, and of hostile texts."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.comparability import OTHER_QUESTIONS
from lmms_medtasks.report.judged_tables import LEXICAL

MCQ = {"q1": "A", "q2": "A", "q3": "A", "q4": "unreadable"}
OPEN = {"q1": "5555", "q2": "5500", "q3": "?", "q4": ""}


@pytest.fixture
def whole_run(write_cmr):
    return write_cmr(
        mcq=MCQ, mcq_noimage={"q1": "B"}, open=OPEN, open_noimage={"q1": "0000"}, circular={"q1": "ADCB", "q2": "BAAA"}
    )


@pytest.fixture
def everything(whole_run):
    return build_report([whole_run], ReportOptions(resamples=20, drawn=False))


@pytest.fixture
def several_runs(write_cmr):
    return [write_cmr(name, model=name, mcq=MCQ, open={**OPEN, "q1": score}) for name, score in GIVEN.items()]


@pytest.fixture
def several(several_runs):
    return build_report(several_runs, COMPARED)


COMPARED = ReportOptions(
    resamples=20, drawn=False, pairs=(("one", "two"),), parameters={"one": 1e9, "two": 2e9, "three": 3e9}
)
GIVEN = {"one": "5555", "two": "0000", "three": "2222"}


def table(document, key, part=0):
    return next(each for owner, each in document.tables() if each.key == key and owner is document.parts[part])


def test_row_of_the_run_above_the_published_ones(everything):
    found = table(everything, "main")
    # SOD 1 of 2, FDD 1 of 1, CR 0 of 1, all 2 of 4; open (100 + 20) / 2, by another judge and with one missing.
    assert [cell.value for cell in found.rows[0].cells] == [
        *("some_model", "this run", 50, 100, None, None, 0, None, None, 50, 60),
    ]
    assert found.rows[0].cells[-1].mark.startswith("‡#")  # and too few images for an interval
    assert found.rows[1].cells[0].value == "GPT-5"
    assert [cell.value for cell in found.rows[1].cells[-2:]] == [57.81, 48.7]
    assert sum(row.kind == "reference" for row in found.rows) == 7
    # The paper's SU and MSI look swapped against the release: each printed number of the two is marked, no run's is.
    heads = [each.name for each in found.columns]
    marked = [{heads[place] for place, cell in enumerate(row.cells) if cell.mark == "§"} for row in found.rows]
    assert marked == [set(), *[{"SU", "MSI"}] * 7] and "§" in found.marks
    notes = " ".join(found.all_notes)
    assert "SU and MSI look swapped: they fit SU 709 questions, the release has 371; MSI 371" in notes
    assert "By another judge than the paper's" in notes
    assert "judgements are missing" in notes


def test_flags(everything):
    flags = [flag.text for flag in everything.parts[0].flags]
    assert any("1 of 18 requests failed" in text for text in flags)
    judged = (
        "med_cmr_open, med_cmr_open_noimage: judged by openai:gpt-4o at https://api.example.org/v1, asked by "
        "schema (max_tokens 1024, temperature 0.0); the paper's judge is DeepSeek"
    )
    assert any(judged in text for text in flags)
    assert any("med_cmr_open: INCOMPLETE, 66.7% of the judgements were obtained" in text for text in flags)


def test_open_means_stand_with_what_is_missing(everything):
    total = table(everything, "open_dimensions").rows[0]
    assert [cell.value for cell in total.cells[:6]] == ["All questions", 60, 2, 3, 40, pytest.approx(220 / 3)]
    row = next(row for row in table(everything, "open_dimensions").rows if "(FDD)" in row.cells[0].value)
    assert [cell.value for cell in row.cells[1:6]] == [None, 0, 1, 0, 100]
    judged = table(everything, "judgements").rows[0]
    assert [cell.value for cell in judged.cells[:5]] == ["med_cmr_open", 3, 0, 2, 1]
    # How it was asked stands at the head of the part, folded.
    assert judged.cells[-1].value == "openai:gpt-4o"
    assert "prompt med_cmr_open.txt version 1" in dict(everything.parts[0].facts)["Judge"]


def test_figures_of_several_models(several_runs):
    part = build_report(several_runs, replace(COMPARED, drawn=True, resamples=0)).parts[0]
    figures = [figure for section in part.sections for figure in section.figures]
    assert [figure.key for figure in figures] == ["dimensions", "pairs"]
    assert {figure.table for figure in figures} <= {each.key for section in part.sections for each in section.tables}


def test_pairs_and_scale(several):
    rows = [[cell.value for cell in row.cells] for row in table(several, "pairs").rows]
    # Open: only q1 and q2 have a total in both; q1 falls by 100, q2 stays: mean -50.
    assert rows[1][:7] == ["one → two", "open total", "questions", -50, 0, 1, 1]
    correlations = {row.cells[0].value: row.cells[1].value for row in table(several, "scale").rows}
    assert correlations["MCQ all"] == correlations["Open all"] == 3


def test_models_judged_by_different_judges_stand_in_no_table_together(write_cmr):
    other = {"name": "lexical", "protocol": "med_cmr_open", "is_paper_judge": False}
    runs = [write_cmr("a", open=OPEN), write_cmr("b", model="other", judge=other, open=OPEN)]
    document = build_report(runs, ReportOptions(resamples=0, drawn=False, pairs=(("some_model", "other"),)))
    # Totals of one judge: as many models have the one as the other, and the first one's stand.
    assert [row.cells[-1].value for row in table(document, "main").rows[:3]] == [60, None, 48.7]
    assert "their open answers were judged by different judges" in document.parts[0].sections[1].paragraphs[1]
    assert any("different judges or prompts, and do not compare" in flag.text for flag in document.parts[0].flags)
    assert any("NO LLM" in flag.text for flag in document.parts[2].flags)
    assert table(document, "main", part=2).rows[0].cells[-1].mark.startswith(LEXICAL + "#")
    for key in ("open_dimensions", "open_organ_system"):
        assert "Judge: lexical (no LLM)." in table(document, key, part=2).notes
    assert ("run judge", "lexical (no LLM)") in document.parts[2].origin


def test_pair_of_one_model_only(write_cmr):
    with pytest.raises(UserError, match="these runs are of one, 'some_model'"):
        build_report([write_cmr(mcq=MCQ)], ReportOptions(resamples=0, pairs=(("some_model", "x"),)))


def test_a_model_on_fewer_questions_is_marked_beside_the_others(write_cmr):
    folders = [
        write_cmr("one", model="one", mcq=MCQ, open={"q1": "5555", "q2": "0000"}),
        write_cmr("two", model="two", mcq=MCQ, open={"q1": "5555"}),
        write_cmr("three", model="three", mcq=MCQ),
    ]
    whole = build_report(folders, ReportOptions(resamples=0, drawn=False)).parts[0]
    found = next(table for section in whole.sections for table in section.tables if table.key == "main")
    own = {row.cells[0].value: row.cells[0].mark for row in found.rows if row.kind == "run"}
    assert own == {"one": "", "two": OTHER_QUESTIONS, "three": ""}
    (text,) = (flag.text for flag in whole.flags if OTHER_QUESTIONS in flag.text)
    assert "two: open 1 questions (most rows: 2)" in text


@pytest.mark.usefixtures("any_share_read")
def test_the_first_screen_has_the_dimensions_beside_the_papers_best_model(everything):
    drawn = everything.first.models[0].findings[0].sketch()
    titles = [each.text for each in ElementTree.fromstring(drawn.svg).iter("{http://www.w3.org/2000/svg}title")]
    # SOD: 1 of 2 choice questions; open answers 100 and 20 of 100, one of FDD without a verdict.
    assert any(each.startswith("choice, small objects: 50.0") for each in titles)
    assert "GPT-5, small objects: 66.1, published" in titles
    assert "published" in drawn.said


def test_the_dimensions_are_a_heat_map_whose_published_cells_have_no_colour(whole_run):
    (part,) = build_report([whole_run], ReportOptions(resamples=20)).parts
    (figure,) = [each for section in part.sections for each in section.figures if each.key == "dimensions"]
    boxes = list(ElementTree.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}rect"))
    said = {each[0].text: each for each in boxes if len(each)}
    own = next(each for text, each in said.items() if text.startswith("choice questions, SOD: 50.0"))
    # 0.72 x 0.5, halved as there are two questions only.
    assert (own.get("class"), own.get("fill-opacity")) == ("score", "0.18")
    assert figure.svg.count("§") == 7 * 2 and "§ Probably the numbers of the other of the two columns" in figure.about
    printed = [each for text, each in said.items() if "published" in text]
    assert len(printed) == 7 * 7 and {each.get("class") for each in printed} == {"published"}
