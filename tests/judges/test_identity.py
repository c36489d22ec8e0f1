"""Who judged, as it stands in results."""

import dataclasses
import json

import pytest

from lmms_medtasks.judges import identity, prompts, settings


def judge(model, provider="openai"):
    return settings.read(
        {"OPENAI_API_KEY": "sk-abc", "OPENAI_API_URL": "http://me:hidden@h:1/v1"}, f"{provider}:{model}"
    )


def test_description(protocol):
    found = identity.describe(judge("m"), protocol)
    assert found == {
        "name": "openai:m",
        "host": "h",
        "protocol": "judge_sample:PROTOCOL",
        "prompt": "judge_sample.txt",
        "version": 1,
        "digest": prompts.digest(protocol),
        "settings": {"temperature": 0.0, "max_tokens": 1024},
        "paper_judge": "DeepSeek-V3.2-Exp",
        "is_paper_judge": False,
    }
    assert "hidden" not in json.dumps(found) and "sk-abc" not in json.dumps(found)


@pytest.mark.parametrize(
    ("model", "paper", "same"),
    [
        ("deepseek-v3.2-exp", "DeepSeek-V3.2-Exp", True),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "DeepSeek-V3.2-Exp", True),
        ("DeepSeek-V3.1", "DeepSeek-V3.2-Exp", False),
        ("gpt-4o", "GPT-4o", True),
        ("gpt-4o-2024-08-06", "GPT-4o", True),
        ("gpt-4o-mini", "GPT-4o", False),
        ("gpt-4o-mini-2024-07-18", "GPT-4o", False),
        ("gemma-2-9b-it", "google/gemma-2-9b-it", True),
        ("m", "", False),
    ],
)
def test_is_it_the_papers_judge(protocol, model, paper, same):
    other = dataclasses.replace(protocol, paper_judge=paper)
    assert identity.is_paper_judge(judge(model), other) == same
    assert ("its paper's judge." in identity.about(judge(model), other)) == same


def test_the_lexical_judge_says_what_it_is(protocol):
    lexical = settings.read({}, "lexical")
    assert identity.describe(lexical, protocol)["note"].endswith("not a language model: for smoke tests only")
    assert "not a language model" in identity.about(lexical, protocol)
    assert identity.summary(lexical, [protocol])["note"] == identity.NOT_AN_LLM


def test_differences(protocol):
    one = identity.describe(judge("m"), protocol)
    assert identity.differences(one, dict(one)) == []
    assert identity.differences(one, identity.describe(judge("n"), protocol)) == ["name: 'openai:m' and 'openai:n'"]
    two = dataclasses.replace(protocol, version=2)
    assert identity.differences(one, identity.describe(judge("m"), two)) == ["version: 1 and 2"]


def test_summary(protocol, sample):
    found = identity.summary(judge("m"), [protocol, sample.PRIVATE])
    assert (found["name"], found["host"], found["is_paper_judge"]) == ("openai:m", "h", False)
    assert [each["protocol"] for each in found["protocols"]] == ["judge_sample:PROTOCOL", "judge_sample:PRIVATE"]
