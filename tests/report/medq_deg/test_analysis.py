"""The numbers of a run small enough to work out by hand (conftest.py has its questions and votes; T = 2)."""

import pytest

from lmms_medtasks.report.medq_deg import reading
from lmms_medtasks.report.medq_deg.analysis import analyse
from lmms_medtasks.samples import runs as report_runs


@pytest.fixture
def analysed(write_run):
    def of(**chosen):
        (run,) = report_runs.find([write_run(**chosen)])
        (found,) = reading.task_sets(run)
        return analyse(found, resamples=50)

    return of


@pytest.fixture
def whole(analysed):
    return analysed()


def test_accuracy_by_level(whole):
    # L0: q1 AA is 2/2, q2 BA is 1/2: 0.75. L1: q1 AB is 1/2, q2 AA is 0/2: 0.25. L2: q1 BB and q2 A- are 0: 0.
    assert {level: found.accuracy.mean.estimate for level, found in whole.levels.items()} == {0: 0.75, 1: 0.25, 2: 0}
    assert [found.questions for found in whole.levels.values()] == [2, 2, 2]
    assert [found.images for found in whole.levels.values()] == [2, 2, 2]


def test_falls(whole):
    # Table 6: 0.25 - 0.75 and 0 - 0.75. Paired: every question has one degraded form, so the same.
    for kind in ("whole", "paired"):
        assert getattr(whole.falls[1], kind).change.estimate == -0.5
        assert getattr(whole.falls[2], kind).change.estimate == -0.75
    # Drawing q1's image twice gives 0 - 1 at L2, q2's gives 0 - 0.5: the interval is between them.
    assert -1 <= whole.falls[2].whole.change.low <= -0.75 <= whole.falls[2].whole.change.high <= -0.5


def test_pairs_weigh_questions_by_their_degraded_forms(analysed):
    # Without q2 at L1: whole 0.5 - 0.75 = -0.25; paired is q1 alone: 0.5 - 1 = -0.5.
    found = analysed(trials={0: {"q1": "AA", "q2": "BA"}, 1: {"q1": "AB"}}, levels=[0, 1])
    assert found.falls[1].whole.change.estimate == -0.25
    assert found.falls[1].paired.change.estimate == -0.5


def test_capabilities(whole):
    # Imaging Perception is q1: (0.5 + 0) / 2 = 0.25 over L1 and L2, clean 1: change -0.75.
    # Clinical Understanding is q2: 0, clean 0.5: change -0.5. Average 0.125, change -0.625.
    found = whole.capabilities
    assert set(found.groups) == {"Imaging Perception", "Clinical Understanding"}
    perception, understanding = found.groups["Imaging Perception"], found.groups["Clinical Understanding"]
    assert (perception.accuracy.mean.estimate, perception.change.change.estimate) == (0.25, -0.75)
    assert (understanding.accuracy.mean.estimate, understanding.change.change.estimate) == (0, -0.5)
    assert (found.average.mean.estimate, found.average_change.change.estimate) == (0.125, -0.625)
    assert len(found.average.missing) == 4


def test_categories(whole):
    # q1 is noise, q2 resolution and blur: the same numbers as by capability.
    found = whole.categories
    assert {name: group.accuracy.mean.estimate for name, group in found.groups.items()} == {
        "noise": 0.25,
        "resolution_blur": 0,
    }
    assert found.average_change.change.estimate == -0.625


def test_modalities_and_heat(whole):
    assert whole.modalities[0]["CT",].mean.estimate == 1
    assert whole.modalities[0]["MRI",].mean.estimate == 0.5
    cell = whole.heat[1]["gaussian_noise", "Imaging Perception"]
    assert (cell.accuracy.mean.estimate, cell.accuracy.mean.n, cell.change.change.estimate) == (0.5, 1, -0.5)
    assert ("gaussian_noise", "Clinical Understanding") not in whole.heat[1]


def test_confidence_and_shift(whole):
    # C = 1 - H / log K. L0: q1 unanimous 1; q2 one to one of two options: H = log 2, C = 0. Mean 0.5, shift -0.25.
    # L1: q1 one to one of four: H / log 4 = 0.5, C = 0.5; q2 unanimous 1. Mean 0.75, shift 0.5.
    # L2: q1 unanimous 1; q2 A against unreadable, two options: C = 0. Mean 0.5, shift 0.5.
    found = {
        level: (each.intervals.confidence.estimate, each.intervals.shift.estimate)
        for level, each in whole.calibration.items()
    }
    assert found == {0: (0.5, -0.25), 1: (0.75, 0.5), 2: (0.5, 0.5)}
    assert whole.calibration[2].change.shift.estimate == 0.75


def test_accuracy_has_one_interval_where_levels_are_of_unequal_images(analysed):
    letters = ["AA", "AB", "BB", "AA", "BA", "AB", "AA", "BB"]
    questions = {f"q{n}": (f"image {n}", "CT", "Counting", "gaussian_noise", 4, "A") for n in range(8)}
    clean = {f"q{n}": letters[n] for n in range(8)}
    severe = {f"q{n}": letters[-n] for n in range(3)}
    found = analysed(questions=questions, trials={0: clean, 2: severe}, levels=[0, 2])
    assert [found.levels[level].images for level in (0, 2)] == [8, 3]
    for level in (0, 2):
        assert found.levels[level].accuracy.mean == found.calibration[level].intervals.accuracy


def test_calibration_errors(whole):
    # L0, share of the majority: q1 1 and right; q2 0.5 and right in half the draws: both gaps 0.
    assert whole.calibration[0].share.ece.estimate == 0
    # L2: q1 1 and wrong, gap 1; q2 0.5 and wrong (B has no vote), gap 0.5: mean 0.75. Brier (1 + 0.25) / 2.
    assert whole.calibration[2].share.ece.estimate == 0.75
    assert whole.calibration[2].share.brier.estimate == 0.625


def test_chance_confidence(whole):
    # Two votes agree by chance in 1/K, then C = 1; else H = log 2. K = 4: 1/4 + 3/4 * (1 - 1/2) = 0.625.
    # K = 2: 1/2 + 1/2 * 0 = 0.5. Mean 0.5625.
    # Shift: less the accuracy of guessing, (1/4 + 1/2) / 2 = 0.375.
    assert whole.calibration[0].chance.confidence == pytest.approx(0.5625)
    assert whole.calibration[0].chance.shift == pytest.approx(0.1875)


def test_dunning_kruger(whole):
    # Accuracy 0.75 to 0, shift -0.25 to 0.5: equation 5 holds.
    assert whole.dke.whole.holds
    assert whole.dke.paired.holds
    assert whole.dke.pairs == 2


def test_replies(whole):
    # L2: A- and BB: three of four replies could be read. L0: AA is identical, BA is not.
    assert whole.levels[2].parse_rate == 0.75
    assert whole.levels[2].unreadable == 1
    assert whole.levels[0].identical == 0.5


def test_failed_requests_count_as_nothing(analysed):
    # L0: q1 A! is 1/1, q2 !! has no score: accuracy 1 over one question.
    found = analysed(trials={0: {"q1": "A!", "q2": "!!"}}, levels=[0]).levels[0]
    assert found.accuracy.mean.estimate == 1
    assert (found.accuracy.mean.n, found.accuracy.unscored, found.failed) == (1, 1, 3)


def test_one_level_only(analysed):
    found = analysed(levels=[0])
    assert found.capabilities is found.categories is found.dke is None
    assert found.falls == {}
    found = analysed(levels=[2], name="degraded only")
    assert found.capabilities.average.mean.estimate == 0
    assert found.capabilities.average_change is None
    assert found.capabilities.groups["Imaging Perception"].change is None
    assert found.dke is None
    assert found.calibration[2].change is None


def test_degraded_questions_without_their_clean_forms(analysed):
    # Another clean question of the same capability: groups can be compared as a whole, degradations can't.
    questions = {
        "q1": ("a", "CT", "Counting", "gaussian_noise", 4, "A"),
        "q3": ("c", "CT", "Counting", "gaussian_noise", 4, "A"),
    }
    found = analysed(questions=questions, trials={0: {"q3": "AA"}, 1: {"q1": "AB"}}, levels=[0, 1])
    assert found.paired == 0
    assert not found.capabilities.paired
    assert found.capabilities.groups["Imaging Perception"].change.change.estimate == -0.5
    assert found.categories.groups["noise"].accuracy.mean.estimate == 0.5
    assert found.categories.groups["noise"].change is None
    assert found.categories.average_change is None
    assert found.degradations[1]["gaussian_noise",].change is None
    assert found.falls[1].whole.change.estimate == -0.5
    assert found.falls[1].paired.change.estimate is None


def test_unmapped_capability_is_counted_and_in_no_group(analysed):
    questions = {"q1": ("a", "CT", "Tea Making", "gaussian_noise", 4, "A")}
    found = analysed(questions=questions, trials={1: {"q1": "AB"}, 2: {"q1": "AA"}}, levels=[1, 2])
    assert found.capabilities.unmapped == {"Tea Making": 2}
    assert found.capabilities.groups == {}
    assert found.capabilities.average.mean.estimate is None
