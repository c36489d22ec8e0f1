"""Agreement as tables and as JSON."""

import csv
import io

import pytest

from lmms_medtasks.agreement import agreement_tables, judged_answers, rater_comparison
from lmms_medtasks.agreement.judged_answers import AnswerKey
from lmms_medtasks.report.terminal import document_text


@pytest.fixture
def made(write_run):
    """Two models, two raters, one judge that is no language model."""
    runs = [
        write_run(
            {f"q{n}": ["-" if n == 7 else f"{(n + place) % 5 + 1}3"] for n in range(10)},
            model,
            model=model,
            judge="lexical",
            description={"note": "not a language model"},
        )
        for place, model in enumerate(("=x", "y"))
    ]
    judged = judged_answers.read(runs)
    people = {
        rater: {
            AnswerKey(model, f"q{n}", 1): {"coherence": float((n * step) % 5 + 1), "visual_accuracy": 4.0}
            for model in ("=x", "y")
            for n in range(10)
        }
        for rater, step in (("anna", 1), ("ben", 3))
    }
    return judged, rater_comparison.compare(judged, people)


def test_document(made):
    document = agreement_tables.document(*made)
    (part,) = document.parts
    assert [section.key for section in part.sections] == ["people", "between-people", "wins"]
    flags = [flag.text for flag in part.flags]
    assert flags[0] == "lexical: not a language model."
    assert flags[1] == "Of 20 rated answers, left out of the comparison with lexical: 2 have no verdict of lexical."
    assert flags[2].startswith("Largest win-rate difference: 0.")
    (between,) = part.sections[1].tables
    assert between.title == "anna – ben"
    assert [column.name for column in between.columns][:4] == ["measure", "n", "Spearman", "Kendall tau-b"]
    # All gave the same in the second dimension: dashes, and why.
    visual = between.rows[1]
    assert visual.cells[2].value is None
    assert any(
        note.startswith("– both raters gave one rating only: Spearman of visual_accuracy") for note in between.notes
    )


def test_csv_has_every_number_with_its_interval_and_no_formula(made):
    text = document_text(agreement_tables.document(*made), "csv")
    blocks = [list(csv.DictReader(io.StringIO(block.split("\n", 1)[1]))) for block in text.split("\n\n")]
    assert sum(map(len, blocks)) == len(made[1].comparisons) + 2 * len(made[1].wins)
    assert {row["model"] for row in blocks[-1]} == {"'=x", "y"}
    measure = made[1].comparisons[0].coefficients["spearman"]
    row = blocks[0][0]
    assert float(row["Spearman"]) == pytest.approx(measure.value, abs=1e-5)
    assert float(row["Spearman low"]) == pytest.approx(measure.interval.low, abs=1e-5)


def test_labels_that_score_alike_are_said(made, monkeypatch):
    judged, result = made
    said = "verdict: Incorrect, Unclear score alike and count as one."
    monkeypatch.setattr(agreement_tables, "alike", lambda protocol: [said])
    assert said in [flag.text for flag in agreement_tables.document(judged, result).parts[0].flags]
