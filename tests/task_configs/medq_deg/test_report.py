"""The numbers of a run small enough to work out by hand (tests/medq_deg_runs.py has its questions and votes; T = 2)."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.task_configs.medq_deg.measures import (
    ACCURACY,
    CALIBRATION,
    CALIBRATION_CHANGE,
    FALL,
    RELIABILITY,
    dunning_kruger,
)


@pytest.fixture
def analysed(write_run, task_sets_of):
    """The only task set of a run."""

    def of(**chosen):
        (found,) = task_sets_of(write_run(**chosen))
        return found

    return of


@pytest.fixture
def whole(analysed):
    return analysed()


@pytest.fixture
def tables(write_run):
    """The tables of a run's report, row and column by name: the cells' values, percent as shares."""

    def of(**chosen):
        (part,) = build_report([write_run(**chosen)], ReportOptions(resamples=50, drawn=False)).parts
        found = {}
        for section in part.sections:
            for table in section.tables:
                texts = [column.kind == "text" for column in table.columns]
                for row in table.rows:
                    name = tuple(cell.value for cell, text in zip(row.cells, texts, strict=True) if text)
                    cells = zip(table.columns, row.cells, strict=True)
                    found.setdefault(table.key, {})[name] = {
                        column.name: cell.value / 100 if column.unit and cell.value is not None else cell.value
                        for column, cell in cells
                    }
        return found

    return of


@pytest.fixture
def shown(tables):
    return tables(name="shown")


def value(source, estimate, statistic=""):
    return source.interval(estimate, None, statistic).estimate


PERCEPTION, UNDERSTANDING = ("Imaging Perception (IP)",), ("Clinical Understanding (CU)",)
AVERAGE = ("Average over these",)


def test_accuracy_by_level(whole, shown):
    # L0: q1 AA is 2/2, q2 BA is 1/2: 0.75. L1: q1 AB is 1/2, q2 AA is 0/2: 0.25. L2: q1 BB and q2 A- are 0: 0.
    assert {level: value(whole, mean) for level, mean in ACCURACY.items()} == {0: 0.75, 1: 0.25, 2: 0}
    rows = shown["levels"].values()
    assert [row["accuracy"] for row in rows] == [0.75, 0.25, 0]
    assert [row["questions"] for row in rows] == [2, 2, 2]


def test_falls(whole, shown):
    # Table 6: 0.25 - 0.75 and 0 - 0.75.
    assert [row["minus L0"] for row in shown["levels"].values()] == [None, -0.5, -0.75]
    found = whole.interval(FALL[2])
    assert (found.estimate, found.low, found.reason) == (-0.75, None, FEW)  # two images


def test_pairs_weigh_questions_by_their_degraded_forms(tables):
    # Without q2 at L1: whole 0.5 - 0.75 = -0.25; in pairs q1 alone: 0.5 - 1 = -0.5.
    found = tables(trials={0: {"q1": "AA", "q2": "BA"}, 1: {"q1": "AB"}}, levels=[0, 1])
    assert found["levels"]["L1",]["minus L0"] == -0.25
    assert found["capabilities"][AVERAGE]["drop"] == 0.5


def test_capabilities(shown):
    # Imaging Perception is q1: (0.5 + 0) / 2 = 0.25 over L1 and L2, clean 1: change -0.75.
    # Clinical Understanding is q2: 0, clean 0.5: change -0.5. Average 0.125, change -0.625.
    found = shown["capabilities"]
    assert {name: row["questions"] for name, row in found.items() if row["questions"]} == {
        PERCEPTION: 2, UNDERSTANDING: 2, AVERAGE: 4,
    }  # fmt: skip
    of = ("accuracy", "accuracy at L0", "drop")
    assert [found[PERCEPTION][name] for name in of] == [0.25, 1, 0.75]
    assert [found[UNDERSTANDING][name] for name in of] == [0, 0.5, 0.5]
    assert [found[AVERAGE][name] for name in of] == [0.125, 0.75, 0.625]
    assert sum(row["accuracy"] is None for row in found.values()) == 4


def test_categories(shown):
    # q1 is noise, q2 resolution and blur: the same numbers as by capability.
    found = shown["categories"]
    known = {name: row["accuracy"] for (name,), row in found.items() if row["accuracy"] is not None}
    assert known == {"Noise": 0.25, "Resolution & Blur": 0, "Average over these": 0.125}
    assert found[AVERAGE]["drop"] == 0.625


def test_modalities_and_heat(shown):
    assert (shown["modalities"]["CT",]["L0"], shown["modalities"]["MRI",]["L0"]) == (1, 0.5)
    cell = shown["heatmap"]["L1", "gaussian_noise", "Imaging Perception"]
    assert (cell["accuracy"], cell["questions"], cell["accuracy at L0"], cell["drop"]) == (0.5, 1, 1, 0.5)
    assert ("L1", "gaussian_noise", "Clinical Understanding") not in shown["heatmap"]


def test_confidence_and_shift(whole):
    # C = 1 - H / log K. L0: q1 unanimous 1; q2 one to one of two options: H = log 2, C = 0. Mean 0.5, shift -0.25.
    # L1: q1 one to one of four: H / log 4 = 0.5, C = 0.5; q2 unanimous 1. Mean 0.75, shift 0.5.
    # L2: q1 unanimous 1; q2 A against unreadable, two options: C = 0. Mean 0.5, shift 0.5.
    found = {
        level: (value(whole, estimate, "confidence"), value(whole, estimate)) for level, estimate in CALIBRATION.items()
    }
    assert found == {0: (0.5, -0.25), 1: (0.75, 0.5), 2: (0.5, 0.5)}
    assert value(whole, CALIBRATION_CHANGE[2]) == 0.75


def test_accuracy_has_one_interval_where_levels_are_of_unequal_images(analysed):
    letters = ["AA", "AB", "BB", "AA", "BA", "AB", "AA", "BB"]
    questions = {f"q{n}": (f"image {n}", "CT", "Counting", "gaussian_noise", 4, "A") for n in range(8)}
    clean = {f"q{n}": letters[n] for n in range(8)}
    severe = {f"q{n}": letters[-n] for n in range(3)}
    found = analysed(questions=questions, trials={0: clean, 2: severe}, levels=[0, 2])
    assert [found.interval(ACCURACY[level]).clusters for level in (0, 2)] == [8, 3]
    for level in (0, 2):
        assert found.interval(ACCURACY[level]) == found.interval(CALIBRATION[level], None, "accuracy")


def test_calibration_errors(whole):
    # L0, share of the majority: q1 1 and right; q2 0.5 and right in half the draws: both gaps 0.
    assert value(whole, RELIABILITY[0]) == 0
    # L2: q1 1 and wrong, gap 1; q2 0.5 and wrong (B has no vote), gap 0.5: mean 0.75. Brier (1 + 0.25) / 2.
    assert value(whole, RELIABILITY[2]) == 0.75
    assert value(whole, RELIABILITY[2], "brier") == 0.625


def test_chance_confidence(shown):
    # Two votes agree by chance in 1/K, then C = 1; else H = log 2. K = 4: 1/4 + 3/4 * (1 - 1/2) = 0.625.
    # K = 2: 1/2 + 1/2 * 0 = 0.5. Mean 0.5625.
    assert shown["calibration"]["L0",]["C by guessing"] == pytest.approx(0.5625)


def test_agreement_of_trials(shown):
    # L0: AA agrees, BA does not: 0.5; accuracy 0.75. L2: BB agrees, A- does not; accuracy 0.
    found = shown["calibration_errors"]
    names = ("agreement", "agreement less accuracy", "agreement less accuracy, minus L0")
    assert [found["L0",][name] for name in names] == [0.5, -0.25, None]
    assert [found["L2",][name] for name in names] == [0.5, 0.5, 0.75]
    # Of the paper's C (0.5 at L0, as above) the shift of calibrated replies is C less agreement, 0.
    assert [shown["calibration"][level,]["shift if calibrated"] for level in ("L0", "L1", "L2")] == [0, 0.25, 0]


def test_one_trial_has_no_confidence_but_a_report(tables):
    trials = {level: {"q1": "A", "q2": "B"} for level in (0, 2)}
    found = tables(trials=trials, levels=[0, 2])
    assert found["calibration_errors"]["L0",]["agreement"] is None
    assert found["calibration"]["L0",]["shift if calibrated"] is None
    assert {(row["p"], row["yes if nothing changes"]) for row in found["dke"].values()} == {(None, None)}


def test_levels_of_different_t_have_no_test_of_equation_5(write_run):
    trials = {0: {"q1": "AAAA", "q2": "BABA"}, 2: {"q1": "BB", "q2": "AB"}}
    document = build_report(
        [write_run(trials=trials, levels=(0, 2), together=True)], ReportOptions(resamples=20, drawn=False)
    )
    (section,) = (each for part in document.parts for each in part.sections if each.key == "calibration")
    assert "dke" not in {table.key for table in section.tables}
    assert any("T = 2 and T = 4" in text for text in section.paragraphs)


def test_equation_5_stands_beside_what_no_change_shows(shown):
    # Changes of accuracy and shift (C 1 and 0 at both levels): q1 -1 and 1, q2 -0.5 and 0.5. Of the four exchanges of
    # two images equation 5 holds in two: as it is, and with q2 exchanged (-0.5 and 0.5).
    row = shown["dke"]["each question with its own clean form", "yes"]
    assert (row["questions or pairs"], row["images"]) == (2, 2)
    assert row["yes if nothing changes"] == pytest.approx(0.5, abs=0.04)
    for name in ("p", "p, accuracy falls", "p, shift rises"):
        assert row[name] == pytest.approx(0.25, abs=0.04)
    whole = shown["dke"]["all questions of both levels", "yes"]
    assert whole["p"] is None


def test_dunning_kruger(whole):
    # Accuracy 0.75 to 0, shift -0.25 to 0.5: equation 5 holds.
    found = dunning_kruger(whole.rows)
    assert found.whole.holds
    assert found.paired.holds
    assert found.pairs == 2


def test_replies(shown):
    # L2: A- and BB: three of four replies could be read, and all three are wrong.
    row = shown["replies"]["L2",]
    assert (row["right"], row["wrong"], row["unreadable"]) == (0, 3, 1)


def test_failed_requests_count_as_nothing(tables):
    # L0: q1 A! is 1/1, q2 !! has no score: accuracy 1 over one question.
    found = tables(trials={0: {"q1": "A!", "q2": "!!"}}, levels=[0])
    assert [found["levels"]["L0",][name] for name in ("accuracy", "questions")] == [1, 1]
    assert found["replies"]["L0",]["failed"] == 3
    assert found["calibration"]["L0",]["questions"] == 1


def test_one_level_only(tables):
    found = tables(levels=[0])
    assert not {"capabilities", "categories", "degradations", "heatmap", "dke", "table2"} & set(found)
    assert found["levels"]["L0",]["minus L0"] is None
    found = tables(levels=[2], name="degraded only")
    assert found["capabilities"][AVERAGE]["accuracy"] == 0
    for name in (AVERAGE, PERCEPTION):
        assert (found["capabilities"][name]["accuracy at L0"], found["capabilities"][name]["drop"]) == (None, None)
    assert found["levels"]["L2",]["minus L0"] is None
    assert "dke" not in found
    assert found["calibration"]["L2",]["shift minus L0"] is None


def test_degraded_questions_without_their_clean_forms(tables):
    questions = {
        "q1": ("a", "CT", "Counting", "gaussian_noise", 4, "A"),
        "q3": ("c", "CT", "Counting", "gaussian_noise", 4, "A"),
    }
    found = tables(questions=questions, trials={0: {"q3": "AA"}, 1: {"q1": "AB"}}, levels=[0, 1])
    for table, name in (("capabilities", PERCEPTION), ("categories", ("Noise",)), ("capabilities", AVERAGE)):
        row = found[table][name]
        assert (row["accuracy"], row["accuracy at L0"], row["drop"]) == (0.5, None, None)
    row = next(row for row in found["table2"].values())
    assert (row["IP"], row["IP drop"], row["Avg."], row["drop"]) == (50, None, 50, None)
    assert found["degradations"]["Noise", "gaussian_noise", "L1"]["drop"] is None
    assert found["levels"]["L1",]["minus L0"] == -0.5


def test_unmapped_capability_is_in_no_group(tables):
    questions = {"q1": ("a", "CT", "Tea Making", "gaussian_noise", 4, "A")}
    found = tables(questions=questions, trials={1: {"q1": "AB"}, 2: {"q1": "AA"}}, levels=[1, 2])["capabilities"]
    assert {row["questions"] for row in found.values()} == {0}
    assert found[AVERAGE]["accuracy"] is None
