"""What a page shows at once, and what it folds."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, ReportChapter, ReportFigure, ReportSection
from lmms_medtasks.report.report_page import page_styles, render_html

TABLES = tuple(Frame(key, f"Table {key}", (FrameColumn("x"),), (FrameRow((Cell(1),)),)) for key in "abc")


def figure(key, table, folded=False):
    return ReportFigure(key, f"Figure {key}", "", "<svg></svg>", table, folded)


def shown(*sections):
    part = ReportChapter("p", "P", (), (), sections)
    return [[each.key for each in group] for group in (part.open_sections, part.folded_sections)]


def test_sections_with_figures_come_first_and_others_are_folded():
    text, drawn = (
        ReportSection("text", "", tables=TABLES),
        ReportSection("drawn", "", tables=TABLES, figures=(figure("f", "a"),)),
    )
    rare = ReportSection("rare", "", tables=TABLES, figures=(figure("f", "a"),), folded=True)
    assert shown(text, rare, drawn) == [["drawn"], ["text", "rare"]]
    assert shown(text, rare) == [["text"], ["rare"]]
    assert shown() == [[], []]


def test_a_table_lies_under_the_last_figure_that_it_has_the_numbers_of():
    section = ReportSection("s", "S", (), TABLES, (figure("1", "a"), figure("2", "a"), figure("3", "b", folded=True)))
    assert [(each.key, [table.key for table in tables]) for each, tables in section.charts] == [("1", []), ("2", ["a"])]
    figures, tables = section.rest
    assert ([each.key for each in figures], [each.key for each in tables]) == (["3"], ["b", "c"])


def test_where_all_figures_are_folded_all_are_shown():
    section = ReportSection("s", "S", (), TABLES, (figure("1", "a", folded=True),))
    assert [each.key for each, _ in section.charts] == ["1"] and section.rest[0] == ()


def test_a_folded_section_says_what_is_in_it():
    assert ReportSection("s", "Table a", tables=TABLES).contents == "Table b; Table c"
    assert ReportSection("s", "S", tables=TABLES, summary="Three tables").contents == "Three tables"


@pytest.mark.parametrize(
    ("columns", "squeeze"), [(3, ""), (8, "below"), (14, "broken")], ids=["few", "many", "very many"]
)
def test_intervals_leave_the_line_where_it_is_too_short(columns, squeeze):
    cells = tuple(Cell(12.3, 10.1, 14.5) for _ in range(columns))
    heads = tuple(FrameColumn(f"n{number}", digits=1) for number in range(columns))
    assert Frame("t", "T", heads, (FrameRow(cells),)).squeeze == squeeze
    assert ".intervals-broken td span { white-space: normal; }" in page_styles()


def test_the_worst_level_alone_is_shown_and_the_page_has_all(medq_deg_runs, tmp_path):
    medq_deg_runs.write(tmp_path)
    text = render_html(build_report([tmp_path], ReportOptions(resamples=0)))
    before, after = text.index("by capability, L2 (severe).</strong>"), text.index("by capability, L1 (mild) <small>")
    assert before < after and text.count("<figure>") == 5


def test_one_level_alone_is_shown(medq_deg_runs, tmp_path):
    medq_deg_runs.write(tmp_path, levels=[0, 1])
    (part,) = build_report([tmp_path], ReportOptions(resamples=0)).parts
    (section,) = (each for each in part.sections if each.key == "degradations")
    assert [each.key for each, _ in section.charts] == ["heatmap_l1"]
