"""Open answers of a run without a judge, some of them empty: rules settle those, and their 0 is nobody's mean."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.first_screen import NOT_JUDGED
from lmms_medtasks.report.report_page import render_html
from lmms_medtasks.samples import runs
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.med_cmr.measures import SUITE
from lmms_medtasks.task_configs.med_cmr.report_paper import compare_tuned_pairs, dimension_scores
from tests.task_configs.med_cmr.conftest import JUDGE

NOBODY = {"name": "none", "protocol": "med_cmr_open"}
OPEN = {"q1": "empty", "q2": "?", "q3": "?"}  # q1 and q2 are SOD, q3 is FDD
QUICK = ReportOptions(resamples=20, drawn=False)


def table(part, key):
    return next(each for section in part.sections for each in section.tables if each.key == key)


def values(row):
    return [cell.value for cell in row.cells]


@pytest.fixture
def unjudged(write_cmr):
    return write_cmr("none", model="unjudged", judge=NOBODY, open=OPEN, open_noimage=OPEN)


def test_the_harness_and_the_report_print_no_mean_but_bounds(unjudged):
    rows = suite_table(SUITE, runs.find_result_files([unjudged])).where({"image_shown": True})
    for name in ("total", "consistency", "total_sod"):
        assert SUITE.estimates[name].value(rows) is None
    (part,) = build_report([unjudged], QUICK).parts
    assert values(table(part, "main").rows[0])[-1] is None
    # One of three was settled, by a rule: the worst. The others may be the worst or the best.
    dimensions = {values(row)[0]: values(row)[1:] for row in table(part, "open_dimensions").rows}
    assert dimensions["All questions"][:5] == [None, 1, 3, 0, pytest.approx(200 / 3)]
    sod = next(own for name, own in dimensions.items() if "(SOD)" in name)
    assert sod[:5] == [None, 1, 2, 0, 50]
    assert {score for own in dimensions.values() for score in own[5:9]} == {None}
    assert all(values(row)[1] is None for row in table(part, "open_modality").rows)
    assert {values(row)[-1] for row in table(part, "open_dimensions_noimage").rows} == {None}


@pytest.mark.parametrize("judge", [NOBODY, JUDGE])
def test_the_page_says_so_in_place_of_a_finding(write_cmr, judge):
    """Without a judge, and where one was asked and gave no verdict."""
    document = build_report([write_cmr("none", judge=judge, open=OPEN)], QUICK)
    assert NOT_JUDGED in document.first.sentences.values()
    assert f'<section class="tile"><h2>Med-CMR</h2><p>{NOT_JUDGED}</p></section>' in render_html(document)
    assert document.first.empty == {"Med-CMR": NOT_JUDGED}


def test_a_dimension_that_no_judge_saw_has_no_mean_though_others_were_judged(write_cmr):
    (part,) = build_report([write_cmr(open={"q1": "empty", "q2": "?", "q3": "5555"})], QUICK).parts
    rows = {values(row)[0]: values(row)[1:] for row in table(part, "open_dimensions").rows}
    assert [own[0] for name, own in rows.items() if "(SOD)" in name or "(FDD)" in name] == [None, 100]


def test_beside_judged_models_its_cells_are_empty(unjudged, write_cmr):
    judged = write_cmr("judged", model="judged", open={"q1": "5555", "q2": "0000", "q3": "5555"})
    whole, *_ = build_report([judged, unjudged], QUICK).parts
    shown = [values(row)[-1] for row in table(whole, "main").rows if row.kind == "run"]
    assert shown == [pytest.approx(200 / 3), None]


def test_pairs_and_sizes_take_nothing_of_it(write_cmr, read_models):
    folders = [write_cmr(name, model=name, judge=NOBODY, open=OPEN) for name in ("base", "tuned")]
    found = read_models(*folders)
    (pair,), _ = compare_tuned_pairs([("base", "tuned")], found)
    assert (pair.questions.n, pair.changes[""]["change"].estimate) == (0, None)
    assert dimension_scores(list(found.values())) == {}
