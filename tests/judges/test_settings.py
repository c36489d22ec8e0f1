"""The judge that the environment names, everything that can be wrong with it, and what it may not see."""

from __future__ import annotations

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import settings
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.settings import parse_address

KEYED = {"OPENAI_API_KEY": "sk-abc"}


def read(judge, **environment):
    return settings.read_judge_settings({"MEDTASKS_JUDGE": judge, **environment})


@pytest.mark.parametrize("judge", ["", "  ", "none"])
def test_none(judge):
    found = read(judge)
    assert (found.name, found.is_llm, found.key) == ("none", False, "")
    assert settings.read_judge_settings({}).name == "none"


def test_openai():
    found = read("openai:gpt-4o-2024-08-06", **KEYED)
    assert found.name == "openai:gpt-4o-2024-08-06"
    assert found.address.url == "https://api.openai.com/v1"
    assert (found.temperature, found.max_tokens, found.concurrency, found.retries) == (0.0, 1024, 16, 5)
    assert (found.max_requests, found.max_cost, found.price) == (None, None, None)
    assert "sk-abc" not in repr(found)


def test_a_model_with_colons_and_slashes():
    assert read("openai:deepseek-ai/DeepSeek-V3.2-Exp:free", **KEYED).model == "deepseek-ai/DeepSeek-V3.2-Exp:free"


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5-mini", "o1", "o3-mini", "o4-mini", "openai/o3"])
def test_reasoning_models_have_no_temperature(model):
    assert read(f"openai:{model}", **KEYED, MEDTASKS_JUDGE_TEMPERATURE="0.5").temperature is None
    assert read("openai:gpt-4o", **KEYED, MEDTASKS_JUDGE_TEMPERATURE="0.5").temperature == 0.5


def test_where_the_url_is_from():
    urls = {
        name: f"http://{name.lower()}.example/v1" for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_URL")
    }
    given = {}
    for name, url in urls.items():  # each stands above the one before it
        given[name] = url
        assert read("openai:m", **KEYED, **given).address.url == url
        assert read("local:m", **given).address.url == url
    full = "http://localhost:9/v1/chat/completions"
    assert read("local:m", **given, LLM_JUDGE_URL=full).address.url == "http://localhost:9/v1"
    assert read("openai:m", **KEYED, LLM_JUDGE_URL=full).address.url == "https://api.openai.com/v1"
    assert read("local:m").address.url == "http://localhost:8000/v1"


def test_a_local_judge_is_sent_no_key():
    assert read("local:m", **KEYED).key == ""


@pytest.mark.parametrize(
    ("url", "base", "host"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1", "localhost"),
        ("https://h.example/v1/", "https://h.example/v1", "h.example"),
        ("https://me:p%40ss@h.example:8443/v1/chat/completions", "https://h.example:8443/v1", "h.example"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", "::1"),
    ],
)
def test_addresses(url, base, host):
    found = parse_address(url, "X")
    assert (found.url, found.host) == (base, host)
    assert "p%40ss" not in repr(found) and "p@ss" not in repr(found)
    assert found.password == ("p@ss" if "@" in url else "")


@pytest.mark.parametrize(
    "url",
    ["localhost:8000", "ftp://h/v1", "http://", "http:///v1", "http://h:port/v1", "http://h /v1", "http://h\n/v1"],
)
def test_no_url(url):
    with pytest.raises(UserError, match="from X is no URL of a judge"):
        parse_address(url, "X")


def test_a_query_may_hold_a_key():
    with pytest.raises(UserError, match="has a query") as caught:
        parse_address("http://h/v1?key=secret", "X")
    assert "secret" not in str(caught.value)
    with pytest.raises(UserError) as caught:
        parse_address("nohttp://me:secret@h/v1", "X")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("judge", "environment", "match"),
    [
        ("gpt-4o", KEYED, "'gpt-4o' names no provider.*Allowed: openai, local, lexical, none.*'openai:gpt-4o'"),
        ("opnai:gpt-4o", KEYED, "Did you mean 'openai'"),
        ("openai", KEYED, "names no model"),
        ("openai:", KEYED, "names no model"),
        ("openai: gpt-4o", KEYED, "names no model"),
        ("lexical:f1", {}, "Write 'lexical' alone"),
        ("openai:gpt-4o", {}, "OPENAI_API_KEY is not set"),
        ("openai:gpt-4o", {"OPENAI_API_KEY": " "}, "OPENAI_API_KEY is not set"),
        ("openai:gpt-4o", {"OPENAI_API_KEY": "sk a"}, "OPENAI_API_KEY holds characters that no key has"),
        ("azure:gpt-4o", {}, "Unknown provider 'azure'"),
        ("lexical", {"MEDTASKS_JUDGE_REPLY": "json"}, "REPLY='json': input should be 'schema' or 'free'"),
        ("openai:m", {**KEYED, "OPENAI_API_URL": "nowhere"}, "'nowhere' from OPENAI_API_URL is no URL"),
        ("lexical", {"MEDTASKS_JUDGE_CONCURRENCY": "0"}, "CONCURRENCY='0': input should be greater than or equal to 1"),
        ("lexical", {"MEDTASKS_JUDGE_CONCURRENCY": "2.5"}, "CONCURRENCY='2.5': input should be a valid integer"),
        ("lexical", {"MEDTASKS_JUDGE_TIMEOUT": "nan"}, "TIMEOUT='nan': input should be a finite number"),
        ("lexical", {"MEDTASKS_JUDGE_TIMEOUT": "soon"}, "TIMEOUT='soon': input should be a valid number"),
        (
            "lexical",
            {"MEDTASKS_JUDGE_MAX_REQUESTS": "-1"},
            "MAX_REQUESTS='-1': input should be greater",
        ),
        ("lexical", {"MEDTASKS_JUDGE_MAX_COST": "5"}, "MAX_COST=5 says nothing without a price"),
        ("lexical", {"MEDTASKS_JUDGE_PRICE": "2.5"}, "PRICE='2.5': expected two numbers"),
        ("lexical", {"MEDTASKS_JUDGE_PRICE": "2.5,-1"}, "expected two numbers"),
    ],
)
def test_mistakes(judge, environment, match):
    with pytest.raises(UserError, match=match) as caught:
        read(judge, **environment)
    assert "sk-abc" not in str(caught.value)


def test_prices_and_ceilings():
    found = read(
        "lexical", MEDTASKS_JUDGE_PRICE="2.5,10", MEDTASKS_JUDGE_MAX_COST="1", MEDTASKS_JUDGE_MAX_REQUESTS="10"
    )
    assert found.price.total_cost(1_000_000, 200_000) == 4.5  # 2.5 + 0.2 * 10
    assert (found.max_cost, found.max_requests) == (1.0, 10)


def test_processes_share_what_all_may_do():
    found = read("lexical", MEDTASKS_JUDGE_PRICE="1,1", MEDTASKS_JUDGE_MAX_COST="3", MEDTASKS_JUDGE_MAX_REQUESTS="10")
    parts = [found.share(rank, 4) for rank in range(4)]
    assert [part.max_requests for part in parts] == [3, 3, 2, 2]
    assert [part.max_cost for part in parts] == [0.75] * 4
    assert [part.concurrency for part in parts] == [4] * 4
    assert [found.share(rank, 32).concurrency for rank in (0, 31)] == [1, 1]
    assert found.share(0, 1) == found


def test_secrets_are_redacted():
    found = read("openai:m", **KEYED, OPENAI_API_URL="http://me:hidden@h/v1")
    assert found.secrets.redacted("api_key=sk-abc at me:hidden@h") == "api_key=*** at me:***@h"
    assert found.secrets.redacted("Basic bWU6aGlkZGVu") == "Basic ***"  # me:hidden as it is sent


def test_keep_going():
    assert not settings.read_judge_settings({}, "lexical").keep_going
    assert settings.read_judge_settings({"MEDTASKS_JUDGE_KEEP_GOING": "1"}, "lexical").keep_going
    with pytest.raises(UserError, match="MEDTASKS_JUDGE_KEEP_GOING='perhaps'"):
        settings.read_judge_settings({"MEDTASKS_JUDGE_KEEP_GOING": "perhaps"}, "lexical")


NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "sly-localhost": ["127.0.0.1"],
    "gpu.lab": ["10.1.2.3", "fd00::3"],
    "mixed.lab": ["10.1.2.3", "93.184.216.34"],
    "api.openai.com": ["162.159.140.245"],
}


def check_terms(sample, url, hosts="", judge="local:m", **environment):
    found = settings.read_judge_settings({"LLM_JUDGE_URL": url, "MEDTASKS_PRIVATE_HOSTS": hosts, **environment}, judge)
    settings.check_judge_terms(found, [sample.PROTOCOL, sample.PRIVATE], resolve=lambda host: NAMES.get(host, []))


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("http://localhost:8000/v1", ""),
        ("http://LOCALHOST:8000/v1", ""),
        ("http://127.0.0.1:8000/v1", ""),
        ("http://127.8.9.1:8000/v1", ""),
        ("http://[::1]:8000/v1", ""),
        ("http://[::ffff:127.0.0.1]:8000/v1", ""),
        ("http://gpu.lab:8000/v1", "gpu.lab"),
        ("http://gpu.lab:8000/v1", " other , GPU.lab "),
        ("http://192.168.1.7/v1", "192.168.1.7"),
        ("http://[fd00::3]/v1", "fd00::3"),
        ("http://sly-localhost/v1", "sly-localhost"),
    ],
)
def test_judges_that_may_see_data_under_terms(sample, url, hosts):
    check_terms(sample, url, hosts)


@pytest.mark.parametrize(
    ("url", "hosts", "match"),
    [
        ("https://api.openai.com/v1", "", "is at 162.159.140.245: not this machine, and no private address"),
        ("https://api.openai.com/v1", "api.openai.com", "no private address"),
        ("http://gpu.lab/v1", "", "not listed as private"),
        ("http://gpu.lab/v1", "gpu", "not listed as private"),
        ("http://mixed.lab/v1", "mixed.lab", "is at 93.184.216.34"),
        ("http://192.168.1.7/v1", "", "not listed as private"),
        ("http://169.254.169.254/v1", "169.254.169.254", "no private address"),
        ("http://0.0.0.0/v1", "0.0.0.0", "no private address"),
        ("http://100.64.0.1/v1", "100.64.0.1", "no private address"),
        ("http://[::ffff:8.8.8.8]/v1", "::ffff:8.8.8.8", "no private address"),
        ("http://sly-localhost/v1", "", "write localhost"),
        ("http://nowhere/v1", "nowhere", "resolves to no address"),
        ("http://localhost.evil.example/v1", "", "resolves to no address"),
        ("http://localhost@8.8.8.8/v1", "", "is at 8.8.8.8"),
    ],
)
def test_judges_that_may_not_see_data_under_terms(sample, url, hosts, match):
    with pytest.raises(UserError, match=match) as caught:
        check_terms(sample, url, hosts)
    said = str(caught.value)
    assert "PhysioNet Credentialed Health Data License." in said
    assert "judge_sample:PRIVATE" in said
    assert "Nothing was sent" in said


def test_judges_that_send_nothing_may_judge_all(sample):
    check_terms(sample, "", judge="lexical")
    check_terms(sample, "", judge="none")


def test_without_terms_anyone_may_judge(sample):
    found = settings.read_judge_settings({"LLM_JUDGE_URL": "http://93.184.216.34/v1"}, "local:m")
    settings.check_judge_terms(found, [sample.PROTOCOL], resolve=lambda host: [])


def test_nothing_is_sent_when_refused(sample, judge_server):
    url = judge_server.url.replace("127.0.0.1", "public.example")
    found = settings.read_judge_settings({"LLM_JUDGE_URL": url}, "local:m")
    with pytest.raises(UserError, match="may not judge"):
        JudgeSession(found, [sample.PROTOCOL, sample.PRIVATE])
    assert judge_server.requests == []
