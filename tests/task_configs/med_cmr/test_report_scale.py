"""Scores against size."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.task_configs.med_cmr.report_paper import correlation_table, dimension_scores, paper_sections

# Right: none, one and two of two.
MODELS = {"small": {"q1": "B", "q2": "A"}, "middle": {"q1": "A", "q2": "A"}, "large": {"q1": "A", "q2": "B"}}


@pytest.fixture
def models(write_cmr, read_models):
    return read_models(*(write_cmr(name, model=name, mcq=replies) for name, replies in MODELS.items()))


def test_correlation(models):
    found = dimension_scores(list(models.values()))
    assert found["MCQ all"] == {"small": 0, "middle": 50, "large": 100}
    # CR has no question.
    assert "MCQ CR" not in found
    # A straight line in the logarithm of size: 1. In size itself, 1 10 100 with 0 50 100: deviations -36 -27 63 and
    # -50 0 50, r = (1800 + 3150) / sqrt((1296 + 729 + 3969) * 5000) = 4950 / 5474.5.
    assert correlation_table([1e9, 1e10, 1e11], [0, 50, 100]) == pytest.approx((1, 4950 / (5994 * 5000) ** 0.5))


def test_models_of_one_size_have_no_correlation():
    assert correlation_table([7e9] * 3, [0, 50, 100]) == correlation_table([1e9, 2e9, 3e9], [50] * 3) == (None, None)


def scale_section(models, **parameters):
    (section,) = paper_sections(list(models.values()), ReportOptions(parameters=parameters))
    return section


def test_two_models_are_too_few_and_a_model_without_a_size_is_named(models):
    section = scale_section(models, small=1e9, large=1e11)
    assert not section.tables and "left out: middle." in section.paragraphs[0]
    assert "A correlation needs 3 models" in section.paragraphs[1]


def test_open_totals_of_different_judges_are_not_correlated(write_cmr, read_models):
    judges = {"small": "openai:a", "middle": "openai:b", "large": "openai:a"}
    folders = [
        write_cmr(
            name, model=name, mcq=replies, open={"q1": "5555"}, judge={"name": judges[name], "protocol": "med_cmr_open"}
        )
        for name, replies in MODELS.items()
    ]
    models = read_models(*folders)
    section = scale_section(models, small=1e9, middle=1e10, large=1e11)
    assert "judged by different judges" in section.paragraphs[0]
    names = {row.cells[0].value for row in section.tables[0].rows}
    assert "MCQ all" in names and "Open all" not in names
    assert "Open all" in dimension_scores([models["small"], models["large"]])


def test_name_that_is_none(models):
    with pytest.raises(UserError, match="'smal'"):
        scale_section(models, smal=1e9)
