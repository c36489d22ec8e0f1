"""What a reply about a grid claims, worked by hand."""

from lmms_medtasks.grids import triage


def test_false_alarms_are_claims_on_negatives():
    assert triage.false_alarm(["top-left"], True) == 1
    assert triage.false_alarm(["yes"], True) == 1
    for silent in ("no", "none", "empty", "ambiguous", "refused", "unreadable", "cut"):
        assert triage.false_alarm([silent], True) == 0
    assert triage.false_alarm(["top-left"], False) is None
    assert triage.false_alarm(["failed"], True) is None
    assert triage.false_alarm(["top-left", "none", "failed"], True) == 1 / 2


def test_abstentions_name_no_outlier_on_positives():
    for silent in ("none", "no", "empty", "refused", "unreadable", "cut"):
        assert triage.abstention([silent], False) == 1
    for other in ("top-left", "bottom-right", "ambiguous", "yes"):
        assert triage.abstention([other], False) == 0
    assert triage.abstention(["none"], True) is None
    assert triage.abstention(["failed"], False) is None
