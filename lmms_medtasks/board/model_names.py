"""Names of models on a board: how they are shown, and which look like one another."""

from __future__ import annotations

import re
import unicodedata

from lmms_medtasks.visible_text import replace_invisible

_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l"})


def shown_name(name: str) -> str:
    """A model's name; for a checkpoint in a local folder the last two parts of its path."""
    parts = [part for part in name.replace("\\", "/").split("/") if part]
    local = name.startswith(("/", "~", "./", "../")) or name[1:3] in (":\\", ":/")
    return "/".join(parts[-2:]) if local and parts else name


def confusable_form(name: str) -> str:
    """The form of a name as readers perceive it: names with equal forms can be confused.

    It ignores case, accents, width, invisible characters and the kind of separator, and the difference between 0 and o,
    1, i, l and |, rn and m, vv and w.
    """
    plain = unicodedata.normalize("NFKD", shown_name(name))
    seen = "".join(each for each in plain if unicodedata.category(each) not in ("Mn", "Me", "Cf", "Cc"))
    letters = seen.casefold().translate(_ALIKE).replace("rn", "m").replace("vv", "w")
    return re.sub(r"[\s_\-.:/()]+", "-", letters).strip("-")


def model_name_problem(name: str) -> str:
    """Why a name may not be ranked, as a clause; "" if it may: visible ASCII, single blanks inside only."""
    if not name.strip():
        return "it is empty"
    if replace_invisible(name) != name:
        return "it has characters that can't be seen"
    if not name.isascii():
        other = next(each for each in name if not each.isascii())
        return (
            f"{other!r} (U+{ord(other):04X}) is no ASCII character, and other letters look like those of another name"
        )
    if name != " ".join(name.split()):
        return "it begins or ends with a blank, or has two in a row"
    return ""
