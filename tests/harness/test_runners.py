"""What is known of runners, against the installed harness: how they encode images, whom they ask, who may be asked."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from types import SimpleNamespace

import lmms_eval
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import model_terms, runners

# By format, or by the name of the file that is saved; the files with a uuid are for tools only.
JPEG = re.compile(
    r"""(image_format|img_format|format)\s*=\s*["']JPEG["']|fmt: str = "JPEG\""""
    r"""|suffix="\.jpe?g"|(?<!uuid4\(\))\}\.jpg\""""
)


def harness_modules_with_jpeg():
    root = Path(lmms_eval.__path__[0]) / "models"
    found = set()
    for kind in ("simple", "chat"):
        for path in (root / kind).glob("*.py"):
            if JPEG.search(path.read_text("utf-8")):
                found.add(f"{kind}.{path.stem}")
    return found


def test_list_matches_the_harness():
    assert set(runners.load_runners()["lossy"]) == harness_modules_with_jpeg()


def test_clean_runners_are_not_on_the_lossy_list():
    assert not set(runners.load_runners()["clean"]) & set(runners.load_runners()["lossy"])


@pytest.mark.parametrize(
    ("model", "runner", "expected"),
    [
        ("gemma3", "simple", "JPEG quality 85"),
        ("qwen2_5_vl", "simple", "JPEG quality 85"),
        ("qwen2_5_vl", "chat", None),
        ("internvl_hf", "chat", None),
        ("no_such_model", "chat", None),
    ],
)
def test_encoding_of_a_runner(monkeypatch, model, runner, expected):
    monkeypatch.delenv("LMMS_IMAGE_ENCODE_FORMAT", raising=False)
    assert runners.find_image_encoding(model, runner) == expected


def test_every_module_of_the_list_is_there():
    root = Path(lmms_eval.__path__[0]) / "models"
    known = runners.load_runners()
    listed = {module for heading in known.keys() - {"read_in", "measured"} for module in known[heading]}
    assert all((root / f"{module.replace('.', '/')}.py").is_file() for module in listed)
    told = {"lossy", "chosen_by_variable", "resampled", "shrunk_above", "clean"}
    assert set(known["measured"]) <= {module for heading in told for module in known[heading]}


def test_modules_that_read_the_variable():
    root = Path(lmms_eval.__path__[0]) / "models" / "chat"
    found = {f"chat.{path.stem}" for path in root.glob("*.py") if "to_openai_messages" in path.read_text("utf-8")}
    found.add("chat.litellm")  # asks as chat.openai does, from which it is derived
    assert {"chat.openai", "chat.async_openai"} <= set(runners.load_runners()["chosen_by_variable"]) <= found


def test_the_runners_that_ask_a_server():
    root = Path(lmms_eval.__path__[0]) / "models"
    keys = re.compile("api_key|API_KEY")  # who has none needs a key of somebody's
    found = {f"{path.parent.name}.{path.stem}" for path in root.glob("*/*.py") if keys.search(path.read_text("utf-8"))}
    # These two get their keys and clients from the runner of the simple form.
    assert set(runners.load_runners()["servers"]) == found | {"chat.openai", "chat.gemini"}


def test_kind_of_runner():
    assert runners.find_runner_kind("qwen2_5_vl", force_simple=False) == "chat"
    assert runners.find_runner_kind("qwen2_5_vl", force_simple=True) == "simple"
    assert runners.find_runner_kind("gemma3", force_simple=False) == "simple"
    assert runners.find_runner_kind("no_such_model", force_simple=False) is None


def test_format_chosen_by_variable(monkeypatch):
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "jpeg")
    assert runners.find_image_encoding("medtasks_random", "simple") is None
    assert runners.find_image_encoding("openai", "chat") == "JPEG (LMMS_IMAGE_ENCODE_FORMAT)"
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "PNG")
    assert runners.find_image_encoding("openai", "chat") is None


def test_of_a_version_that_was_not_read_nothing_is_known(monkeypatch):
    read = runners.load_runners()["read_in"]
    assert read == runners.importlib.metadata.version("lmms_eval")  # else runners.yaml is to be read anew
    assert runners.why_runner_is_unknown("chat.internvl_hf") == ""
    monkeypatch.setattr(runners.importlib.metadata, "version", lambda name: "9.9")
    assert (
        runners.why_runner_is_unknown("chat.internvl_hf")
        == f"not known for this version of the harness (9.9; {read} was read)"
    )
    assert runners.why_runner_is_unknown("") == ""  # ours, or another package's
    lm = type("InternVLHf", (), {"__module__": "lmms_eval.models.chat.internvl_hf", "generate_until": None})()
    assert "not known for this version" in runners.why_trials_may_depend(lm, 1, settings_reached=False)
    assert runners.why_trials_may_depend(lm, 1, settings_reached=True) is None


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
    model_terms.check_model_terms(lm, terms, resolve=lambda host: NAMES.get(host, []))


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
