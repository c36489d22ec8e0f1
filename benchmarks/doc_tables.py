"""The documents' tables of what simulations measured, made from ``results/inference``.

A table stands between ``<!-- measured: NAME -->`` and ``<!-- end -->``. ``inference.py --tables`` writes it again; a
test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from simulations.any_number import LINEAR, NUMBERS
from simulations.claims import read
from simulations.rivals import METHODS

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("benchmarks/results/inference.md", "docs/ci.md", "docs/publish_a_leaderboard.md")
_BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)

Row = dict[str, str]


def write() -> None:
    """Write the tables of all pages again."""
    for page in PAGES:
        path = ROOT / page
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")


def renewed(text: str) -> str:
    """A page with its tables as the records have them. Raises KeyError for a table of an unknown name."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n", text)


def _rows(part: str, *about: str) -> list[Row]:
    every = read(ROOT / "benchmarks" / "results" / "inference" / f"{part}.csv")
    return [row for row in every if not about or row["about"] in about]


def _grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """The rows by a key, in their order."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _setting(row: Row) -> str:
    return row["setting"]


def _table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    names = list(head)
    rows = [names, ["---"] * len(names), *map(list, lines)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _with_error(row: Row) -> str:
    return f"{float(row['value']):.1f} ± {float(row['error']):.1f}"


def _range(values: Iterable[float]) -> str:
    known = list(values)
    low, high = f"{min(known):.1f}", f"{max(known):.1f}"
    return low if low == high else f"{low} to {high}"


def _number(text: str) -> str:
    return f"{int(text):,}"


def coverage() -> str:
    """Of each number and number of images the mean coverage, from the worst setting to the best, and the least."""

    def lines() -> Iterator[list[str]]:
        kinds = ("share", "paired change", "change of means, same images", "difference, other images",
                 "ratio (relative robustness)", "macro mean of 3 groups")  # fmt: skip
        found = _grouped(_rows("intervals", *kinds), lambda row: (row["about"], row["setting"].partition(" images")[0]))
        for (about, images), own in sorted(found.items(), key=lambda item: kinds.index(item[0][0])):
            means = [float(row["value"]) for row in own if row["figure"] == "mean"]
            least = min((row for row in own if row["figure"] != "mean"), key=lambda row: float(row["value"]))
            yield [about, images, _range(means), _with_error(least), _number(own[0]["repeats"])]

    return _table(("Number", "Images", "Mean, %", "Least, %", "Data sets"), lines())


def student() -> str:
    """Numbers that have Student's t on the jackknife: their coverage by number of images."""
    names = {
        "ece": "ECE", "brier": "Brier score (a mean, as above)", "aurc": "area under the risk-coverage curve",
        "agreement: kappa": "Cohen's kappa", "agreement: kappa_quadratic": "quadratic kappa",
        "agreement: spearman": "Spearman's rho of two raters", "agreement: exact": "share rated alike",
    }  # fmt: skip
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in _rows("intervals", *names):
        images, truth = row["setting"].partition(" images")[0], row["setting"].rpartition("truth ")[2]
        found.setdefault((names[row["about"]], truth), {})[images] = row
    sizes = list(dict.fromkeys(images for own in found.values() for images in own))
    lines = ([name, truth, *map(_with_error, own.values())] for (name, truth), own in found.items())
    return _table(("Number", "Truth", *(f"{images} images, %" for images in sizes)), lines)


def rivals() -> str:
    """Coverage of each method: over designs with the same images, and where harder images have more questions."""
    rows = _rows("rivals")

    def of(name: str, images: str, figure: str) -> Row:
        return next(
            row
            for row in rows
            if row["about"] == name and row["setting"] == f"{images} images" and row["figure"] == figure
        )

    def lines() -> Iterator[list[str]]:
        sizes = ("5", "10", "20", "60")
        for name in METHODS:
            worst = [of(name, images, "mean of the worst design") for images in sizes]
            middle = [of(name, images, "mean of the worst design, shares .26 to .74") for images in sizes]
            least = min((of(name, images, "least") for images in sizes), key=lambda row: float(row["value"]))
            harder = [row for row in rows if row["about"] == name and row["setting"].startswith("harder")]
            found = [*(f"{float(row['value']):.0f}" for row in worst), _range(float(row["value"]) for row in middle),
                     _with_error(least), _range(float(row["value"]) for row in harder)]  # fmt: skip
            yield [f"**{name}**" if name == "ours" else name, *found]

    head = ("Interval", "5 images", "10", "20", "60", "shares .26 to .74", "least", "harder images")
    return _table(head, lines())


def uneven() -> str:
    """Where the intervals of a share do not hold: images with unlike numbers of questions."""

    def lines() -> Iterator[list[str]]:
        rows = _rows("intervals", "share, harder images have more questions", "share, uneven images")
        found = _grouped(rows, _setting)
        for setting, own in sorted(found.items(), key=lambda item: item[0].partition(" images, ")[2]):
            images, _, said = setting.partition(" images, ")
            first, *others = own
            sides = [f"{float(row['value']):.1f}" for row in others] if len(others) == 2 else ["", ""]
            least = _with_error(others[0]) if len(others) == 1 else ""
            yield [said, images, _with_error(first), least, *sides]

    head = ("Questions", "Images", "Covers, %", "Least share, %", "Interval too low, %", "Too high, %")
    return _table(head, lines())


def lost_benefit() -> str:
    """Share of the image's benefit that is lost."""
    rows = _rows("variance", "share of the image's benefit that is lost")
    return _table(
        ("Setting", "Figure", "Measured, %", "Data sets"),
        (
            [row["setting"], row["figure"], _with_error(row), _number(row["repeats"])]
            for row in rows
            if row["figure"] != "shown" or float(row["value"]) < 50
        ),
    )


def subset() -> str:
    """Intervals of subsets, and their bias and width."""
    found = _grouped(_rows("subset"), lambda row: row["setting"].partition(",")[0])
    lines = (
        [name, *(f"{float(row['value']):.2f} ± {float(row['error']):.2f}" for row in own)]
        for name, own in found.items()
    )
    return _table(("Subset", "Covers, %", "Bias, points", "Mean width, points"), lines)


def power() -> str:
    """How often the difference is found that is said to be found in 80 %, and what the data name themselves."""

    def lines() -> Iterator[list[str]]:
        for setting, (first, *named) in _grouped(_rows("power"), _setting).items():
            own = [f"{float(row['claimed']):.3f}, {float(row['value']):.3f}" for row in named] or [""]
            yield [setting, _with_error(first), *own]

    return _table(("Setting", "Power, %", "Planted difference, and the median that data name"), lines())


def gate() -> str:
    """The gate's curve: worse / can't tell / not worse by true drop and images."""
    found: dict[str, dict[str, list[Row]]] = {}
    for row in _rows("gate"):
        setting = re.fullmatch(
            r"true drop (\S+) points, margin 2, (\d+) images, 3 questions an image, 20 % change", row["setting"]
        )
        if setting:
            found.setdefault(setting[1], {}).setdefault(setting[2], []).append(row)
    sizes = ("4", "12", "60", "400")
    lines = (
        [drop, *(" / ".join(f"{float(row['value']):.0f}" for row in own[images]) for images in sizes)]
        for drop, own in found.items()
    )
    return _table(("True drop, points", *(f"{images} images" for images in sizes)), lines)


def ranks() -> str:
    """How often two models with equal means that are not alike are told apart."""
    found: dict[str, list[Row]] = {}
    for row in _rows("rank_intervals"):
        setting = re.fullmatch(r"2 models with equal means, (\d+) images, (.*)", row["setting"])
        if setting:
            found.setdefault(setting[2], []).append(row)
    lines = ([said, *(f"{_with_error(row)} %" for row in own)] for said, own in found.items())
    return _table(("Two models with equal means", "10 images", "20 images", "60 images"), lines)


def _by_setting(part: str) -> Iterator[tuple[str, str, list[Row]]]:
    """Of numbers of any kind: the number, the images and questions, and the figures."""
    found = _grouped(_rows(part), _setting)
    for setting, own in sorted(found.items(), key=lambda item: list(NUMBERS).index(item[0].partition(",")[0])):
        numbers = re.findall(r"(\d+) (?:images|questions)", setting)
        yield setting.partition(",")[0], " × ".join(numbers), own


def any_number() -> str:
    """Equal models told apart: two by their test, by the interval of their change, and some pair of four by ranks."""
    lines = (
        [name, "exact" if name in LINEAR else "asymptotic", size, *map(_with_error, own), _number(own[0]["repeats"])]
        for name, size, own in _by_setting("any_number")
    )
    head = ("Number", "Test", "Images × questions", "p at most .05, %", "Interval misses 0, %", "Some pair of 4, %")
    return _table((*head, "Data sets"), lines)


def any_number_gate() -> str:
    """Wrong verdicts of the gate where the drop is just the margin."""
    lines = (
        [name, size, *map(_with_error, own), _number(own[0]["repeats"])]
        for name, size, own in _by_setting("any_number_gate")
    )
    head = ("Number", "Images × questions", "Not worse (Gaffke), %", "Not worse (Student), %", "Worse, %")
    return _table((*head, "Data sets"), lines)


_MAKERS = (coverage, student, rivals, uneven, lost_benefit, subset, power, gate, ranks, any_number, any_number_gate)
TABLES: dict[str, Callable[[], str]] = {each.__name__: each for each in _MAKERS}
"""Name of a table to its maker."""
