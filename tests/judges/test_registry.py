"""Protocols by name."""

import dataclasses

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import registry
from lmms_medtasks.judges.protocol import Dimension


@pytest.mark.parametrize("name", registry.names())
def test_the_built_in_ones_are_well_formed(name):
    protocol = registry.get(name)
    assert protocol.name == name
    assert protocol.paper_judge and protocol.source


def test_ones_own(sample):
    assert registry.get("judge_sample:PROTOCOL") is sample.PROTOCOL


def test_mistakes(sample, monkeypatch):
    with pytest.raises(UserError, match="Unknown judge protocol 'med_cmr'.*give package.module:ATTRIBUTE") as raised:
        registry.get("med_cmr")
    # The name may come from a command line: the message blames no YAML.
    assert "YAML" not in str(raised.value)
    with pytest.raises(UserError, match="No module named 'no_such_module'"):
        registry.get("no_such_module:PROTOCOL")
    with pytest.raises(UserError, match="attribute 'NONE'"):
        registry.get("judge_sample:NONE")
    with pytest.raises(UserError, match="'judge_sample:SCALE' is a dict, wanted"):
        registry.get("judge_sample:SCALE")
    monkeypatch.setattr(sample, "OTHER", sample.PROTOCOL, raising=False)
    with pytest.raises(UserError, match="calls itself 'judge_sample:PROTOCOL'"):
        registry.get("judge_sample:OTHER")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"dimensions": ()}, "wanted one or more dimensions"),
        ({"dimensions": (Dimension("a", {"1": 1, "2": 2}),) * 2}, "of different names"),
        ({"dimensions": (Dimension("a", {"1": 1}),)}, "wanted two or more"),
        ({"trials": 0}, "trials 0 and version 1 must be 1 or more"),
        ({"version": 0}, "version 0"),
        ({"prompt": "nowhere.txt"}, "No judge prompt"),
        ({"dimensions": (Dimension("reasons", {"1": 1, "2": 2}),)}, "'reasons' is what a judge's reasons are called"),
        ({"reply": "json"}, "Unknown reply 'json'.*Allowed: free, schema"),
    ],
)
def test_not_well_formed(protocol, changes, match):
    with pytest.raises(UserError, match=match):
        registry.check(dataclasses.replace(protocol, **changes))


def test_a_dimension_by_its_name(protocol):
    assert protocol.dimension("correctness").best == 5
    with pytest.raises(UserError, match="Unknown dimension 'corectness'.*Did you mean 'correctness'"):
        protocol.dimension("corectness")
