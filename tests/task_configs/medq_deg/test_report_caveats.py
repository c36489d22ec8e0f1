"""What a report says before its numbers."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report


@pytest.fixture
def said(write_run):
    def of(**chosen):
        (part,) = build_report([write_run(**chosen)], ReportOptions(resamples=0, drawn=False)).parts
        return [(flag.kind, flag.text) for flag in part.flags]

    return of


def warnings(found):
    return [text for kind, text in found if kind == "warning"]


def test_whole_run_of_full_data_has_no_warning(said):
    found = said(trials={level: {"q1": "ABABABABAB", "q2": "ABABABABAB"} for level in range(3)})
    assert warnings(found) == []
    assert [text for _, text in found] == [
        "Degradations are this package's own, rendered on the fly; the paper's numbers are on its release's images."
    ]


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ({"metadata": {"data": "mini"}}, "mini data (MedQ-Deg): practice, not the benchmark"),
        ({"metadata": {"data": "sample"}}, "sample data (MedQ-Deg)"),
        (
            {"metadata": {"data": "sample", "data_counts": "clean: 57 questions, 2,153 expected"}},
            "sample data (MedQ-Deg); clean: 57 questions, 2,153 expected",
        ),
        (
            {"metadata": {"data": "full", "data_counts": "clean: 57 questions, 2,153 expected"}},
            "full, counts accepted data (MedQ-Deg); clean: 57 questions, 2,153 expected",
        ),
        ({"metadata": {"package_modified": True}}, "are not as installed or committed"),
        ({"metadata": {"image_encoding": "JPEG, quality 75"}}, "re-encoded the images (JPEG, quality 75)"),
        (
            {"metadata": {"trials_independent": "unknown", "trials_independent_why": "it sends no top_k"}},
            "trials may not be independent draws: it sends no top_k.",
        ),
        ({"original": 9}, "2 of 9 questions asked (--limit 2)"),
        ({"levels": [1]}, "Levels missing: L0, L2. Without L0 there are no drops."),
        ({"levels": [0, 2]}, "Levels missing: L1. What needs them is left empty."),
        ({"trials": {0: {"q1": "AA", "q2": "B!"}}, "levels": [0]}, "1 of 4 requests failed"),
        ({"trials": {0: {"q1": "AA", "q2": "B"}}, "levels": [0]}, "1 questions have fewer trials than T"),
        ({"trials": {0: {"q1": "A", "q2": "B"}}, "levels": [0]}, "T = 1"),
        ({"trials": {0: {"q1": "AA", "q2": "BB"}}, "levels": [0]}, "same reply on 100.0% of the questions"),
        ({"trials": {0: {"q1": "AA"}, 1: {"q1": "AB", "q2": "AA"}}, "levels": [0, 1]}, "1 of 2 degraded questions"),
    ],
)
def test_warning(said, chosen, text):
    assert any(text in each for each in warnings(said(**chosen)))


def test_few_trials_and_release_are_noted(said):
    found = [text for kind, text in said(stem="medq_deg_release", together=True) if kind == "note"]
    assert any(text.startswith("T = 2: with so few votes") for text in found)
    assert "The release's own degraded images were used, as in the paper." in found


def test_log_that_is_shorter_than_asked_for(write_run):
    folder = write_run("cut")
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    (part,) = build_report([folder], ReportOptions(resamples=0, drawn=False)).parts
    texts = [flag.text for flag in part.flags]
    assert any("medq_deg_l1: 1 of 2 in the log" in text for text in texts)
