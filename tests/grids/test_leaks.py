"""The tests behind the leak check, on made-up features."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from lmms_medtasks.grids import leaks
from lmms_medtasks.grids.leaks import RESOLUTION, GridFeatures, LeakTest, PanelFeatures
from lmms_medtasks.seeding import seeded_generator


def grids(count=40, panels=4, kind="category", **told):
    """Grids of random features; a feature in ``told`` is larger by that much in the outlier."""
    found = []
    for number in range(count):
        rng = seeded_generator("test leaks", kind, panels, number)
        outlier = int(rng.integers(panels))
        rows = [{name: float(rng.normal(0, 10 * RESOLUTION[name])) for name in RESOLUTION} for _ in range(panels)]
        for name in ("image size", "aspect ratio", "JPEG quality", "letterboxed"):
            for row in rows:
                row[name] = 1.0
        for name, amount in told.items():
            rows[outlier][name.replace("_", " ")] += amount
        found.append(PanelFeatures(rows, outlier, kind))
    return found


def leaking(rows):
    return {(row.feature, row.over) for row in rows if row.leak}


def rows_of(panels, wholes=(), questions=()):
    return leaks.run_leak_tests(panels, wholes, questions)


def test_nothing_leaks_where_nothing_does():
    assert leaking(rows_of(grids())) == set()


@pytest.mark.parametrize("name", ["file size", "mean brightness", "standard deviation"])
def test_a_feature_that_tells_is_named(name):
    rows = rows_of(grids(**{name.replace(" ", "_"): 100 * RESOLUTION[name]}))
    assert (name, "all") in leaking(rows)
    row = next(row for row in rows if row.feature == name)
    assert row.rate > 0.9 and row.chance == 0.25 and row.grids == 40


def test_a_leak_in_one_kind_is_found_among_others():
    mixed = grids(40, kind="integrity", mean_brightness=50) + grids(120, kind="orientation")
    found = leaking(rows_of(mixed))
    assert ("mean brightness", "integrity") in found
    assert ("mean brightness", "orientation") not in found


def test_several_weak_features_tell_together():
    """Each feature is a little larger in the outlier: what none tells alone, the classifier does."""
    names = ("file size", "mean brightness", "standard deviation", "source file size")
    weak = grids(150, **{name.replace(" ", "_"): 11 * RESOLUTION[name] for name in names})
    rate = {row.feature: row.rate for row in rows_of(weak)}
    together = next(row for row in rows_of(weak) if row.feature == leaks.TOGETHER)
    assert together.leak
    assert together.rate > max(rate[name] for name in names)


def test_entropy_counts_only_where_the_outlier_shows_the_same():
    for kind, counts in (("category", False), ("integrity", True)):
        rows = rows_of(grids(entropy=1.0, kind=kind) + grids(kind="orientation"))
        row = next(row for row in rows if row.feature == "entropy" and row.over == kind)
        assert row.rate > 0.9
        assert (row.counts, row.leak) == (counts, counts)


def test_source_files_count_unless_panels_were_made_alike():
    alike = rows_of(grids(source_file_size=1.0))
    assert leaking(alike) == set()
    assert next(row for row in alike if row.feature == "source file size").rate > 0.9
    different = grids(source_file_size=1.0)
    different[0].features[0]["JPEG quality"] = 50.0
    assert ("source file size", "all") in leaking(rows_of(different))


def test_positions():
    even = [replace(grid, outlier=number % 4) for number, grid in enumerate(grids())]
    assert ("position", "all") not in leaking(rows_of(even))
    assert ("position", "all") in leaking(rows_of([replace(grid, outlier=0) for grid in even[:25]] + even[25:]))


def test_presence_by_the_whole_picture_and_by_the_wording():
    rng = seeded_generator("test wholes")
    wholes = [
        GridFeatures({"grid file size": float(rng.normal(1000 + 300 * (i % 2), 50))}, bool(i % 2)) for i in range(60)
    ]
    said = [("detection_mcq", "One is." if i % 2 else "If one is.", not i % 2) for i in range(40)]
    same = [("detection_open", "At most one.", bool(i % 2)) for i in range(40)]
    only = [("referring_mcq", "Where?", False)] * 10
    found = leaking(rows_of(grids(), wholes, [*said, *same, *only]))
    assert ("grid file size", "all") in found
    assert ("wording of detection_mcq", "all") in found
    assert ("wording of detection_open", "all") not in found
    assert not any("referring" in name for name, _ in found)


def test_probability_of_at_least_so_many():
    assert leaks.at_least(0, [0.25] * 5) == pytest.approx(1)
    assert leaks.at_least(7, [0.25] * 20) == pytest.approx(binomtest(7, 20, 0.25, alternative="greater").pvalue)
    # Of 1/4 and 1/9, one or more: 1 - 3/4 * 8/9 = 1/3.
    assert leaks.at_least(1, [1 / 4, 1 / 9]) == pytest.approx(1 / 3)


def test_holm_by_hand():
    rows = [
        LeakTest("outlier", name, grids=9, rate=0.5, chance=0.25, p=p)
        for name, p in zip("abc", (0.01, 0.04, 0.03), strict=True)
    ]
    rows.append(LeakTest("outlier", "told only", grids=9, rate=0.5, chance=0.25, p=1e-9, counts=False))
    rows.append(LeakTest("outlier", "untested", grids=0))
    found = leaks.adjust_p_values(rows, 0.05)
    # 0.01 * 3 = 0.03; 0.03 * 2 = 0.06; 0.04 * 1 = 0.04, but never below the one before: 0.06.
    assert [row.adjusted for row in found[:3]] == pytest.approx([0.03, 0.06, 0.06])
    assert [row.leak for row in found] == [True, False, False, False, False]
    assert found[3].adjusted is None


def test_most_unlike():
    rng = seeded_generator("test")
    assert leaks.most_unlike([5, 1, 1.2, 0.9], 0.5, rng) == 0
    # 1.0 and 1.4 count as equal: either end is as far.
    assert {leaks.most_unlike([0.0, 1.0, 1.0, 2.1], 0.5, seeded_generator("lot", i)) for i in range(50)} == {0, 3}


def test_equal_values_are_not_tested():
    rows = rows_of([PanelFeatures([dict.fromkeys(RESOLUTION, 1.0)] * 4, i % 4, "category") for i in range(40)])
    assert all(row.grids == 0 for row in rows if row.tells == "outlier" and row.feature in RESOLUTION)
    assert not leaking(rows)


def test_the_classifier_never_sees_the_grid_it_judges():
    """On random features it is at chance; the rate over several sets stays within five standard errors of 1/4."""
    hits = list(itertools.chain.from_iterable(
        leaks.classify_outliers(grids(60, kind=f"kind {i}"), list(RESOLUTION)) for i in range(4)
    ))  # fmt: skip
    assert abs(np.mean(hits) - 0.25) < 5 * (0.25 * 0.75 / len(hits)) ** 0.5


def test_table_and_sentence():
    rows = rows_of(grids(mean_brightness=50))
    lines = []
    leaks.write_leak_table(rows, lines.append)
    assert len(lines) == 1 + len(rows)
    assert any("mean brightness" in line and line.endswith("LEAK") for line in lines)
    assert "mean brightness tells the outlier (all: 1.00, chance 0.25)" in leaks.describe_leaks(
        [r for r in rows if r.leak]
    )
