"""Data under terms reaches a model on this machine or one that was named; no other."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import model_guard

TERMS = [("open_task", ""), ("sure_mimic_age", "PhysioNet forbids it.")]
NAMES = {"localhost": ["127.0.0.1"], "gpu.lab": ["10.1.2.3"], "api.openai.com": ["162.159.140.245"]}


def model(module, url=None):
    """A model of a class that is derived from the harness's runner in ``module``."""
    base = type("Runner", (), {"__module__": f"lmms_eval.models.{module}"})
    found = type("Own", (base,), {"__module__": "somebody.models"})()
    if url is not None:
        found.client = SimpleNamespace(base_url=url)
    return found


def check(lm, terms=TERMS):
    model_guard.check(lm, terms, resolve=lambda host: NAMES.get(host, []))


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("MEDTASKS_PRIVATE_HOSTS", raising=False)


@pytest.mark.parametrize(
    "lm", [model("chat.internvl_hf"), model("chat.openai", "http://localhost:8000/v1/"), object(), None]
)
def test_allowed(lm):
    check(lm)


@pytest.mark.parametrize(
    ("lm", "match"),
    [
        (model("simple.claude"), "Anthropic is a third party"),
        (model("chat.litellm", "http://localhost/v1"), "LiteLLM hands questions on"),
        (model("chat.openai", "https://api.openai.com/v1/"), "is at 162.159.140.245: not this machine"),
        (model("simple.openai", "http://gpu.lab/v1"), "not listed as private"),
        (model("simple.openai"), "the address of its server is not known"),
    ],
)
def test_refused(lm, match):
    with pytest.raises(UserError, match=match) as caught:
        check(lm)
    assert "'sure_mimic_age'" in str(caught.value) and "PhysioNet forbids it." in str(caught.value)
    assert "Nothing was sent" in str(caught.value)
    check(lm, TERMS[:1])  # without terms anyone may be asked


def test_a_host_that_was_named(monkeypatch):
    monkeypatch.setenv("MEDTASKS_PRIVATE_HOSTS", "gpu.lab")
    check(model("chat.openai", "http://gpu.lab/v1"))


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
def test_a_proxy_would_see_it(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://proxy.lab:3128")
    with pytest.raises(UserError, match=r"asked through the proxy 'http://proxy.lab:3128'"):
        check(model("chat.openai", "http://127.0.0.1:8000/v1"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    check(model("chat.openai", "http://127.0.0.1:8000/v1"))


@pytest.mark.parametrize(
    "named",
    ["gpu.lab", "lab", ".lab", "LAB, x", "*", ".gpu.lab", "u.lab", "gpu.lab:80", ".", "10.0.0.0/8"],
)
def test_hosts_without_a_proxy_are_those_that_the_client_asks_without(monkeypatch, named):
    import httpx

    monkeypatch.setenv("http_proxy", "http://proxy.lab:3128")
    monkeypatch.setenv("no_proxy", named)
    monkeypatch.setenv("MEDTASKS_PRIVATE_HOSTS", "gpu.lab")
    url = "http://gpu.lab/v1"
    with httpx.Client() as client:
        asks_itself = client._transport_for_url(httpx.URL(url)) is client._transport
    with contextlib.nullcontext() if asks_itself else pytest.raises(UserError, match="through the proxy"):
        check(model("chat.openai", url))
