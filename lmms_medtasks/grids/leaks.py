"""Tests against chance of whether trivial features tell the outlier, or a grid with an outlier from one without.

A feature tells the outlier if the panel that differs most in it is the outlier more often than one in n panels (exact
binomial test; Poisson-binomial over grids of several sizes). All features together tell it if a classifier on their
ranks within a grid, judged by cross-validation, finds it more often. P values of all rows that count are adjusted by
Holm's method.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import significance

if TYPE_CHECKING:
    from PIL.Image import Image

RESOLUTION: Mapping[str, float] = {
    "file size": 0.005,
    "mean brightness": 0.5,
    "standard deviation": 0.5,
    "entropy": 0.02,
    "colourfulness": 0.5,
    "image size": 0.5,
    "aspect ratio": 0.01,
    "JPEG quality": 0.5,
    "letterboxed": 0.5,
    "source file size": 0.005,
    "source image size": 0.5,
}
"""Feature -> the difference below which two panels count as equal: levels, bits, pixels (image size is the geometric
mean of the sides); for file sizes a part of the size."""

INVISIBLE = ("source file size", "source image size")
"""Facts about a source file that the picture no longer shows once all panels have one resolution."""

CONTENT = ("entropy", "colourfulness")
"""Features that follow from what a picture shows (how much air, how much tissue, stained or not). Where the outlier
shows something else by intention they are the signal: reported, and no reason to refuse a set."""

SAME_CONTENT = ("orientation", "integrity")
"""The kinds of outlier that show the same as the inliers, where these have nothing to tell."""


class PixelFeatures(NamedTuple):
    """Of the luminance: file size in bytes as a PNG alone, mean and standard deviation in levels, entropy in bits."""

    bytes: int
    mean: float
    deviation: float
    entropy: float


def measure_pixels(panel: Image) -> PixelFeatures:
    grey = np.asarray(panel.convert("L"))
    share = np.bincount(grey.ravel(), minlength=256) / grey.size
    share = share[share > 0]
    entropy = float(-(share * np.log2(share)).sum())
    return PixelFeatures(file_size(panel), float(grey.mean()), float(grey.std()), entropy)


def file_size(panel: Image) -> int:
    """Bytes of the picture's luminance as a PNG file: its colours are a feature of their own."""
    buffer = io.BytesIO()
    panel.convert("L").save(buffer, "PNG", compress_level=1)
    return len(buffer.getvalue())


def colourfulness(panel: Image) -> float:
    """Mean difference of the largest and the smallest channel, in levels."""
    pixels = np.asarray(panel, dtype=np.int16)
    return float((pixels.max(axis=2) - pixels.min(axis=2)).mean())


def measure_panel(panel: Image, record: Mapping[str, Any]) -> dict[str, float]:
    """All features of a panel: from its pixels, and from what the manifest says of its source and its making."""
    pixels = measure_pixels(panel)
    content, source = record["content"], record["source"]
    return {
        "file size": float(np.log(pixels.bytes)),
        "mean brightness": pixels.mean,
        "standard deviation": pixels.deviation,
        "entropy": pixels.entropy,
        "colourfulness": colourfulness(panel),
        "image size": float(np.sqrt(content["width"] * content["height"])),
        "aspect ratio": float(np.log(content["width"] / content["height"])),
        "JPEG quality": float(content["quality"]),
        "letterboxed": float(content["letterboxed"]),
        "source file size": float(np.log(source["bytes"])),
        "source image size": float(np.sqrt(source["width"] * source["height"])),
    }


ALPHA = 0.01
"""Adjusted p value below which a set is refused: a clean set is refused once in a hundred."""

TOGETHER = "all features together"
FOLDS = 5
FEWEST = 20
"""Grids that the classifier needs."""

RIDGE = 1.0
"""Penalty on the classifier's squared weights."""


@dataclass(frozen=True)
class PanelFeatures:
    """The features of one grid's panels in order, which one is the outlier, and the item's kind."""

    features: Sequence[Mapping[str, float]]
    outlier: int
    kind: str


@dataclass(frozen=True)
class GridFeatures:
    """Features of a whole grid picture, and whether it has an outlier."""

    features: Mapping[str, float]
    positive: bool


@dataclass(frozen=True)
class LeakTest:
    """One test. ``over``: "all" grids or those of one kind; ``rate`` is to be compared with ``chance``; ``p`` and
    ``adjusted`` are None where nothing could be tested. ``counts``: a leak here refuses the set."""

    tells: str
    feature: str
    _: KW_ONLY
    over: str = "all"
    grids: int
    rate: float | None = None
    chance: float | None = None
    p: float | None = None
    adjusted: float | None = None
    leak: bool = False
    counts: bool = True

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def run_leak_tests(
    grids: Sequence[PanelFeatures],
    wholes: Sequence[GridFeatures],
    questions: Sequence[tuple[str, str, bool]],
    *,
    alpha: float = ALPHA,
) -> list[LeakTest]:
    """All rows, adjusted. ``questions`` are (task type, text, is negative)."""
    rows = [row for over, chosen in _group_by_kind(grids) for row in _outlier_rows(over, chosen, _are_equalised(grids))]
    rows += [_position_row(grids), *_sign_rows(wholes), *_wording_rows(questions)]
    return adjust_p_values(rows, alpha)


def adjust_p_values(rows: Sequence[LeakTest], alpha: float) -> list[LeakTest]:
    """``rows`` with Holm-adjusted p values over those that count, and ``leak`` where they are below ``alpha``."""
    adjusted = significance.adjust_known_p_values([row.p if row.counts else None for row in rows])
    return [replace(row, adjusted=p, leak=p is not None and p < alpha) for row, p in zip(rows, adjusted, strict=True)]


def _group_by_kind(grids: Sequence[PanelFeatures]) -> list[tuple[str, list[PanelFeatures]]]:
    kinds = sorted({grid.kind for grid in grids})
    groups = [("all", list(grids))]
    return groups + [(kind, [g for g in grids if g.kind == kind]) for kind in kinds if len(kinds) > 1]


def _are_equalised(grids: Sequence[PanelFeatures]) -> bool:
    """Whether in every grid all panels went through one size and one JPEG quality."""
    names = ("image size", "aspect ratio", "JPEG quality")
    return all(len({tuple(p[name] for name in names) for p in grid.features}) == 1 for grid in grids)


def _outlier_rows(over: str, grids: Sequence[PanelFeatures], equalised: bool) -> list[LeakTest]:
    rows = []
    counting = [name for name in RESOLUTION if _does_count(name, over, equalised)]
    for name, resolution in RESOLUTION.items():
        hits, chances = [], []
        for number, grid in enumerate(grids):
            values = [panel[name] for panel in grid.features]
            if max(values) - min(values) > resolution:  # all alike: there is nothing to go by
                hits.append(most_unlike(values, resolution, _lot_generator(over, name, number)) == grid.outlier)
                chances.append(1 / len(values))
        rows.append(_outlier_row(name, over, hits, chances, name in counting))
    if len(grids) >= FEWEST:
        chances = [1 / len(grid.features) for grid in grids]
        rows.append(_outlier_row(TOGETHER, over, classify_outliers(grids, counting), chances))
    return rows


def _does_count(name: str, over: str, equalised: bool) -> bool:
    """Whether a feature that tells the outlier refuses a set."""
    if name in INVISIBLE:
        return not equalised
    return name not in CONTENT or over in SAME_CONTENT


def _lot_generator(*parts: str | int) -> np.random.Generator:
    return seeded_generator("grids leak check", *parts)


def _outlier_row(
    feature: str, over: str, hits: Sequence[bool], chances: Sequence[float], counts: bool = True
) -> LeakTest:
    if not hits:
        return LeakTest("outlier", feature, over=over, grids=0, counts=counts)
    return LeakTest(
        "outlier",
        feature,
        over=over,
        grids=len(hits),
        rate=float(np.mean(hits)),
        chance=float(np.mean(chances)),
        p=at_least(sum(hits), chances),
        counts=counts,
    )


def at_least(hits: int, chances: Sequence[float]) -> float:
    """The probability of at least ``hits`` successes in independent trials with the probabilities ``chances``.

    >>> round(at_least(2, [0.5, 0.5]), 3)
    0.25
    """
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(min(1.0, distribution[hits:].sum()))


def most_unlike(values: Sequence[float], resolution: float, rng: np.random.Generator) -> int:
    """The index of the value furthest from the median of the others; equals (within ``resolution``) draw lots."""
    array = np.asarray(values, dtype=np.float64)
    distances = np.array([abs(array[i] - np.median(np.delete(array, i))) for i in range(len(array))])
    candidates = np.flatnonzero(distances >= distances.max() - resolution)
    return int(candidates[int(rng.integers(len(candidates)))])


def classify_outliers(grids: Sequence[PanelFeatures], names: Sequence[str]) -> list[bool]:
    """For every grid, whether a classifier trained on the grids of the other folds picks its outlier.

    A conditional logit over a grid's panels (softmax of a linear score) with a ridge penalty; its inputs are, for each
    feature, the panel's rank among the grid's, from -1 to 1, and how far the rank is from the middle.
    """
    inputs = [_rank_inputs(grid, names) for grid in grids]
    order = _lot_generator("folds").permutation(len(grids))
    hits = [False] * len(grids)
    for fold in range(FOLDS):
        held = {int(i) for i in order[fold::FOLDS]}
        train = [i for i in range(len(grids)) if i not in held]
        weights = _fit_weights([inputs[i] for i in train], [grids[i].outlier for i in train])
        for i in sorted(held):
            scores = inputs[i] @ weights
            best = np.flatnonzero(scores >= scores.max() - 1e-9)
            hits[i] = int(best[int(_lot_generator("tie", i).integers(len(best)))]) == grids[i].outlier
    return hits


def _rank_inputs(grid: PanelFeatures, names: Sequence[str]) -> NDArray[np.float64]:
    columns = []
    for name in names:
        values = np.array([panel[name] for panel in grid.features])
        above = values[:, None] > values[None, :] + RESOLUTION[name]
        rank = (above.sum(axis=1) - above.sum(axis=0)) / (len(values) - 1)
        columns += [rank, np.abs(rank) - np.abs(rank).mean()]
    return np.stack(columns, axis=1)


def _fit_weights(inputs: Sequence[NDArray[np.float64]], outliers: Sequence[int]) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    def penalised_loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for x, outlier in zip(inputs, outliers, strict=True):
            scores = x @ weights
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            value -= float(np.log(shares[outlier]))
            slope = slope + shares @ x - x[outlier]
        return value, slope

    solution = minimize(penalised_loss, np.zeros(inputs[0].shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(solution.x)


def _position_row(grids: Sequence[PanelFeatures]) -> LeakTest:
    """The outlier's position, by a chi-square test of uniformity (the smallest p over the grid sizes, times their
    number); ``rate`` is what always naming the most frequent position gets."""
    from scipy.stats import chisquare

    if not grids:
        return LeakTest("outlier", "position", grids=0)
    sizes = sorted({len(grid.features) for grid in grids})
    values, right = [], 0
    for panels in sizes:
        outliers = [grid.outlier for grid in grids if len(grid.features) == panels]
        counts = np.bincount(outliers, minlength=panels)
        right += int(counts.max())
        values.append(float(chisquare(counts).pvalue))
    chance = float(np.mean([1 / len(grid.features) for grid in grids]))
    p = min(1.0, min(values) * len(sizes))
    return LeakTest("outlier", "position", grids=len(grids), rate=right / len(grids), chance=chance, p=p)


def _sign_rows(wholes: Sequence[GridFeatures]) -> list[LeakTest]:
    """Whether a feature of the whole picture tells grids with an outlier from those without (Mann-Whitney test);
    ``rate`` is the area under the ROC curve, made at least a half."""
    from scipy.stats import mannwhitneyu

    positive = [whole for whole in wholes if whole.positive]
    negative = [whole for whole in wholes if not whole.positive]
    rows = []
    for name in wholes[0].features if wholes else ():
        a, b = [w.features[name] for w in positive], [w.features[name] for w in negative]
        if not a or not b:
            rows.append(LeakTest("presence", name, grids=len(wholes)))
            continue
        test = mannwhitneyu(a, b)
        area = float(test.statistic) / (len(a) * len(b))
        rate, p = max(area, 1 - area), float(test.pvalue)
        rows.append(LeakTest("presence", name, grids=len(wholes), rate=rate, chance=0.5, p=p))
    return rows


def _wording_rows(questions: Sequence[tuple[str, str, bool]]) -> list[LeakTest]:
    """Whether a question's wording tells positive from negative, by task type; types with one sign only tell nothing
    that their name does not. Questions are compared by text: ``rate`` is what the best guess from the text gets."""
    rows = []
    for task_type in sorted({question[0] for question in questions}):
        chosen = [(text, sign) for kind, text, sign in questions if kind == task_type]
        signs = Counter(sign for _, sign in chosen)
        if len(signs) < 2:
            continue
        texts: dict[str, Counter[bool]] = {}
        for text, sign in chosen:
            texts.setdefault(text, Counter())[sign] += 1
        repeated = [counter for counter in texts.values() if sum(counter.values()) > 1]
        right, total = sum(max(c.values()) for c in repeated), sum(sum(c.values()) for c in repeated)
        chance = max(signs.values()) / len(chosen)
        rate, p = (right / total, _wording_p(repeated)) if total else (None, None)
        rows.append(LeakTest("presence", f"wording of {task_type}", grids=total, rate=rate, chance=chance, p=p))
    return rows


def _wording_p(texts: Sequence[Counter[bool]]) -> float:
    """The p value of a chi-square test of text against sign; 1 if there is one text only."""
    from scipy.stats import chi2_contingency

    if len(texts) < 2:
        return 1.0
    return float(chi2_contingency([[counter[True], counter[False]] for counter in texts]).pvalue)


def write_leak_table(rows: Sequence[LeakTest], write: Callable[[str], None]) -> None:
    """Write the rows as text, leaks first marked, one line each."""
    write(f"{'tells':<9} {'feature':<26} {'grids of kind':<14} {'n':>5} {'rate':>6} {'chance':>6} {'adjusted p':>10}")
    for row in rows:
        numbers = [f"{value:.3f}" if value is not None else "-" for value in (row.rate, row.chance)]
        shown = significance.format_p_value(row.adjusted) if row.adjusted is not None else "-"
        mark = "  LEAK" if row.leak else "" if row.counts else "  told only"
        write(
            f"{row.tells:<9} {row.feature:<26} {row.over:<14} {row.grids:>5} {numbers[0]:>6} {numbers[1]:>6} "
            f"{shown:>10}{mark}"
        )


def describe_leaks(rows: Sequence[LeakTest]) -> str:
    """One sentence that lists the leaks."""
    parts = [
        f"{row.feature} tells {'the outlier' if row.tells == 'outlier' else 'whether there is one'} "
        f"({row.over}: {row.rate:.2f}, chance {row.chance:.2f})"
        for row in rows
        if row.rate is not None and row.chance is not None
    ]
    return "; ".join(parts) + "."
