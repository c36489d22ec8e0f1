"""Simulations run, and give the same numbers again."""

import pytest


@pytest.mark.parametrize(
    ("part", "least"), [("methods", 3), ("cases", 10), ("any_number", 24), ("any_number_gate", 12)]
)
def test_claims_are_reproducible_and_in_percent(load, part, least):
    simulate = load(f"simulations.{part}").simulate
    claims = list(simulate(1, 3))
    assert len(claims) >= least and claims == list(simulate(1, 3))
    for claim in claims:
        assert claim.repeats == 1 and claim.figures[0].value in (0, 100)


def test_claims_of_confidence_are_made_again_from_the_same_seed(load):
    first, second = (list(load("simulations.dunning_kruger")._calibration(2, 5)) for _ in "12")
    assert first == second
    assert len(first) == 18
    # Agreement less accuracy of a guesser is about 0 at both T; the paper's shift is not.
    guesser = [each for each in first if each.about == "the paper's shift" and "guesser" in each.setting]
    assert [claim.figures[0].value > 0.1 for claim in guesser] == [True, False]


def test_no_change_is_simulated_with_a_test(load):
    claims = list(load("simulations.dunning_kruger")._intra_model(1, 0))
    assert {claim.repeats for claim in claims} == {1}
    assert any("nothing changes" in claim.setting for claim in claims)
