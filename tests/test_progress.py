"""What is told of something that takes long: a bar in a terminal, else a line now and then."""

import fcntl
import io
import pty
import struct
import termios
import threading

import pytest

from lmms_medtasks import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    """A line each 20 ms."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)


def test_without_a_terminal_lines_say_how_far_it_is_until_it_ends(quick, monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", io.StringIO())
    lines, two = [], threading.Event()

    def say(line):
        lines.append(line)
        if len(lines) == 2:
            two.set()

    shown = progress.Progress(4000, "Asking", "requests", say=say)
    shown.step(1000)
    shown.set_label("Asking b")
    assert two.wait(10)
    shown.close()
    assert lines[1].startswith("Asking b: 1,000 of 4,000 requests, ") and lines[1].endswith(" left")
    assert progress.sys.stderr.getvalue() == "" and not shown.has_bar
    told = len(lines)
    assert not threading.Event().wait(0.2) and len(lines) <= told + 1  # one may have been on its way


def test_in_a_terminal_there_is_one_bar_which_goes_and_no_line(quick, monkeypatch):
    terminal, lines = Terminal(), []
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    shown = progress.Progress(10, "Asking", "requests", say=lines.append)
    shown.move_to(7)
    shown.move_to(5)  # a runner may begin a second bar
    shown.step(5)
    assert shown.has_bar and shown.done == 10
    shown.close()
    assert "Asking" in terminal.getvalue() and not lines
    assert terminal.getvalue().endswith("\r")  # nothing of it is left


def test_in_a_terminal_without_columns_there_are_lines(quick, monkeypatch):
    """As in one of `script` that has no size."""
    ours, other = pty.openpty()
    with open(ours, "rb"), open(other, "w") as terminal:
        monkeypatch.setattr(progress.sys, "stderr", terminal)
        told = threading.Event()
        shown = progress.Progress(10, "Asking", "requests", say=lambda line: told.set())
        assert told.wait(10) and not shown.has_bar
        shown.close()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        assert progress.can_show_bar()


def test_what_is_not_shown_says_nothing(quick, monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    before = threading.active_count()
    progress.Progress(10, "Asking", "requests", is_shown=False).close()
    assert progress.sys.stderr.getvalue() == "" and threading.active_count() == before


def test_a_message_stands_above_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    with progress.progress_bar(2, "Reading", "files") as step:
        step(1)
        progress.print_message("A warning.")
    assert "\rA warning.\n" in terminal.getvalue()


@pytest.mark.parametrize(
    ("done", "total", "unit", "text"),
    [
        (0, 12, "pages", "0 of 12 pages after 30.0 s"),
        (3, None, "rows", "3 rows, 0.1 a second"),
        (6000, 12_000, "B", "6,000 of 12,000 bytes, 200 a second, about 30.0 s left"),
    ],
)
def test_how_far_it_is(done, total, unit, text):
    assert progress.describe_progress(done, total, unit, 30) == text
