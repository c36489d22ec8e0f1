"""Numbers with their signs, bounds, ranges and units: what tells "<3 cm" from ">3 cm" and "5–10 mm" from "10 mm"."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass, replace

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)"
_DASH = "[-\u2010-\u2015\u2212]"
_UNIT = r"(?:[a-zµμ%°‰²³]{1,12}(?:/[a-zµμ²³]{1,8})?|percent|per cent|prozent|por ciento|pour cent|por cento)"
_LESS = (
    r"<|less than|smaller than|fewer than|under|below|shorter than|younger than|kleiner als|weniger als|unter|menor (?:que|de|a)|menos de|"
    r"inf[eé]rieure? [aà]|moins de|小于|少于|低于|不到|不足"
)
_MORE = (
    r">|more than|greater than|larger than|over|above|exceed(?:s|ing)?|longer than|older than|gr[oö](?:ß|ss)er als|mehr als|[uü]ber|"
    r"mayor (?:que|de|a)|m[aá]s de|sup[eé]rieure? [aà]|plus de|大于|超过|高于|多于"
)
_AT_MOST = r"≤|<=|=<|⩽|at most|up to|no more than|not more than|h[oö]chstens|bis zu|como m[aá]ximo|hasta|au plus|jusqu'[aà]|至多|不超过|最多"
_AT_LEAST = r"≥|>=|=>|⩾|at least|no less than|not less than|mindestens|al menos|como m[ií]nimo|au moins|至少|不少于"
_TO = rf"(?:{_DASH}|(?:to|bis|a|à|and|und|y|et)(?!\w)|至|到|~)"
_QUANTITY = re.compile(
    rf"(?:(?<!\w)(?:from|between|de|entre|von|zwischen)\s{{1,2}}(?:el |la )?(?=[\d.,]+\s?[a-zµ%]{{0,4}}\s?{_TO}))?"
    rf"(?P<bound>(?<!\w)(?:{_AT_MOST}|{_AT_LEAST}|{_LESS}|{_MORE})\s{{0,2}}|{_AT_MOST}|{_AT_LEAST}|[<>])?\s{{0,2}}"
    rf"(?P<sign>(?<![\w.,)])(?:[+]|{_DASH}|minus |plus ))?\s?(?<![\w.,])(?P<low>{_NUMBER})\s?(?P<own>{_UNIT}(?=\s?{_TO}))?"
    rf"(?:\s{{0,2}}{_TO}\s{{0,2}}(?:el |la )?(?P<high>{_NUMBER}))?(?![.,]?\d)(?P<open>\+(?!\d))?\s{{0,2}}(?P<unit>{_UNIT}(?![^\W_]))?"
    r"(?P<more>\s{0,2},?\s?(?:or|and|oder|o|ou)\s(?:more|greater|larger|above|older|longer|over|mehr|gr[oö](?:ß|ss)er|m[aá]s|plus|mayor)(?!\w))?"
    r"(?P<less>\s{0,2},?\s?(?:or|and|oder|o|ou)\s(?:less|smaller|below|fewer|younger|under|weniger|kleiner|menos|moins|menor)(?!\w))?",
    re.IGNORECASE,
)
_SAME_UNIT = {"percent": "%", "per cent": "%", "prozent": "%", "por ciento": "%", "pour cent": "%", "por cento": "%", "μ": "u",
              "µ": "u", "years": "year", "yrs": "year", "yr": "year", "y": "year", "months": "month", "weeks": "week",
              "days": "day", "hours": "h", "hour": "h", "hrs": "h", "hr": "h", "minutes": "min", "degrees": "°",
              "degree": "°", "deg": "°", "millimeters": "mm", "millimeter": "mm", "millimetres": "mm", "centimeters": "cm",
              "centimeter": "cm", "centimetres": "cm", "grams": "g", "毫米": "mm", "厘米": "cm"}  # fmt: skip
# Words after a number that are no unit of it.
_NO_UNIT = frozenset(
    "is are and or in of the a to on at with for but so it was no not as by from und oder ist y o es et ou est".split()
)
_WORDS = {word: number for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split())}  # fmt: skip
_LONGEST = 60


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
    """The quantity that a short text is as a whole ("≤ 3 cm", "-2.5", "three"), None for any other text."""
    text = text.strip().strip("*_`\"'()[]").rstrip(".;:!").strip()
    if len(text) > _LONGEST:
        return None
    if text.casefold() in _WORDS:
        number = float(_WORDS[text.casefold()])
        return Quantity(number, number)
    match = _QUANTITY.fullmatch(text)
    return _of(match) if match else None


def find_quantities(text: str) -> list[tuple[int, int, Quantity]]:
    """The quantities in a text, each with where it begins and ends."""
    return [(match.start(), match.end(), _of(match)) for match in _QUANTITY.finditer(text)]


def _of(match: re.Match[str]) -> Quantity:
    low = _number(match["low"])
    if (sign := (match["sign"] or "").strip()) and sign not in ("+", "plus"):
        low = -low
    unit = (match["own"] or match["unit"] or "").casefold()
    unit = "" if unit in _NO_UNIT else _SAME_UNIT.get(unit, unit.replace("μ", "u").replace("µ", "u"))
    if match["high"] is not None:
        return Quantity(low, _number(match["high"]), False, unit)
    bound = (match["bound"] or "").strip()
    for pattern, low_end, left_out in ((_AT_MOST, -math.inf, False), (_AT_LEAST, math.inf, False), (_LESS, -math.inf, True),
                                       (_MORE, math.inf, True)):  # fmt: skip
        if bound and re.fullmatch(pattern, bound, re.IGNORECASE):
            return Quantity(min(low, low_end), max(low, low_end), left_out, unit)
    if match["more"] or match["open"]:
        return Quantity(low, math.inf, False, unit)
    if match["less"]:
        return Quantity(-math.inf, low, False, unit)
    return Quantity(low, low, False, unit)


def _number(text: str) -> float:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))
