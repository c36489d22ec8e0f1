"""Other intervals of a share, on the data sets that ours is measured on: how often each holds the truth.

All take the images as the units but the first. S is an image's sum of scores, m its number of questions, n all
questions, e = S - m p. Methods with an effective number of answers take p (1 - p) / V, with V of the jackknife; where V
is 0 it is the number of images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from lmms_medtasks.seeding import seeded_generator
from simulations.claims import Claim, Figure, percent
from simulations.intervals import HARDER, SHARES, Design, _limits_of_sums, _scores, harder_images

IMAGES = (5, 10, 20, 60)
DESIGNS = (
    Design(1, 1, 0), Design(2, 1, 0.3), Design(3, 3, 0.1), Design(6, 1, 0.6), Design(6, 10, 0.3), Design(0, 3, 0.3),
)  # fmt: skip
DRAWS = 999
_Z = float(ndtri(0.975))
_TAIL = 0.025


class Data(NamedTuple):
    """(repeats, images) ``sums`` of scores and ``sizes``, (repeats,) ``squares``: sums of all squared scores."""

    sums: np.ndarray
    sizes: np.ndarray
    squares: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """(repeats,) questions."""
        return self.sizes.sum(-1)

    @property
    def mean(self) -> np.ndarray:
        """(repeats,) mean scores."""
        return self.sums.sum(-1) / self.total

    @property
    def errors(self) -> np.ndarray:
        """(repeats, images) e."""
        return self.sums - self.sizes * self.mean[:, None]


Covers = Callable[[Data, float, np.random.Generator], np.ndarray]
"""(repeats,) whether the interval of each data set holds the truth."""


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each method and number of images, over all designs; 1,000 repeats take a few minutes."""
    for images in IMAGES:
        found: dict[str, list[list[np.ndarray]]] = {name: [] for name in METHODS}
        for design in DESIGNS:
            rng = seeded_generator("rivals", seed, images, str(design))
            sizes = design.sizes(images)
            of_design: dict[str, list[np.ndarray]] = {name: [] for name in METHODS}
            for share in SHARES:
                scores = _scores(rng, repeats, sizes, design, share)
                data = Data(scores.sum(-1), np.tile(sizes, (repeats, 1)), (scores**2).sum((-2, -1)))
                for name, covers in METHODS.items():
                    of_design[name].append(covers(data, share, rng))
            for name, held in of_design.items():
                found[name].append(held)
        for name, held_by_design in found.items():
            yield _claim(name, images, held_by_design, repeats)
    for images in IMAGES[1:]:
        rng = seeded_generator("rivals", "harder", seed, images)
        sums, sizes, truth, said = harder_images(rng, *HARDER[0], repeats, images)
        for name, covers in METHODS.items():
            held = covers(Data(sums, sizes, sums.sum(-1)), truth, rng)
            setting = f"harder images have more questions: {said}"
            yield Claim(name, setting, "covers 95 %", (percent(held, "mean"),), repeats)


def _claim(name: str, images: int, held: list[list[np.ndarray]], repeats: int) -> Claim:
    single = [[percent(each, "least") for each in of_design] for of_design in held]
    means = [float(np.mean([each.value for each in of_design])) for of_design in single]
    errors = [float(np.sqrt(np.sum([each.error**2 for each in own])) / len(own)) for own in single]
    lowest, highest = int(np.argmin(means)), int(np.argmax(means))
    middle = [[each for each, share in zip(own, SHARES, strict=True) if 0.25 < share < 0.75] for own in single]
    worst = min(middle, key=lambda own: sum(each.value for each in own))
    figures = (
        Figure("mean of the worst design", means[lowest], errors[lowest]),
        Figure("mean of the best design", means[highest], errors[highest]),
        Figure(
            "mean of the worst design, shares .26 to .74",
            float(np.mean([each.value for each in worst])),
            float(np.sqrt(np.sum([each.error**2 for each in worst])) / len(worst)),
        ),
        min((each for own in single for each in own), key=lambda each: each.value),
    )
    return Claim(name, f"{images} images", "covers 95 %", figures, repeats)


# --- The methods ------------------------------------------------------------------------------------------------------


def _symmetric(data: Data, variance: np.ndarray, quantile: float | np.ndarray, truth: float) -> np.ndarray:
    held: np.ndarray = np.abs(data.mean - truth) <= quantile * np.sqrt(np.maximum(variance, 0))
    return held


def independent_variance(data: Data) -> np.ndarray:
    """Of the mean of n independent questions."""
    n = data.total
    variance: np.ndarray = (data.squares - n * data.mean**2) / (n - 1) / n
    return variance


def clustered_variance(data: Data) -> np.ndarray:
    """Equation 4 of Miller (2024): that of independent questions, and the products of two questions of one image."""
    own = data.squares - data.total * data.mean**2
    variance: np.ndarray = independent_variance(data) + ((data.errors**2).sum(-1) - own) / data.total**2
    return variance


def reduced_bias(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """CR2 variance (Bell and McCaffrey 2002) of a mean, and Satterthwaite's degrees of freedom of it."""
    n = data.total[:, None]
    kept = 1 - data.sizes / n
    variance = (data.errors**2 / kept).sum(-1) / n[:, 0] ** 2
    # The variance is a sum of squares of p_g'y; these are the products p_g'p_h where all y are independent.
    weights = data.sizes / np.sqrt(kept)
    products = -weights[:, :, None] * weights[:, None, :] / n[..., None]
    places = np.arange(data.sizes.shape[1])
    products[:, places, places] = data.sizes
    return variance, data.total**2 / (products**2).sum((-2, -1))


def jackknife_variance(data: Data) -> np.ndarray:
    """Of the mean, by leaving out each image in turn."""
    n = data.total[:, None]
    left_out = (data.sums.sum(-1, keepdims=True) - data.sums) / (n - data.sizes)
    count = data.sizes.shape[1]
    variance: np.ndarray = (count - 1) * left_out.var(-1)
    return variance


def _independent(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    return _symmetric(data, independent_variance(data), _Z, truth)


def _miller(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    return _symmetric(data, clustered_variance(data), _Z, truth)


def _student(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    return _symmetric(data, jackknife_variance(data), stdtrit(data.sizes.shape[1] - 1, 0.975), truth)


def _cr2(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    variance, freedom = reduced_bias(data)
    return _symmetric(data, variance, stdtrit(freedom, 0.975), truth)


def _wild(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    """Wild cluster bootstrap-t with the hypothesis imposed (Cameron, Gelbach and Miller 2008), Webb's six weights."""
    steps = np.sqrt((0.5, 1, 1.5))
    weights = rng.choice(np.concatenate([steps, -steps]), (data.sizes.shape[1], DRAWS))
    errors, sizes, n = data.sums - data.sizes * truth, data.sizes.astype(float), data.total[:, None]
    moved = (errors @ weights) / n
    squares = (errors**2) @ weights**2 - 2 * moved * ((errors * sizes) @ weights)
    drawn = np.abs(moved) / np.sqrt(np.maximum(squares + moved**2 * (sizes**2).sum(-1, keepdims=True), 1e-300)) * n
    spread = np.sqrt(np.maximum((data.errors**2).sum(-1), 1e-300))
    seen = np.abs(data.mean - truth) * n[:, 0] / spread
    held: np.ndarray = (1 + (drawn >= seen[:, None] - 1e-9).sum(-1)) / (1 + DRAWS) > 0.05
    return held


def _percentile(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    count = data.sizes.shape[1]
    times = rng.multinomial(count, np.full(count, 1 / count), DRAWS).T.astype(float)
    low, high = np.quantile((data.sums @ times) / (data.sizes @ times), (_TAIL, 1 - _TAIL), axis=-1)
    held: np.ndarray = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    return held


def effective_answers(data: Data) -> np.ndarray:
    """(repeats,) Korn and Graubard's effective number of answers: p (1 - p) / V by the squared ratio of the t quantiles
    of n - 1 and of images - 1, at most n."""
    images, binary, variance = data.sizes.shape[1], data.mean * (1 - data.mean), jackknife_variance(data)
    ratio = (stdtrit(np.maximum(data.total - 1, 1), 0.975) / stdtrit(images - 1, 0.975)) ** 2
    known = variance > 1e-12
    return np.where(known, np.minimum(ratio * binary / np.where(known, variance, 1), data.total), images)


def _wilson(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    return np.abs(data.mean - truth) <= _Z * np.sqrt(truth * (1 - truth) / effective_answers(data))


def beta_limits(data: Data, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of Beta(x + a, n - x + 1 - a), a = ``lower`` for the lower end, ``upper`` for the upper one."""
    n = effective_answers(data)
    right, wrong = np.maximum(data.mean * n, 0), np.maximum((1 - data.mean) * n, 0)
    none, every = right < 1e-9, wrong < 1e-9
    low = betaincinv(np.where(none, 1, right + lower), wrong + 1 - lower, _TAIL)
    high = betaincinv(right + upper, np.where(every, 1, wrong + 1 - upper), 1 - _TAIL)
    return np.where(none, 0.0, low), np.where(every, 1.0, high)


def _beta(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    low, high = beta_limits(data, 0.5, 0.5)
    return (low <= truth) & (truth <= high)


def _korn_graubard(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    low, high = beta_limits(data, 0.0, 1.0)
    return (low <= truth) & (truth <= high)


def _ours(data: Data, truth: float, rng: np.random.Generator) -> np.ndarray:
    limits = _limits_of_sums(data.sums, data.sizes)
    return (limits.low <= truth) & (truth <= limits.high)


METHODS: dict[str, Covers] = {
    "normal, questions independent (CLT)": _independent,
    "normal, clustered standard error (Miller)": _miller,
    "Student's t over images (jackknife)": _student,
    "CR2, Satterthwaite's t": _cr2,
    "wild cluster bootstrap-t": _wild,
    "percentile bootstrap over images": _percentile,
    "Wilson, effective answers": _wilson,
    "Beta (Jeffreys), effective answers": _beta,
    "Korn and Graubard": _korn_graubard,
    "ours": _ours,
}
