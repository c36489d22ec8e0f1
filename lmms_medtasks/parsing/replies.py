"""A reply's text for the readers, and texts made plain."""

from __future__ import annotations

import re

from lmms_medtasks.parsing.reply import Outcome, Reply


def text_or_outcome(reply: Reply | str | None) -> tuple[str, Outcome | None]:
    """The text after a reply's reasoning and None; or "" and why there is none.

    A reply is "empty" if it has no text, white space only, or closed reasoning and nothing after it.
    """
    found = Reply.of(reply)
    return found.answer, found.outcome


_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010-\u2013](?=[^\W\d_])")  # between letters only: "1-2" is not "1 2"
_MARKUP = re.compile(r"[*`_$\\#>]+")


def folded(text: str) -> str:
    """``text`` in one case, with single blanks (lines stay), and without markup and hyphens between letters."""
    text = _MARKUP.sub(" ", _HYPHEN.sub(" ", text.casefold()))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
