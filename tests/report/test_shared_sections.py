"""A note on image sizes beside the numbers of degraded levels."""

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.report.shared_sections import describe_image_sizes
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.table import QuestionTable


def results(*sides, drawn=None):
    records = [
        QuestionRecord(
            f"q{number}", f"i{number}", ("A",), "A", {"accuracy": ScoreValue(1.0)},
            {"degradation": "motion_blur", "severity": 2},
            details={"degradation_parameters": drawn or [{"shorter_side": side, "length_share": 40 / side}]},
        )
        for number, side in enumerate(sides)
    ]  # fmt: skip
    rows = QuestionTable.of_records(records)
    return ModelResults("m", rows, rows, 0)


def test_mixed_sizes_are_said_once_for_all_models():
    [note] = describe_image_sizes([results(320, 512, 1024), results(320, 512, 1024)])
    assert "shorter sides 320 to 1,024 pixels, median 512." in note and "motion_blur L2 3.91 to 12.5 %" in note


def test_nothing_is_said_of_one_size_and_of_what_is_not_recorded():
    assert describe_image_sizes([results(1000, 1024)]) == ()
    at_random = [{"shorter_side": 800, "length_share": share} for share in (0.0016, 0.0024)]
    assert describe_image_sizes([results(800, 800, drawn=at_random)]) == ()
    for drawn in ([{"sigma": 3.0}], [{"shorter_side": "wide", "length_share": 0.1}], ["a text"],
                  [{"shorter_side": 2**64 - 1, "length_share": 0.1}]):  # fmt: skip
        assert describe_image_sizes([results(320, 1024, drawn=drawn)]) == ()
