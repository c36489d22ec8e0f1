"""Simulations of methods (SURE-VQA), of cases (Bones and Joints), of any number: they run, and are the same again."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])


@pytest.mark.parametrize(
    ("part", "least"), [("methods", 18), ("cases", 10), ("any_number", 24), ("any_number_gate", 12)]
)
def test_claims_are_reproducible_and_in_percent(part, least):
    simulate = importlib.import_module(f"simulations.{part}").simulate
    claims = list(simulate(1, 3))
    assert len(claims) >= least and claims == list(simulate(1, 3))
    for claim in claims:
        assert claim.repeats == 1 and claim.figures[0].value in (0, 100)
