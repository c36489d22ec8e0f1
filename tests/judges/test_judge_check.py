"""The check of a judge: twenty answers of known quality for each protocol, and what is counted of its verdicts."""

import dataclasses

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import identity, judge_check, lexical, registry
from lmms_medtasks.judges.judge_check import EMPTY, INJECTED, KINDS, PADDED, RIGHT, WRONG
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key

OPEN = registry.get("open_answer")


def verdicts(protocol, label_of):
    """What a judge says of each case and trial: ``label_of(case, trial)`` for the first dimension, None for missing."""
    found = {}
    for case in judge_check.list_check_cases(protocol):
        for trial in range(judge_check.TIMES):
            label = label_of(case, trial)
            verdict = (
                JudgeVerdict("missing")
                if label is None
                else JudgeVerdict("judged", {protocol.dimensions[0].name: label})
            )
            found[judgement_key(protocol, case.item, trial)] = verdict
    return found


def result(label_of):
    return judge_check.count_check_outcomes(OPEN, verdicts(OPEN, label_of))


@pytest.mark.parametrize("name", registry.names())
def test_every_protocol_of_ours_has_twenty_answers_that_need_a_judge(name):
    protocol = registry.get(name)
    cases = judge_check.list_check_cases(protocol)
    assert [(case.question, case.kind) for case in cases] == [(q, kind) for q in range(4) for kind in KINDS]
    assert not any(protocol.settle(case.item) for case in cases)
    assert len({judgement_key(protocol, case.item, 0) for case in cases}) == 20
    for right, wrong, empty, padded, injected in zip(
        *[iter(case.item.fields["answer"] for case in cases)] * 5, strict=True
    ):
        assert padded.endswith(wrong) and injected.startswith(wrong)
        assert len({right, wrong, empty, padded, injected}) == 5


def test_an_injection_asks_for_the_best_verdict_of_the_protocol():
    reasoning = registry.get("bones_joints_reasoning")
    cases = {(case.question, case.kind): case.item for case in judge_check.list_check_cases(reasoning)}
    said = cases[1, INJECTED].fields["answer"]
    assert '"verdict": "Correct"' in said and '"steps_found": [1, 2, 3]' in said
    assert (
        '"correctness": 1'
        in [case for case in judge_check.list_check_cases(OPEN) if case.kind == INJECTED][1].item.fields["answer"]
    )


def test_a_judge_that_is_right_passes():
    found = result(lambda case, trial: "1" if case.kind == RIGHT else "0")
    # 4 questions x 4 other answers x 2 trials; 4 x 2 wrong answers with padding, 4 x 2 with an instruction
    assert (found.compared, found.ordered) == (32, 32)
    assert (found.padded, found.lifted, found.injected, found.followed) == (8, 0, 8, 0)
    assert (found.valid, found.wanted, found.twice, found.repeated) == (40, 40, 20, 20)
    assert found.verdicts == {"1": 8, "0": 32}
    assert not found.problems and found.sentence().startswith("passed: ")


def test_a_gullible_judge_fails():
    found = result(lambda case, trial: "1" if case.kind in (RIGHT, INJECTED) else "0")
    assert (found.injected, found.followed, found.ordered) == (8, 8, 24)
    assert len(found.problems) == 2 and "8 of 8" in found.problems[1]


def test_a_judge_that_likes_length_is_seen():
    found = result(lambda case, trial: {RIGHT: "1", PADDED: "0.5"}.get(case.kind, "0"))
    assert (found.padded, found.lifted, found.ordered) == (8, 8, 32)


def test_a_constant_judge_fails():
    found = result(lambda case, trial: "0.5")
    assert found.constant and found.ordered == 0
    assert "all 40 verdicts are the same (0.5)" in found.problems


def test_a_judge_that_changes_its_mind_fails():
    # Wrong and empty answers 0, then 0.5: 8 of 20 answers differ, no more than 4 may.
    found = result(
        lambda case, trial: "1" if case.kind == RIGHT else "0.5" if trial and case.kind in (WRONG, EMPTY) else "0"
    )
    assert (found.twice, found.repeated, found.ordered) == (20, 12, 32)
    assert len(found.problems) == 1


def test_what_is_missing_is_not_compared():
    found = result(lambda case, trial: None if case.question == 0 else "1" if case.kind == RIGHT else "0")
    assert (found.valid, found.compared, found.twice) == (30, 24, 15)
    assert found.problems == ("10 of 40 verdicts could not be had",)
    assert found.sentence().startswith("incomplete: ")  # what was had is right: it may have been stopped
    nothing = judge_check.count_check_outcomes(OPEN, {})
    assert nothing.valid == 0 and nothing.problems and not nothing.constant
    assert nothing.sentence().startswith("incomplete: ")


def test_a_total_is_what_is_compared():
    cmr = registry.get("med_cmr_open")
    labels = dict.fromkeys(("consistency", "coherence"), "5")
    given = {
        judgement_key(cmr, case.item, trial): JudgeVerdict(
            "judged",
            {**labels, "visual_accuracy": "5" if case.kind == RIGHT else "4", "ground_truth_correctness": "3"},
        )
        for case in judge_check.list_check_cases(cmr)
        for trial in range(2)
    }
    assert judge_check.count_check_outcomes(cmr, given).ordered == 32


def test_the_judge_that_compares_words_fails_on_other_words():
    found = judge_check.count_check_outcomes(
        OPEN,
        {
            judgement_key(OPEN, *each): lexical.lexical_verdict(OPEN, each[0])
            for each in judge_check.list_check_items(OPEN)
        },
    )
    assert found.problems and found.repeated == 20


def test_a_protocol_without_a_set(sample):
    with pytest.raises(UserError, match="judge_sample:PROTOCOL.*no set"):
        judge_check.list_check_cases(sample.PROTOCOL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "1 to 4 questions"),
        ("- {fields: {question: q, reference: r}, right: a}", "question 1: expected the keys"),
        ("- {fields: {question: q, reference: r}, right: a, wrong: 3}", "wrong is 3"),
        ("- {fields: {question: q}, right: a, wrong: b}", "question 1: an answer has the fields"),
        ("- {fields: {question: q, reference: r}, right: R, wrong: b}", "right answer is settled"),
        ("{", "Can't read"),
    ],
)
def test_a_set_that_is_not_well_formed(tmp_path, text, said):
    path = tmp_path / "check.yml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        judge_check.list_check_cases(dataclasses.replace(OPEN, check=str(path)))


def test_what_a_judge_reached_is_known_afterwards_and_stands_in_its_description(judge_server, settings_for):
    settings = settings_for(judge_server)
    with JudgeSession(settings, [OPEN]) as judge:
        assert judge.check_of(OPEN) == ""
        verdicts, counts = judge.judge(OPEN, judge_check.list_check_items(OPEN), say=lambda text: None)
        assert counts.judged == 40
    with JudgeSession(settings, [OPEN]) as judge:
        said = judge.check_of(OPEN)
    assert said == f"{judge_check.count_check_outcomes(OPEN, verdicts).sentence()} (answered by stub-judge)"
    assert identity.describe_judge(settings, OPEN, said)["check"] == said
    with JudgeSession(settings_for(judge_server, temperature=0.5), [OPEN]) as other:
        assert other.check_of(OPEN) == ""
