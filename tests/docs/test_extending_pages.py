"""The pages on parsers, metrics and judge protocols: their blocks run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from lmms_medtasks.extensions import GROUPS
from lmms_medtasks.judges import judge_check, registry, rubric
from lmms_medtasks.report.judged_tables import _COLUMNS
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.templates.parsers import parser_of
from tests.extending_pages import PAGES, blocks, files_of, write_benchmark

NAMES = ("parser.md", "metric.md", "judge_protocol.md")


@pytest.mark.parametrize("page", NAMES)
def test_entry_points_are_those_that_are_looked_for(page):
    [group] = re.findall(r"^(lmms_medtasks\.\w+) =", blocks(page, "ini")[0], re.MULTILINE)
    assert group in GROUPS.values()


def test_the_other_parsers_of_the_page_read():
    from lmms_medtasks.extensions import Extension

    (text,) = blocks("parser.md", "python")
    declared = {}
    exec(text, declared)  # noqa: S102 (our own page)
    parser = parser_of(Extension(declared["read_finding"], "read_finding", "parts.py:read_finding", "parts.py", None))
    doc = {"id": "1", "options": [], "answer": "benign"}
    assert (parser.read(doc, "It is Benign").value, parser.answers(doc)) == ("benign", ("benign", "malignant"))


def test_the_headline_of_the_page_makes_a_sentence():
    (text,) = blocks("headline.md", "python")
    declared = {}
    exec(text, declared)  # noqa: S102 (our own page)
    rows = [
        {"id": f"q{n}", "cluster": f"i{n}", "modality": ("CT", "MRI")[n % 2], "accuracy.score": float(n % 4 > 0),
         **dict.fromkeys(_COLUMNS)}
        for n in range(8)
    ]  # fmt: skip
    table = QuestionTable.of_rows(rows)
    found = declared["HEADLINE"].of(SimpleNamespace(title="Spots"), ModelResults("m", table, table, 0))
    assert found.sentence == "75.0 % correct on all questions, 50.0 % on CT."
    assert found.clause == "75 % correct on all questions" and declared["REPORT"].headline is declared["HEADLINE"]


def test_the_chart_of_the_page_is_declared():
    (text,) = blocks("README.md", "python")
    declared = {}
    exec(text, declared)  # noqa: S102 (our own page)
    assert declared["REPORT"].views == (declared["VIEW"],) and declared["VIEW"].figures


def test_the_rubric_of_the_page_has_a_check_of_its_own(tmp_path):
    registry.forget_custom_protocols()
    protocol = registry.get("rubric.yml", write_benchmark(tmp_path / "spots", questions=3))
    registry.forget_custom_protocols()
    assert len(judge_check.list_check_cases(protocol)) == 10
    assert [each.name for each in protocol.dimensions] == ["place", "wording"]
    text = (PAGES / "judge_protocol.md").read_text("utf-8")
    assert all(f"`{key}`" in text for key in rubric.KEYS if key != "source")


def test_the_files_of_the_pages_are_those_that_the_end_to_end_run_uses():
    assert set(files_of("parser.md")) == {"spots.yaml", "parts.py"}
    assert set(files_of("metric.md")) == {"spots.yaml", "metrics.py"}
    assert set(files_of("judge_protocol.md")) == {
        "spot_words.yaml", "rubric.yml", "rubric_prompt.txt", "rubric_check.yml"
    }  # fmt: skip
