"""Who judged, as it stands in results."""

import dataclasses
import json

import pytest

from lmms_medtasks.judges import identity, prompts, settings
from lmms_medtasks.judges.own_scales import PAPER_JUDGE
from lmms_medtasks.record import QuestionJudgement


def judge(model, provider="openai", host="h:1"):
    return settings.read_judge_settings(
        {"OPENAI_API_KEY": "sk-abc", "OPENAI_API_URL": f"http://me:hidden@{host}/v1"}, f"{provider}:{model}"
    )


def test_description(protocol):
    found = identity.describe_judge(judge("m"), protocol)
    assert found == {
        "name": "openai:m",
        "endpoint": "http://h:1/v1",
        "protocol": "judge_sample:PROTOCOL",
        "prompt": "judge_sample.txt",
        "version": 1,
        "digest": prompts.prompt_digest(protocol),
        "settings": {"temperature": 0.0, "max_tokens": 1024, "reply": "free"},
        "paper_judge": "DeepSeek-V3.2-Exp",
        "is_paper_judge": False,
    }
    assert "hidden" not in json.dumps(found) and "sk-abc" not in json.dumps(found)


@pytest.mark.parametrize(
    ("model", "paper", "same"),
    [
        ("gpt-4o at h:1", "GPT-4o", False),
        ("gpt-4o at own.openai.azure.com", "GPT-4o", True),
        ("gpt-4o at openai.azure.com.own.org", "GPT-4o", False),
        ("deepseek-v3.2-exp", "DeepSeek-V3.2-Exp", True),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "DeepSeek-V3.2-Exp", True),
        ("DeepSeek-V3.1", "DeepSeek-V3.2-Exp", False),
        ("llama:deepseek-v3.2-exp", "DeepSeek-V3.2-Exp", False),
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
    name, _, host = model.partition(" at ")
    asked = judge(name, host=host or "api.openai.com")
    assert identity.is_paper_judge(asked, other) == same
    (sentence,) = identity.describe_paper_judges(asked, [("a", other), ("b", other)])
    assert (", the paper's judge: a, b." in sentence) == same
    assert (f", named like the paper's judge, at http://{host}/v1: a" in sentence) == (bool(host) and not same)


def test_the_lexical_judge_says_what_it_is(protocol):
    lexical = settings.read_judge_settings({}, "lexical")
    assert identity.describe_judge(lexical, protocol)["note"].endswith("not a language model: for smoke tests only")
    assert "not a language model" in identity.describe_paper_judges(lexical, [("a", protocol)])[0]
    assert identity.summarise_judge(lexical, [protocol])["note"] == identity.NOT_AN_LLM


def test_differences(protocol):
    one = identity.describe_judge(judge("m"), protocol)
    assert identity.judge_differences(one, dict(one)) == []
    assert identity.judge_differences(one, identity.describe_judge(judge("n"), protocol)) == [
        "name: 'openai:m' and 'openai:n'"
    ]
    two = dataclasses.replace(protocol, version=2)
    assert identity.judge_differences(one, identity.describe_judge(judge("m"), two)) == ["version: 1 and 2"]


@pytest.mark.parametrize("url", ["http://h:2/v1", "http://h:1/team/v1", "https://h:1/v1", "http://i:1/v1"])
def test_endpoints_that_differ_in_any_part_are_other_judges(protocol, url):
    one, other = (
        identity.describe_judge(settings.read_judge_settings({"LLM_JUDGE_URL": each}, "local:m"), protocol)
        for each in ("http://me:hidden@h:1/v1/", url)
    )
    assert identity.judge_differences(one, other) == [f"endpoint: 'http://h:1/v1' and {url!r}"]
    way = "asked freely (max_tokens 1024, temperature 0.0)"
    assert identity.full_name(one) != identity.full_name(other) == f"local:m at {url}, {way}"


def test_a_key_in_the_path_stays_out_of_the_description(protocol):
    environment = {"OPENAI_API_KEY": "sk-abc", "OPENAI_API_URL": "http://h/sk-abc/v1"}
    assert "sk-abc" not in json.dumps(
        identity.describe_judge(settings.read_judge_settings(environment, "openai:m"), protocol)
    )


def test_who_may_be_the_same_judge():
    """A judge that gave no verdict yet may be any that answers at its endpoint; nothing else is taken to be alike."""
    judge = {"name": "local:m", "endpoint": "http://h:1/v1"}
    unanswered, one, none = (identity.full_name(judge, model) for model in (None, "m-1", ""))
    assert len({unanswered, one, none}) == 3
    assert (
        identity.same_judge(one, one) and identity.same_judge(unanswered, one) and identity.same_judge(none, unanswered)
    )
    assert not identity.same_judge(one, none)
    assert not identity.same_judge("local:m", one)
    assert not identity.same_judge(unanswered, identity.full_name({**judge, "endpoint": "http://h:12/v1"}, "m-1"))
    assert identity.is_called(one, "local:m") and identity.is_called(one, unanswered) and identity.is_called(one, one)
    assert not identity.is_called(one, "local:m-1") and not identity.is_called(one, none)
    assert identity.without_unanswered([unanswered, one, none, "lexical"]) == [one, none, "lexical"]


@pytest.mark.parametrize("provider", ["openai", "local"])
def test_how_it_is_asked_is_part_of_who_judges(protocol, sample, provider):
    """By schema or not, temperature, prompt: all of it is in the name, or in what must agree."""
    chosen = judge("m", provider)
    free, by_schema = (identity.describe_judge(chosen, each) for each in (protocol, sample.BY_SCHEMA))
    assert [each["settings"]["reply"] for each in (free, by_schema)] == ["free", "schema"]
    wanted = f"{provider}:m at http://h:1/v1, asked freely (max_tokens 1024, temperature 0.0), answered by m-1"
    assert identity.full_name(free, "m-1") == wanted
    assert not identity.same_judge(wanted, identity.full_name(by_schema, "m-1"))
    assert identity.judge_differences({**free, "digest": "x"}, {**by_schema, "digest": "x"}) == [
        f"settings: {free['settings']} and {by_schema['settings']}"
    ]
    for name in (f"{provider}:m", f"{provider}:m at http://h:1/v1", f"{provider}:m at http://h:1/v1, answered by m-1"):
        assert identity.is_called(wanted, name)
    assert not identity.is_called(wanted, f"{provider}:m at http://h:1/v1, answered by m-2")
    both = identity.summarise_judge(chosen, [protocol, sample.BY_SCHEMA])
    assert both["settings"] == {"temperature": 0.0, "max_tokens": 1024}


@pytest.mark.parametrize(
    ("verdicts", "models"),
    [
        ((), []),
        (({"status": "exact", "model": "m"}, {"status": "missing", "model": "m"}), []),
        (({"status": "judged"}, {"status": "judged", "model": None}), []),
        (({"status": "judged", "model": "n"}, {"status": "judged", "model": ""}), ["", "n"]),
    ],
)
def test_only_a_verdict_of_a_server_names_a_model(verdicts, models):
    judgement = QuestionJudgement({"name": "j", "protocol": "p"}, ({},), (verdicts,))
    assert identity.answered_models(judgement) == models


def test_summary(protocol, sample):
    found = identity.summarise_judge(judge("m"), [protocol, sample.PRIVATE])
    assert (found["name"], found["endpoint"], found["is_paper_judge"]) == ("openai:m", "http://h:1/v1", False)
    assert [each["protocol"] for each in found["protocols"]] == ["judge_sample:PROTOCOL", "judge_sample:PRIVATE"]


def test_without_a_judge_one_sentence_names_all_tasks(protocol):
    none = settings.read_judge_settings({}, "none")
    other = dataclasses.replace(protocol, paper_judge="GPT-4o")
    (sentence,) = identity.describe_paper_judges(
        none, [("a", protocol), ("b", other), ("c", protocol), ("a", protocol)]
    )
    first = f"a, c (the paper's judge is {protocol.paper_judge}); b (the paper's judge is GPT-4o)"
    assert sentence == f"No judge for {first}. Name one in MEDTASKS_JUDGE=provider:model."
    assert identity.describe_paper_judges(none, []) == []


@pytest.mark.parametrize(("name", "by"), [("lexical", identity.NOT_AN_LLM), ("openai:m", "openai:m")])
def test_of_a_protocol_of_no_paper_no_judge_of_a_paper_is_named(protocol, name, by):
    own = dataclasses.replace(protocol, paper_judge=PAPER_JUDGE)
    chosen = judge("m") if name == by else settings.read_judge_settings({}, name)
    [said] = identity.describe_paper_judges(chosen, [("a", own)])
    assert said == f"Judged by {by}: a."
