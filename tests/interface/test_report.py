"""A report as an object: its tables are the report's, its figures SVG."""

import csv
import io
from xml.etree import ElementTree

import pytest

import lmms_medtasks as mt
from lmms_medtasks.report.csv_writer import render_csv


@pytest.fixture(scope="module")
def folder(medq_deg_runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    medq_deg_runs.write(path)
    return path


@pytest.fixture(scope="module")
def report(folder):
    return mt.report(folder)


def test_a_table_has_the_cells_of_its_csv(report):
    of_key = {table.key: (table, part) for part, table in report.document.tables()}
    assert list(report.tables) == list(of_key) and len(of_key) > 10
    for key, frame in report.tables.items():
        table, part = of_key[key]
        head, *rows = csv.reader(io.StringIO(render_csv(table, part.origin)))
        origin = {name for name, _ in part.origin}
        assert [name for name in head if name.lstrip("'") not in origin] == [
            f"'{name}" if name[0] in "=+-@" else name for name in frame.columns
        ]
        assert len(frame) == len(rows) and frame.attrs["title"] == table.title
    levels = report.tables["levels"].set_index("level")
    assert levels["accuracy (%)"].tolist() == [75.0, 25.0, 0.0]
    assert set(levels["accuracy (%) reason"]) == {"fewer than 5 images"}


def test_figures_are_svg_that_needs_no_style_sheet(report, tmp_path):
    assert list(report.figures) == [figure.key for part in report.document.parts for each in part.sections
                                    for figure in each.figures]  # fmt: skip
    assert len(report.figures) == 5 and all(each.title for each in report.figures.values())
    for name, chart in report.figures.items():
        path = chart.save(tmp_path / "charts" / f"{name}.svg")
        root = ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg") and chart._repr_svg_() == path.read_text("utf-8")
        assert "var(--" not in chart.svg and "light-dark" not in chart.svg and "<style>.chart text" in chart.svg
        with pytest.raises(mt.UserError, match=r"\.svg"):
            chart.save(tmp_path / "chart.png")


def test_a_notebook_shows_the_page_in_a_frame(report):
    assert repr(report) == "RunReport('MedQ-Deg: some_model': 14 tables, 5 figures, 3 warnings)"
    assert str(report).startswith("some_model   3 tasks") and "May these numbers be quoted?" in str(report)
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<style>" not in shown and "&lt;style&gt;" in shown
    assert report.html.lower().startswith("<!doctype html>")
    assert report.markdown.startswith("# MedQ") and len(report.warnings) == 3


def test_what_is_saved_is_the_page_the_markdown_and_a_file_a_table(report, tmp_path):
    """The command ``report -o`` writes by this method."""
    written = report.save(tmp_path / "own")
    names = ["report.md", "report.html", *(f"{key}.csv" for key in report.tables)]
    assert [each.name for each in written] == names and all(each.is_file() for each in written)
    assert written[0].read_text("utf-8") == report.markdown
    assert report.save(tmp_path / "new" / "one.html") == [tmp_path / "new" / "one.html"]
    assert (tmp_path / "new" / "one.html").read_text("utf-8") == report.html
    with pytest.raises(mt.UserError, match="x.pdf"):
        report.save(tmp_path / "x.pdf")


def test_a_report_without_figures_has_none(folder):
    made = mt.report([folder], figures=False)
    assert made.figures == {} and len(made.tables) == 14


def test_what_is_no_run_is_refused(tmp_path, folder):
    with pytest.raises(mt.UserError, match="No run was named"):
        mt.report([])
    with pytest.raises(mt.UserError, match="is not there"):
        mt.report(tmp_path / "nowhere")
    with pytest.raises(mt.UserError, match="one folder or file, got 2"):
        mt.compare([tmp_path, tmp_path], tmp_path)
    for call, said in (
        (lambda: mt.report(1.5), "got float"),
        (lambda: mt.report(folder, resamples="many"), "resamples must be a whole number"),
        (lambda: mt.report(folder, pairs=[("a",)]), "pairs of models' names"),
        (lambda: mt.report(folder, parameters={"a": 0}), "a number above 0 by model"),
        (lambda: mt.compare(folder, folder, tasks=3), "tasks must be a list"),
        (lambda: mt.compare(folder, folder, questions=1.5), "questions must be a whole number"),
    ):
        with pytest.raises(mt.UserError, match=said):
            call()
