"""The simulations of confidence and of the Dunning-Kruger figures: they run, and give the same numbers again."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def simulate(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return importlib.import_module("simulations.dunning_kruger")


def test_claims_are_made_again_from_the_same_seed(simulate):
    first, second = (list(simulate._calibration(2, 5)) for _ in "12")
    assert first == second
    assert len(first) == 18
    # Agreement less accuracy of a guesser is about 0 at both T; the paper's shift is not.
    guesser = [each for each in first if each.about == "the paper's shift" and "guesser" in each.setting]
    assert [claim.figures[0].value > 0.1 for claim in guesser] == [True, False]


def test_no_change_is_simulated_with_a_test(simulate):
    claims = list(simulate._intra_model(1, 0))
    assert {claim.repeats for claim in claims} == {1}
    assert any("nothing changes" in claim.setting for claim in claims)
