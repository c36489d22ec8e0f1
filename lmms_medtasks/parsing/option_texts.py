"""Which option a short reply says in words: "The arrow points at the spleen", "There are 2 lesions"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.parsing import words
from lmms_medtasks.parsing.replies import folded

LONGEST = 600
"""Characters of a reply in which options' texts are looked for: a longer one weighs them, and is not summed up."""

_GENERIC = {
    "left", "right", "both", "neither", "none", "all", "other", "others", "normal", "abnormal", "present", "absent",
    "positive", "negative", "true", "false", "high", "low", "yes", "no", "unknown",
}  # fmt: skip
"""Words that a sentence about something else is likely to have too."""
_GENERIC_WORDS = 12
_WORDS_AROUND = re.compile(
    r"\bright (?:answer|option|choice|now|away)|(?:you are|you're|that's|left to) right|left (?:with|to)\b"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_COUNTED = re.compile(
    r"(?:^|\b(?:is|are|be|see|shows?|count|contains?|has|have|of|total|exactly|only|hay|son|il y a|sind|gibt es)|"
    r"有|是|[:=])\s*$"
)
_ARTICLE = re.compile(
    r"(?:an?|the|el|la|los|las|le|les|un|una|une|der|die|das|den|dem|eine?)\s+|l'"
)  # fmt: skip
_AND = re.compile(r"\s+(?:and|y|et|und)\b|\s*和|\s*,\s*(?:\w+\s+){0,2}?(?:\w+,|(?:and|or|y|o|et|ou|und|oder)\b)")
_COMPARED = re.compile(
    r"(?:\b(?:than|over|under|exceed\w*|at least|at most|up to|als|mindestens|h[oö]chstens|"
    r"(?:mayor|menor)(?:es)? (?:que|de|a)|m[aá]s (?:de|que)|menos (?:de|que)|al menos|"
    r"(?:plus|moins)(?: \w+)? (?:que|de)|au moins)|大于|小于|超过|不到|至少)\s*$"
)
"""Before a number: a bound, not the number ("larger than 3 cm")."""
_UNIT = re.compile(r"\s*(?:[mc]m|mg|ml|t|years?|months?|weeks?|days?|hours?|degrees?|°|%|-|/|:)(?![^\W_])|\s*[%°/:]")


class OptionTexts:
    """The texts of a question's options, and the replies that say one of them."""

    def __init__(self, options: Sequence[str]) -> None:
        texts = [folded(option).strip(" .,:;!\"'") for option in options]
        self._texts = [_ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text for text in texts]
        known = sorted({text for text in self._texts if text}, key=len, reverse=True)
        cjk = re.compile(r"[\u3400-\u9fff]")
        parts = [
            re.escape(text) if cjk.search(text) else rf"(?<![^\W_])(?<!\d[.,]){re.escape(text)}(?![^\W_])(?![.,]\d)"
            for text in known
        ]
        self._any = re.compile("|".join(parts)) if parts else None

    def said(self, reply: str) -> list[int]:
        """The places of the options that ``reply`` says: one, several if it leaves open which, [] for none.

        A name counts in a reply of one sentence, or in one that says what something is ("shows", "suggests", "is").
        It does not where it is denied, conceded ("while the liver is visible, ...") or a neighbour ("next to the
        liver"); where it is hedged ("could be", "or", "?"), it leaves open which.
        """
        text = folded(reply)
        if self._any is None or len(text) > LONGEST or _WORDS_AROUND.search(text):
            return []
        sentences = len(re.findall(r"[.!?;\n]+(?=\s|$)", text.strip(" .!;\n"))) + 1
        asserted: set[str] = set()
        open_: set[str] = set()
        for clause, mark in _clauses(text):
            kept = words.CONCEDED.sub(lambda match: " " * len(match[0]), clause)
            matches = list(self._any.finditer(kept))
            outside = self._any.sub(" ", kept)
            hedged = mark == "?" or words.HEDGE.search(outside)
            identified = sentences == 1 or words.IDENTIFIES.search(outside)
            for match in matches:
                if words.DENIED_BEFORE.search(outside_before(self._any, kept, match.start())):
                    continue
                if words.DENIED_AFTER.match(kept, match.end()):
                    continue
                if not self._fits(match, kept, text):
                    continue
                if hedged or not identified or _AND.match(kept, match.end()):
                    open_.add(match[0])
                else:
                    asserted.add(match[0])
        if not asserted:
            return []
        return [place for place, each in enumerate(self._texts) if each in asserted | open_]

    def _fits(self, match: re.Match[str], clause: str, text: str) -> bool:
        """Whether a number or a word of everyday use stands where it is likely to be the answer."""
        if match[0][0].isdigit() and _COMPARED.search(clause[: match.start()]):
            return False
        if _NUMBER.fullmatch(match[0]):
            if _UNIT.match(clause, match.end()):
                return False
            return len(_NUMBER.findall(text)) == 1 and _COUNTED.search(clause[: match.start()]) is not None
        return match[0] not in _GENERIC or len(text.split()) <= _GENERIC_WORDS


def outside_before(names: re.Pattern[str], clause: str, place: int) -> str:
    """The clause before ``place`` without the options' own names: "no fracture" may be one."""
    return names.sub(" ", clause[:place])


def _clauses(text: str) -> list[tuple[str, str]]:
    """The clauses of a text, each with the mark or word that ends it."""
    found, start = [], 0
    for match in words.CLAUSE.finditer(text):
        found.append((text[start : match.start()], match[0].strip()[:1]))
        start = match.end()
    return [*found, (text[start:], "")]
