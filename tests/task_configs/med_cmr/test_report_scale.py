"""Scores against size."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.med_cmr.report_models import scale

# Right: none, one and two of two.
MODELS = {"small": {"q1": "B", "q2": "A"}, "middle": {"q1": "A", "q2": "A"}, "large": {"q1": "A", "q2": "B"}}


@pytest.fixture
def models(write_cmr, read_models):
    return read_models(*(write_cmr(name, model=name, mcq=replies) for name, replies in MODELS.items()))


def test_correlation(models):
    found = scale({"small": 1e9, "middle": 1e10, "large": 1e11}, models)
    assert found.scores["MCQ all"] == {"small": 0, "middle": 50, "large": 100}
    # A straight line in the logarithm of size: 1. In size itself, 1 10 100 with 0 50 100: deviations -36 -27 63 and
    # -50 0 50, r = (1800 + 3150) / sqrt((1296 + 729 + 3969) * 5000) = 4950 / 5474.5.
    assert found.correlations["MCQ all"].log == pytest.approx(1)
    assert found.correlations["MCQ all"].linear == pytest.approx(4950 / (5994 * 5000) ** 0.5)
    assert found.correlations["MCQ all"].spearman == pytest.approx(1)
    assert "MCQ CR" not in found.correlations


def test_two_models_are_too_few(models):
    found = scale({"small": 1e9, "large": 1e11}, models)
    assert found.correlations == {}
    assert found.unsized == ("middle",)


def test_models_of_one_size_have_no_correlation(models):
    found = scale(dict.fromkeys(MODELS, 7e9), models).correlations["MCQ all"]
    assert (found.log, found.linear, found.spearman) == (None, None, None)


def test_open_totals_of_different_judges_are_not_correlated(write_cmr, read_models):
    judges = {"small": "openai:a", "middle": "openai:b", "large": "openai:a"}
    folders = [
        write_cmr(
            name, model=name, mcq=replies, open={"q1": "5555"}, judge={"name": judges[name], "protocol": "med_cmr_open"}
        )
        for name, replies in MODELS.items()
    ]
    models = read_models(*folders)
    found = scale({"small": 1e9, "middle": 1e10, "large": 1e11}, models)
    assert found.mixed and "MCQ all" in found.scores and "Open all" not in found.scores
    assert "Open all" in scale({"small": 1e9, "large": 1e11}, models).scores


def test_name_that_is_none(models):
    with pytest.raises(UserError, match="'smal'"):
        scale({"smal": 1e9}, models)
