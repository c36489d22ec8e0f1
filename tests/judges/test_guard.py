"""Texts whose terms forbid third parties reach a judge on this machine or one that was allowed by name; no other."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import guard, settings
from lmms_medtasks.judges.judging import Judge

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "sly-localhost": ["127.0.0.1"],
    "gpu.lab": ["10.1.2.3", "fd00::3"],
    "mixed.lab": ["10.1.2.3", "93.184.216.34"],
    "api.openai.com": ["162.159.140.245"],
}


def check(sample, url, hosts="", judge="local:m", **environment):
    found = settings.read({"LLM_JUDGE_URL": url, "MEDTASKS_PRIVATE_HOSTS": hosts, **environment}, judge)
    guard.check(found, [sample.PROTOCOL, sample.PRIVATE], resolve=lambda host: NAMES.get(host, []))


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
def test_allowed(sample, url, hosts):
    check(sample, url, hosts)


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
def test_refused(sample, url, hosts, match):
    with pytest.raises(UserError, match=match) as caught:
        check(sample, url, hosts)
    said = str(caught.value)
    assert "PhysioNet Credentialed Health Data License." in said
    assert "judge_sample:PRIVATE" in said
    assert "Nothing was sent" in said


def test_judges_that_send_nothing_may_judge_all(sample):
    check(sample, "", judge="lexical")
    check(sample, "", judge="none")


def test_without_terms_anyone_may_judge(sample):
    found = settings.read({"LLM_JUDGE_URL": "http://93.184.216.34/v1"}, "local:m")
    guard.check(found, [sample.PROTOCOL], resolve=lambda host: [])


def test_nothing_is_sent_when_refused(sample, judge_server):
    url = judge_server.url.replace("127.0.0.1", "public.example")
    found = settings.read({"LLM_JUDGE_URL": url}, "local:m")
    with pytest.raises(UserError, match="may not judge"):
        Judge(found, [sample.PROTOCOL, sample.PRIVATE])
    assert judge_server.requests == []
