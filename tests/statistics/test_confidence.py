"""One level for intervals, tests and what is said of them, and no number of it anywhere else."""

import re
from pathlib import Path

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.document import Frame
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import estimate_mean
from lmms_medtasks.statistics.power import TestCriterion
from lmms_medtasks.statistics.rank_intervals import rank_intervals

ROOT = Path(__file__).parents[2]
PACKAGES = ("lmms_medtasks", "task_configs", "judges", "degradations")
IN_WORDS = re.compile(r"\b95 ?%|\b95 per ?cent")
AS_NUMBER = re.compile(r"(?<![\w.])0?\.(?:95|05|975|025)(?!\d)")
SPELLED = {"lmms_medtasks/statistics/confidence.py", "task_configs/bones_joints/measures.py"}
"""The setting itself; and a metric that the paper prints at this level, whatever a report's is."""
OTHER = {
    "lmms_medtasks/suites/common_metrics.py",  # share of identical trials
    "lmms_medtasks/suites/judged_measures.py",  # share of judgements
    "task_configs/medq_deg/report.py",  # share of identical trials
    "task_configs/sure_vqa/report.py",  # a standard error
    "lmms_medtasks/report/charts/plane_panels.py",  # a place in a chart
}
"""Files whose numbers of this kind are of something else, or the paper's."""
MAKERS = ("statistics", "report", "board", "suites", "interface", "samples", "cli", "agreement")


def sources(*endings):
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in endings:
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def test_no_text_of_the_code_has_the_level_in_words():
    found = {name for name, text in sources(".py", ".html", ".js") if IN_WORDS.search(text)}
    assert found == SPELLED


def test_no_number_of_the_code_is_the_level_or_alpha():
    def makes_numbers(name):
        return name.startswith(tuple(f"lmms_medtasks/{each}/" for each in MAKERS)) or (
            name.startswith("task_configs/") and re.search(r"/(report\w*|measures)\.py$", name)
        )

    found = {name for name, text in sources(".py") if makes_numbers(name) and AS_NUMBER.search(text)}
    assert found - {"lmms_medtasks/statistics/confidence.py"} == OTHER


@pytest.mark.parametrize("level", [0, 0.15, 0.9999999999999999, 1, 95, -0.5, float("nan"), True, "0.9", None])
def test_a_level_is_from_a_half_to_almost_1(level):
    with pytest.raises(UserError, match=r"confidence is .*from 0.5 to 0.9999") as raised, confidence.use_level(level):
        pass
    assert ("For 95 % say 0.95" in str(raised.value)) == (level == 95)
    assert confidence.current_level() == confidence.DEFAULT


def test_numbers_and_texts_are_of_the_level_within_and_of_the_usual_one_after():
    scores, images = np.arange(40) % 3 / 2, [str(number // 2) for number in range(40)]
    sums = np.random.default_rng(0).normal(size=(12, 3)) + [0.0, 0.45, 0.9]
    usual = estimate_mean(images, scores)
    with confidence.use_level(0.9):
        found = estimate_mean(images, scores)
        assert found == estimate_mean(images, scores, level=0.9) and found.level == 0.9
        assert (rank_intervals(sums).better == (rank_intervals(sums).p <= 0.1)).all()
        assert TestCriterion().alpha == confidence.current_alpha() == 0.1
        text = f"{confidence.LEVEL}, p < {confidence.ALPHA}, in {confidence.ERROR}"
        table = Frame("key", "title", (), (), (text,), published_notes=(text,))
        assert table.notes == table.published_notes == ("90 %, p < 0.1, in 10 %",)
    assert usual.low < found.low and found.high < usual.high
    assert estimate_mean(images, scores) == usual
    assert confidence.fill_in_level(text) == "95 %, p < 0.05, in 5 %"
