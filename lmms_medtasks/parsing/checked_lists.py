"""Lists that go through all options and mark each: "A ✓, B ✗", "[x] Ascites", "Ascites: present"."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.words import word_pattern

_LONGEST = 4000
_ITEM = re.compile(r"\n|(?<=[.;,])\s+(?=\(?[A-Z]\b|[^\W\d_]+\s*:)")
_BEFORE_MARK = r"[\s*_:|()\]=—–-]{0,8}"


def read_checked(text: str, options: Sequence[str]) -> str | None:
    """The letters that a list marks as right; None where ``text`` does not mark each of two or more options."""
    letters = option_letters(len(options))
    marked: dict[str, bool] = {}
    for item in _ITEM.split(text[:_LONGEST]):
        for letter, option in zip(letters, options, strict=True):
            label = _match_label(item, letter, option)
            if label is None:
                continue
            ticked = (
                any(sign in label["box"] for sign in "xX✅☑✓✔") if label["box"] else _is_ticked(item[label.end() :])
            )
            if ticked is not None:
                marked[letter] = ticked
            break
    return "".join(letter for letter in letters if marked[letter]) if len(marked) == len(letters) > 1 else None


def _match_label(item: str, letter: str, option: str) -> re.Match[str] | None:
    """An option's letter, its text or both at an item's beginning, perhaps behind a box: "[ ] B. Fever"."""
    text = re.escape(option)
    lettered = rf"\(?{letter}(?![^\W_])[).:\]*_\s]{{0,4}}(?:{text})?"
    label = rf"[\s*_(\[|-]{{0,6}}(?:(?P<box>\[[ xX]\]|[✅☑✓✔❌✗✘])\s*)?(?:{lettered}|{text})"
    return re.match(label, item, re.IGNORECASE if option in item else 0)


def _is_ticked(rest: str) -> bool | None:
    """Whether what follows a label begins or ends with a mark of a right option, or of a wrong one; None for neither.

    Where it has both, the longer one counts: "not present".
    """
    tick, cross = _mark_length("checked", "√✓✔☑✅", rest), _mark_length("crossed", "×✗✘✕❌☒", rest)
    return None if tick == cross == 0 else tick >= cross


def _mark_length(category: str, signs: str, rest: str) -> int:
    begins = word_pattern(category, before=rf"{_BEFORE_MARK}(?P<mark>", after=")").match(rest)
    if begins is not None:
        return len(begins["mark"])
    return 1 if _sign_at_end(signs).search(rest) else 0


@functools.cache
def _sign_at_end(signs: str) -> re.Pattern[str]:
    return re.compile(rf"[{signs}]\ufe0f?\s*$")
