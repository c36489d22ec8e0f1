"""Nothing in a text of others is invisible on a page, in a table file or on a terminal."""

import pytest

from lmms_medtasks.report import report_page
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.csv_writer import csv_text
from lmms_medtasks.report.document import Cell, Frame, FrameRow
from lmms_medtasks.report.markdown import escaped
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.visible_text import visible

HIDDEN = [
    "\x1b[31m",
    "\u202e",
    "\u200b",
    "\u2066",
    "\ufeff",
    "\u00ad",
    "\u3164",
    "\u2800",
    "\x00",
    "\x9b",
    "\u2028",
    "\ud800",
]


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_every_writer_makes_it_visible(hidden):
    text, shown = f"a{hidden}b", f"a\ufffd{hidden[1:]}b"
    page = report_page.environment().from_string("{{ text }}").render(text=text)
    table = Frame("t", "t", (label("x"),), (FrameRow((Cell(text),)),))
    assert visible(text) == printable(text) == page == shown
    assert shown in csv_text(table) and hidden not in csv_text(table)
    assert hidden not in escaped(text)


def test_what_can_be_seen_stays():
    text = "Größe 5 µm, 左肺 ✓\n\tx"
    assert visible(text) == text and printable("ä b") == "ä b" and printable("a\nb") == "a\ufffdb"
