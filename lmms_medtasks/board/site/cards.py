"""A suite's card (README.md of its folder) as HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lmms_medtasks.suites import registry

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markupsafe import Markup

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
"""Marks of generated passages, which would be shown as text."""


def card(suite: str) -> Markup | None:
    """The card of a suite without its title; None if it has none."""
    folder = registry.folder_of(suite)
    place = folder / "README.md" if folder else None
    return markdown(place.read_text("utf-8"), skip_title=True) if place and place.is_file() else None


def markdown(text: str, *, skip_title: bool = False) -> Markup:
    """Markdown as HTML: no HTML of its own, no pictures, and only links to the web (others are left as text).

    Headings go two levels down, into a page that has its own.
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_inline", "html_block"])
    tokens = parser.parse(_COMMENT.sub("", text))
    if skip_title and tokens and tokens[0].tag == "h1":
        del tokens[:3]
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"
        if token.children:
            token.children = _web_links(token.children)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the renderer escapes texts


def _web_links(tokens: list[Token]) -> list[Token]:
    kept, dropped = [], []
    for token in tokens:
        if token.type == "link_open":
            dropped.append(not str(token.attrGet("href")).startswith(("https://", "http://")))
            token.attrSet("rel", "noopener noreferrer")
        if token.type not in ("link_open", "link_close"):
            kept.append(token)
        elif not dropped[-1]:
            kept.append(token)
        if token.type == "link_close":
            dropped.pop()
    return kept
