"""Scores against size."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.med_cmr.analysis import analyse
from lmms_medtasks.report.med_cmr.reading import sources
from lmms_medtasks.report.med_cmr.scale import scale
from lmms_medtasks.samples import runs

# Right: none, one and two of two.
MODELS = {"small": {"q1": "B", "q2": "A"}, "middle": {"q1": "A", "q2": "A"}, "large": {"q1": "A", "q2": "B"}}


@pytest.fixture
def analyses(write_cmr):
    folders = [write_cmr(name, model=name, mcq=replies) for name, replies in MODELS.items()]
    return {source.model: analyse(source, resamples=0) for source in sources(runs.find(folders))}


def test_correlation(analyses):
    found = scale({"small": 1e9, "middle": 1e10, "large": 1e11}, analyses)
    assert found.figures["MCQ all"] == {"small": 0, "middle": 50, "large": 100}
    # A straight line in the logarithm of size: 1. In size itself, 1 10 100 with 0 50 100: deviations -36 -27 63 and
    # -50 0 50, r = (1800 + 3150) / sqrt((1296 + 729 + 3969) * 5000) = 4950 / 5474.5.
    assert found.correlations["MCQ all"].log == pytest.approx(1)
    assert found.correlations["MCQ all"].linear == pytest.approx(4950 / (5994 * 5000) ** 0.5)
    assert found.correlations["MCQ all"].spearman == pytest.approx(1)
    assert "MCQ CR" not in found.correlations


def test_two_models_are_too_few(analyses):
    found = scale({"small": 1e9, "large": 1e11}, analyses)
    assert found.correlations == {}
    assert found.unsized == ("middle",)


def test_models_of_one_size_have_no_correlation(analyses):
    found = scale(dict.fromkeys(MODELS, 7e9), analyses).correlations["MCQ all"]
    assert (found.log, found.linear, found.spearman) == (None, None, None)


def test_open_totals_of_different_judges_are_not_correlated(write_cmr):
    judges = {"small": "openai:a", "middle": "openai:b", "large": "openai:a"}
    folders = [
        write_cmr(
            name, model=name, mcq=replies, open={"q1": "5555"}, judge={"name": judges[name], "protocol": "med_cmr_open"}
        )
        for name, replies in MODELS.items()
    ]
    analyses = {source.model: analyse(source, resamples=0) for source in sources(runs.find(folders))}
    found = scale({"small": 1e9, "middle": 1e10, "large": 1e11}, analyses)
    assert found.mixed and "MCQ all" in found.figures and "Open all" not in found.figures
    assert "Open all" in scale({"small": 1e9, "large": 1e11}, analyses).figures


def test_name_that_is_none(analyses):
    with pytest.raises(UserError, match="'smal'"):
        scale({"smal": 1e9}, analyses)
