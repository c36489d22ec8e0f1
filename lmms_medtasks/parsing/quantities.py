"""Numbers with their signs, bounds, ranges and units: what tells "<3 cm" from ">3 cm" and "5–10 mm" from "10 mm"."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass, replace

from lmms_medtasks.parsing.words import any_of, numbered_words, word_pattern

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)"
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DASH = "[-\u2010-\u2015\u2212]"
_UNIT = (
    r"(?:[a-zµμ%°‰²³]{1,12}(?:/[a-zµμ²³]{1,8})?"
    r"|percent|per cent|prozent|por ciento|pour cent|por cento)"
)
_SAME_UNIT = {
    **dict.fromkeys(("percent", "per cent", "prozent", "por ciento", "pour cent", "por cento"), "%"),
    **dict.fromkeys(("years", "yrs", "yr", "y"), "year"),
    **dict.fromkeys(("hours", "hour", "hrs", "hr"), "h"),
    **dict.fromkeys(("degrees", "degree", "deg"), "°"),
    **dict.fromkeys(("millimeters", "millimeter", "millimetres", "毫米"), "mm"),
    **dict.fromkeys(("centimeters", "centimeter", "centimetres", "厘米"), "cm"),
    **{"months": "month", "weeks": "week", "days": "day", "minutes": "min", "grams": "g"},
}
_LONGEST = 60
_TIMES_BEFORE = re.compile(r"\d\s?(?:[mc]m\s?)?[x×*]\s?$", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """An interval of numbers and its unit. A plain number has ``low == high``; a bound has an infinite other end.

    ``open``: whether the bounds themselves are left out ("<3" and not "≤3"). ``unit``: "" for none.
    """

    low: float
    high: float
    open: bool = False
    unit: str = ""

    def says(self, other: Quantity) -> bool:
        """Whether both are the same, where one of them may leave out its unit."""
        same_unit = self.unit == other.unit or not self.unit or not other.unit
        return same_unit and (self.low, self.high, self.open) == (other.low, other.high, other.open)

    def nearly(self, other: Quantity) -> bool:
        """As :meth:`says`, whether or not the bounds are left out: "10 mm or more" and ">10 mm"."""
        return replace(self, open=False).says(replace(other, open=False))

    @property
    def plain(self) -> bool:
        """Whether it is a number without unit, sign, bound or range."""
        return self.low == self.high and not self.unit and not self.open and self.low >= 0 and self.low == int(self.low)


@functools.lru_cache(4096)
def parse_quantity(text: str) -> Quantity | None:
    """The quantity that a text is as a whole ("≤ 3 cm", "-2.5", "three"); None for another, or a long one."""
    text = text.strip().strip("=*_`\"'()[]").rstrip(".;:!").strip()
    if len(text) > _LONGEST:
        return None
    for number, word in numbered_words("number").items():
        if re.fullmatch(word, text, re.IGNORECASE):
            return Quantity(number, number)
    match = _quantity_pattern().fullmatch(text)
    return _make_quantity(match) if match else None


def find_quantities(text: str) -> list[tuple[int, int, Quantity]]:
    """The quantities in a text, each with where it begins and ends. A size ("2 × 3 cm") is none of them."""
    return [
        (match.start(), match.end(), _make_quantity(match))
        for match in _quantity_pattern().finditer(text)
        if not _TIMES_BEFORE.search(text, max(0, match.start() - 8), match.start())
    ]


@functools.cache
def _quantity_pattern() -> re.Pattern[str]:
    to = rf"(?:{_DASH}|~|{any_of('range_to')})"
    begin = rf"(?:{any_of('range_from')}\s{{1,2}}(?=[\d.,]+\s?[a-zµ%]{{0,4}}\s?{to}))?"
    bounds = "|".join(any_of(category) for category in ("at_most", "at_least", "less_than", "more_than"))
    bound = rf"(?P<bound>{bounds})?\s{{0,2}}"
    sign = rf"(?P<sign>(?<![\w.,)])(?:[+]|{_DASH}|minus |plus ))?\s?"
    low = rf"(?<![\w.,])(?P<low>{_NUMBER})\s?(?P<own>{_UNIT}(?=\s?{to}))?"
    high = rf"(?:\s{{0,2}}{to}\s{{0,2}}(?P<high>{_NUMBER}))?(?![.,]?\d)"
    unit = rf"(?P<open>\+(?!\d))?\s{{0,2}}(?P<unit>{_UNIT}(?![^\W_]))?"
    behind = "".join(rf"(?P<{name}>\s{{0,2}},?\s?{any_of(f'or_{name}')})?" for name in ("more", "less"))
    return re.compile(begin + bound + sign + low + high + unit + behind, re.IGNORECASE)


def _make_quantity(match: re.Match[str]) -> Quantity:
    low = _parse_number(match["low"])
    if (match["sign"] or "").strip() not in ("", "+", "plus"):
        low = -low
    unit = _parse_unit(match)
    if match["high"] is not None:
        return Quantity(low, _parse_number(match["high"]), False, unit)
    bound = (match["bound"] or "").strip()
    if word_pattern("at_least").fullmatch(bound) or (not bound and (match["more"] or match["open"])):
        return Quantity(low, math.inf, False, unit)
    if word_pattern("at_most").fullmatch(bound) or (not bound and match["less"]):
        return Quantity(-math.inf, low, False, unit)
    if bound:
        less = word_pattern("less_than").fullmatch(bound)
        return Quantity(-math.inf, low, True, unit) if less else Quantity(low, math.inf, True, unit)
    return Quantity(low, low, False, unit)


def _parse_unit(match: re.Match[str]) -> str:
    unit = (match["own"] or match["unit"] or "").casefold()
    if word_pattern("no_unit").fullmatch(unit):
        return ""
    return _SAME_UNIT.get(unit, unit.replace("μ", "u").replace("µ", "u"))


def _parse_number(text: str) -> float:
    return float(text.replace(",", "" if _THOUSANDS.fullmatch(text) else "."))
