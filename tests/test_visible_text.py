"""Nothing in a text of others is invisible on a page, in a table file or on a terminal."""

import pytest

from lmms_medtasks.report import report_page
from lmms_medtasks.report.cells import label_column
from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.document import Cell, Frame, FrameRow
from lmms_medtasks.report.markdown import escape_markdown
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.visible_text import replace_invisible

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
    page = report_page.jinja_environment().from_string("{{ text }}").render(text=text)
    table = Frame("t", "t", (label_column("x"),), (FrameRow((Cell(text),)),))
    assert replace_invisible(text) == make_printable(text) == page == shown
    assert shown in render_csv(table) and hidden not in render_csv(table)
    assert hidden not in escape_markdown(text)


def test_what_can_be_seen_stays():
    text = "Größe 5 µm, 左肺 ✓\n\tx"
    assert replace_invisible(text) == text and make_printable("ä b") == "ä b" and make_printable("a\nb") == "a\ufffdb"
