"""The report in each of its forms: what it shows, hostile texts, and the same bytes for the same runs."""

import base64
import csv
import hashlib
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.cells import decimal_column, number_cell, percent_cell, percent_column, points_column
from lmms_medtasks.report.csv_writer import all_csv, render_csv
from lmms_medtasks.report.document import (
    MARKS,
    Cell,
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportSection,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.published import published_discrepancies
from lmms_medtasks.report.report_page import render_html
from lmms_medtasks.report.suite_report import part_key
from lmms_medtasks.report.terminal import print_report
from lmms_medtasks.statistics.intervals import ALIKE, FEW, FEW_IN_GROUP, MISSING, ZERO, IntervalEstimate
from lmms_medtasks.task_configs.medq_deg.report_published import FOLDER

LEVELS = "medq_deg_l0, medq_deg_l1, medq_deg_l2; our degradations, 2 trials"
HOSTILE = "</svg><script>alert(1)</script>[bold]|*$x$*\x1b[31m"


def terminal(document, everything=True):
    console = Console(width=300, file=io.StringIO(), force_terminal=False)
    print_report(document, console, everything=everything)
    return console.file.getvalue()


# A document is frozen: tests that only look at one share it.


@pytest.fixture(scope="module")
def runs(medq_deg_runs, tmp_path_factory):
    """Two runs, of two models."""
    folders = [tmp_path_factory.mktemp(name) for name in "ab"]
    medq_deg_runs.write(folders[0])
    other = {level: {"q1": "BB", "q2": "BB"} for level in range(3)}
    medq_deg_runs.write(folders[1], model="other", trials=other)
    return folders


@pytest.fixture(scope="module")
def document(runs):
    return build_report(runs[:1], ReportOptions(resamples=50, drawn=False))


@pytest.fixture(scope="module")
def several_drawn(runs):
    return build_report(runs, ReportOptions(resamples=50))


def table(document, key, part=0):
    return next(each for owner, each in document.tables() if each.key == key and owner is document.parts[part])


class Checker(HTMLParser):
    """Tags that stay open, ids that are there twice, links to nowhere, and addresses outside the page."""

    VOID = {"wbr", "meta", "link", "br", "img", "use"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.outside, self.tags = [], [], [], [], set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self._look(attributes)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self._look(attributes)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def _look(self, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "xlink:href"):
                (self.links if value.startswith("#") else self.outside).append(value)
            assert not name.startswith("on")


def checked(text):
    checker = Checker()
    checker.feed(text)
    checker.close()
    return checker


def only_our_script(text):
    """Whether the page has one script, whose digest its content security policy names, and lets no other run."""
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    return policy.startswith("default-src 'none';") and f"script-src 'sha256-{digest}';" in policy


def test_page_is_whole_and_needs_nothing_else(several_drawn):
    text = render_html(several_drawn)
    found = checked(text)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links} <= set(found.ids)
    assert all(address.startswith("data:") for address in found.outside)
    assert only_our_script(text)
    assert not re.search(r"@import|url\((?!#)", text)


def test_every_figure_has_its_numbers_beside_it(several_drawn):
    for part in several_drawn.parts:
        keys = {each.key for section in part.sections for each in section.tables}
        assert {figure.table for section in part.sections for figure in section.figures} <= keys


def test_same_runs_give_the_same_bytes(write_run):
    folder = write_run()
    first, second = (build_report([folder], ReportOptions(resamples=20)) for _ in range(2))
    for write in (render_markdown, all_csv, render_html, terminal):
        assert write(first) == write(second)


def test_terminal_shows_the_run_and_leaves_the_published_to_the_files(document):
    text = terminal(document, everything=False)
    assert "75.0" in text
    assert "InternVL3" not in text
    assert "InternVL3" in terminal(document)
    assert "not run here" in terminal(document)


def test_published_rows_stand_below_the_run(document):
    table6 = table(document, "table6")
    # Two rows of the run, by the paper's rule and as read for accuracy; its replies are bare letters, read alike.
    for row, reading in zip(table6.rows, ("read by the paper's rule", "read as in our accuracy"), strict=False):
        assert [cell.value for cell in row.cells] == ["some_model", f"this run ({reading})", 75, 25, 0, -50, -75]
    assert len(table6.rows) == 42
    assert all(row.kind == "reference" and "published" in row.cells[1].value for row in table6.rows[2:])
    # Tables 2 and 3: the paper's four rows of averages too.
    assert len(table(document, "table2").rows) == len(table(document, "table3").rows) == 45
    # Average, drop; Clinical Understanding 0, drop 50; Imaging Perception 25, drop 75; then nothing is known.
    values = [cell.value for cell in table(document, "table2").rows[0].cells]
    assert values == ["some_model", "this run", 12.5, 62.5, 0, 50, 25, 75, *[None] * 8]
    assert table(document, "table2").rows[0].cells[2].mark == "∂"


def test_published_numbers_that_do_not_add_up_are_named(document):
    odd = [each for each in published_discrepancies(FOLDER) if each["table"] == 2]
    notes = " ".join(table(document, "table2").all_notes)
    assert odd
    assert all(f"{each['row']}, {each['column']}: {each['printed']:g} printed" in notes for each in odd)


def test_empty_groups_are_empty_not_zero(document):
    rows = {row.cells[0].value: row for row in table(document, "capabilities").rows}
    anatomy = rows["Anatomical Recognition (AR)"]
    assert [cell.value for cell in anatomy.cells[1:]] == [0, None, None, None]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_run_of_one_level_says_so_everywhere(write_run, level):
    document = build_report([write_run(levels=[level])], ReportOptions(resamples=20))
    for text in (terminal(document), render_markdown(document), render_html(document)):
        assert "Levels missing" in text
        assert "needs L0 and L2" in text
    row = table(document, "table6").rows[0]
    assert [cell.value is None for cell in row.cells[2:]] == [*(each != level for each in range(3)), True, True]


def test_limited_run_says_so(write_run):
    document = build_report([write_run(original=9)], ReportOptions(resamples=20))
    for text in (terminal(document), render_html(document)):
        assert "2 of 9 questions asked (--limit 2)" in text
    assert table(document, "table6").rows[0].cells[1].value.startswith("this run (full, --limit 2; read")


def test_csv_says_whose_it_is(write_run):
    runs = [write_run("a", model="=one", metadata={"data": "mini"}), write_run("b", model="two", original=9)]
    document = build_report(runs, ReportOptions(resamples=0, drawn=False))
    for part, model, data in ((1, "'=one", "mini"), (2, "two", "full, --limit 2")):
        rows = list(
            csv.DictReader(io.StringIO(render_csv(table(document, "table6", part), document.parts[part].origin)))
        )
        said = [(row["run model"], row["run task set"], row["run data"]) for row in rows]
        assert said[:2] == 2 * [(model, LEVELS, data)]
        # The published rows are of no run.
        assert set(said[2:]) == {("", "", "")}
    rows = list(csv.DictReader(io.StringIO(render_csv(table(document, "models"), document.parts[0].origin))))
    assert [row["data"] for row in rows] == ["mini", "full, --limit 2"]
    assert {row["data of the runs"] for row in rows} == {"mini; full, --limit 2"}
    assert "full, --limit 2" in all_csv(document)


@pytest.mark.parametrize("level", [1, 2])
def test_tables_of_one_degraded_level_say_which(write_run, level):
    document = build_report([write_run(levels=[0, level])], ReportOptions(resamples=0, drawn=False))
    for key in ("table2", "table3"):
        found = table(document, key)
        assert found.columns[1].text(found.rows[0].cells[1]) == f"this run (L{level} only)‡"
        assert any(note.startswith("‡ Of one degraded level only") for note in found.all_notes)
    assert table(document, "capabilities").title == f"Accuracy by capability, L{level}"
    assert table(document, "categories").title.endswith(f", L{level}")


def test_both_levels_have_no_mark(document):
    found = table(document, "table2")
    assert found.title == "Table 2: capabilities, L1 and L2"
    assert not any(note.startswith("‡") for note in found.all_notes)


@pytest.mark.parametrize("reason", [FEW, FEW_IN_GROUP, ALIKE, MISSING, ZERO])
def test_a_number_without_an_interval_has_the_mark_of_the_reason(reason):
    found = percent_cell(IntervalEstimate(0.5, None, None, 9, 4, reason=reason))
    assert (found.value, found.low, found.reason) == (50, None, reason)
    assert found.mark in MARKS and found == replace(
        number_cell(IntervalEstimate(0.5, None, None, 9, 4, reason=reason)), value=50
    )
    shown = Frame("t", "T", (percent_column("x"),), (FrameRow((found,)),))
    assert any(note.startswith(found.mark) for note in shown.all_notes)
    assert render_csv(shown).splitlines() == ["x (%),x (%) reason,row", f"50.0,{reason},run"]


def test_run_without_any_reply(write_run):
    trials = {level: {"q1": "!!", "q2": "!!"} for level in range(3)}
    document = build_report([write_run(trials=trials)], ReportOptions(resamples=20))
    assert checked(render_html(document)).open == []
    assert [cell.value for cell in table(document, "levels").rows[0].cells] == ["L0", 0, None, None]
    assert "12 of 12 requests failed" in render_markdown(document)


def test_hostile_texts(write_run):
    questions = {
        "q1": ("a", HOSTILE, HOSTILE, "gaussian_noise", 4, "A"),
        "q2": ("b", "MRI", "=cmd()", "motion_blur", 2, "B"),
    }
    runs = [write_run("a", model=HOSTILE, questions=questions), write_run("b", model="=other", questions=questions)]
    document = build_report(runs, ReportOptions(resamples=20))
    text = render_html(document)
    found = checked(text)
    assert found.open == []
    assert only_our_script(text)
    assert "&lt;script&gt;" in text
    shown = terminal(document)
    assert "\x1b" not in shown
    assert any("[bold]" in line and "this run" in line for line in shown.splitlines())
    lines = render_markdown(document).splitlines()
    assert not any(re.search(r"(?<!\\)<script", line) for line in lines)
    # Every row of a table has as many cells as its head: a "|" in a name starts none.
    for above, below in zip(lines, lines[1:], strict=False):
        if above.startswith("|") and below.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", above)) == len(re.findall(r"(?<!\\)\|", below))
    cells = [cell for row in csv.reader(io.StringIO(all_csv(document))) for cell in row]
    assert not any(cell.startswith("=") for cell in cells)
    assert any("'=other" in cell for cell in cells)


def test_unmapped_capabilities_are_counted(write_run):
    questions = {"q1": ("a", "CT", "Tea Making", "gaussian_noise", 4, "A")}
    document = build_report(
        [write_run(questions=questions, trials={1: {"q1": "AB"}}, levels=[1])], ReportOptions(resamples=0, drawn=False)
    )
    notes = table(document, "capabilities").notes
    assert "1 questions are of no capability of the paper's and in no row." in notes


def test_csv_has_numbers_in_full_and_intervals_in_columns():
    shown = Frame(
        "key",
        "title",
        (FrameColumn("name", "text"), percent_column("accuracy")),
        (FrameRow((Cell("a, b"), Cell(100 / 3, 30.0, 40.0))), FrameRow((Cell("c"), Cell(None)), "reference")),
    )
    assert render_csv(shown) == (
        'name,accuracy (%),accuracy (%) low,accuracy (%) high,row\n"a, b",33.3333,30.0,40.0,run\nc,,,,reference\n'
    )


@pytest.mark.parametrize(
    ("column", "cell", "text"),
    [
        (percent_column("x"), Cell(None), "–"),
        (percent_column("x"), Cell(12.345, 10, 15, "°"), "12.3 [10.0, 15.0]°"),
        (points_column("x"), Cell(1.0), "+1.0"),
        (points_column("x"), Cell(-0.01), "0.0"),
        (decimal_column("x"), Cell(-0.0001), "0.000"),
        (FrameColumn("x"), Cell(12345), "12,345"),
    ],
)
def test_numbers_for_people(column, cell, text):
    assert column.text(cell) == text


def test_figures_keep_their_texts_and_colours_follow_the_page(several_drawn):
    figures = [figure for section in several_drawn.parts[1].sections for figure in section.figures]
    shown = ["fall", "heatmap_l2", "heatmap_l1", "reliability", "modalities"]
    assert [figure.key for figure in figures] == shown
    assert [figure.key for figure in figures if figure.folded] == ["heatmap_l1"]
    for figure in figures:
        # Colours are the page's: no element has one of its own.
        assert figure.svg.startswith('<svg class="chart ') and "#" not in figure.svg and "style=" not in figure.svg
        assert "<text" in figure.svg


def test_an_address_of_a_benchmark_stays_when_another_joins(document):
    part = document.parts[0]
    alone = replace(document, parts=(replace(part, suite="My Ward (CT)"),))
    joined = replace(document, parts=tuple(replace(part, suite=suite) for suite in ("Other", "My Ward (CT)")))
    twins = replace(document, parts=tuple(replace(part, suite=suite) for suite in ("A b", "a B", "日本")))
    ids = [set(re.findall(r'id="(suite-[^"]*)"', render_html(each))) for each in (alone, joined, twins)]
    assert ids[0] < ids[1] and len(ids[2]) == 3
    moved = replace(document, parts=tuple(replace(part, suite=suite) for suite in ("Other", "日本", "a B", "A b")))
    assert ids[2] <= set(re.findall(r'id="(suite-[^"]*)"', render_html(moved)))


def test_a_parts_address_is_its_models_and_stays_when_others_join(write_run):
    def links(names):
        runs = [write_run(name=f"{len(names)}/{number}", model=name) for number, name in enumerate(names)]
        found = build_report(runs, ReportOptions(resamples=0, drawn=False))
        return {part.title: part.key for part in found.parts}

    alone, joined = links(["z/model"]), links(["a", "all", "z/model", "z-model"])
    (key,) = alone.values()
    assert set(alone.items()) <= set(joined.items()) and key.startswith("z-model-")
    assert part_key("m_1") == "m_1"
    assert not {"all", "judge0-all"} & {part_key("all"), part_key("judge0-all")}
    assert len(set(joined.values())) == len(joined)
    assert not any(re.search(r"part[0-9]", key) for key in joined.values())


def test_reliability_is_drawn_from_the_cells_of_its_table(several_drawn):
    part = several_drawn.parts[1]
    (figure,) = (each for section in part.sections for each in section.figures if each.key == "reliability")
    (bins,) = (table.rows for section in part.sections for table in section.tables if table.key == "reliability_bins")
    said = re.findall(r"<title>(?:clean|mild|severe) \(L(\d)\): ([\d.]+), ([\d.]+), (\d+) quest", figure.svg)
    assert [(f"L{level}", sure, right, count) for level, sure, right, count in said] == [
        (level.value, f"{sure.value:.2f}".removesuffix(".00"), f"{right.value:.3f}", str(count.value))
        for level, _, _, count, sure, right in (row.cells for row in bins)
    ]


def test_the_page_is_the_same_bytes_in_every_process():
    """Notes of several tables stand in the appendix in their order, not in that of a set."""
    notes = tuple(f"note {number}" for number in range(20))
    tables = tuple(Frame(f"t{number}", "t", (FrameColumn("a"),), (), notes) for number in range(3))
    text = render_html(ReportDocument("d", (ReportChapter("p", "p", (), (), (ReportSection("s", "s", (), tables),)),)))
    assert re.findall(r'<li id="note-\d+">(note \d+)</li>', text) == list(notes)
