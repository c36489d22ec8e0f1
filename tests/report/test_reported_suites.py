"""The benchmarks of a report, and their order."""

from lmms_medtasks.board.site import suite_words
from lmms_medtasks.report.reported_suites import reported_suites


def test_a_report_has_the_boards_order_of_benchmarks() -> None:
    assert list(reported_suites()) == suite_words.sort_suites(reported_suites())
    assert next(iter(reported_suites())) == "medq_deg"
