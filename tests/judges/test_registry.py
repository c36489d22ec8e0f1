"""Protocols by name."""

import dataclasses

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import registry
from lmms_medtasks.judges.protocol import ScoreDimension


@pytest.mark.parametrize("name", registry.names())
def test_the_built_in_ones_are_well_formed(name):
    protocol = registry.get(name)
    assert protocol.name == name
    assert protocol.paper_judge and protocol.source


def test_ones_own(sample):
    assert registry.get("judge_sample:PROTOCOL") is sample.PROTOCOL


def test_mistakes(sample, monkeypatch):
    with pytest.raises(UserError, match="Unknown judge protocol 'med_cmr'.*package.module:NAME"):
        registry.get("med_cmr")
    with pytest.raises(UserError, match="no module 'no_such_module'"):
        registry.get("no_such_module:PROTOCOL")
    with pytest.raises(UserError, match="judge_sample has no 'NONE'"):
        registry.get("judge_sample:NONE")
    with pytest.raises(UserError, match="'SCALE' is a dict, expected"):
        registry.get("judge_sample:SCALE")
    monkeypatch.setattr(sample, "OTHER", sample.PROTOCOL, raising=False)
    with pytest.raises(UserError, match="calls itself 'judge_sample:PROTOCOL'"):
        registry.get("judge_sample:OTHER")
    monkeypatch.setattr(sample, "TAKEN", dataclasses.replace(sample.PROTOCOL, name="open_answer"), raising=False)
    with pytest.raises(UserError, match="'open_answer', which is one of ours"):
        registry.get("judge_sample:TAKEN")


def test_ones_own_may_have_a_name_of_its_own_and_is_then_found_by_it(sample, monkeypatch):
    monkeypatch.setattr(sample, "NAMED", dataclasses.replace(sample.PROTOCOL, name="five_stars"), raising=False)
    found = registry.get("judge_sample:NAMED")
    assert (found.name, found.reference) == ("five_stars", "judge_sample:NAMED")
    assert registry.get("five_stars") is found
    monkeypatch.setattr(sample, "AGAIN", dataclasses.replace(sample.PROTOCOL, name="five_stars"), raising=False)
    with pytest.raises(UserError, match="Two judge protocols are called 'five_stars': judge_sample:NAMED and"):
        registry.get("judge_sample:AGAIN")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"dimensions": ()}, "expected one or more dimensions"),
        ({"dimensions": (ScoreDimension("a", {"1": 1, "2": 2}),) * 2}, "of different names"),
        ({"dimensions": (ScoreDimension("a", {"1": 1}),)}, "expected two or more"),
        ({"trials": 0}, "trials 0 and version 1 must be 1 or more"),
        ({"version": 0}, "version 0"),
        ({"prompt": "nowhere.txt"}, "No judge prompt"),
        (
            {"dimensions": (ScoreDimension("reasons", {"1": 1, "2": 2}),)},
            "'reasons' is what a judge's reasons are called",
        ),
        ({"reply": "json"}, "Unknown reply 'json'.*Allowed: free, schema"),
    ],
)
def test_not_well_formed(protocol, changes, match):
    with pytest.raises(UserError, match=match):
        registry.check_protocol(dataclasses.replace(protocol, **changes))


def test_a_dimension_by_its_name(protocol):
    assert protocol.dimension("correctness").best == 5
    with pytest.raises(UserError, match="Unknown dimension 'corectness'.*Did you mean 'correctness'"):
        protocol.dimension("corectness")
