"""What a reply about a grid claims, worked by hand."""

from lmms_medtasks.grids import triage


def test_false_alarms_are_claims_among_the_answers_about_negatives():
    assert triage.false_alarm_share(["top-left"]) == 1 == triage.false_alarm_share(["yes"])
    assert triage.false_alarm_share(["no"]) == 0 == triage.false_alarm_share(["none"])
    for without in ("empty", "ambiguous", "refused", "unreadable", "cut", "failed"):
        assert triage.false_alarm_share([without]) is None
        assert triage.false_alarm_share(["top-left", "none", without]) == 1 / 2


def test_abstentions_name_no_outlier_on_positives():
    for silent in ("none", "no", "empty", "refused", "unreadable", "cut"):
        assert triage.abstention_share([silent]) == 1
    for other in ("top-left", "bottom-right", "ambiguous", "yes"):
        assert triage.abstention_share([other]) == 0
    assert triage.abstention_share(["failed"]) is None


def test_a_question_has_the_measure_of_its_sign_also_without_a_score():
    assert triage.triage_scores(["cut"], True) == {"false_alarm": None}
    assert triage.triage_scores(["cut"], False) == {"abstention": 1}
