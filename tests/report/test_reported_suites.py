"""The benchmarks of a report, and their order."""

from lmms_medtasks.board.site import suite_words
from lmms_medtasks.report.reported_suites import suites


def test_a_report_has_the_boards_order_of_benchmarks() -> None:
    assert list(suites()) == suite_words.order(suites())
    assert next(iter(suites())) == "medq_deg"
