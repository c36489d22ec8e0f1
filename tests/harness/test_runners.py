"""The list of runners that re-encode pictures, against the installed harness."""

import re
from pathlib import Path

import lmms_eval
import pytest

from lmms_medtasks.harness import runners

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
    assert set(runners.table()["lossy"]) == harness_modules_with_jpeg()


def test_clean_runners_are_not_on_the_lossy_list():
    assert not set(runners.table()["clean"]) & set(runners.table()["lossy"])


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
    assert runners.image_encoding(model, runner) == expected


def test_every_module_of_the_list_is_there():
    root = Path(lmms_eval.__path__[0]) / "models"
    known = runners.table()
    listed = {module for heading in known.keys() - {"read_in", "measured"} for module in known[heading]}
    assert all((root / f"{module.replace('.', '/')}.py").is_file() for module in listed)
    told = {"lossy", "chosen_by_variable", "resampled", "shrunk_above", "clean"}
    assert set(known["measured"]) <= {module for heading in told for module in known[heading]}


def test_modules_that_read_the_variable():
    root = Path(lmms_eval.__path__[0]) / "models" / "chat"
    found = {f"chat.{path.stem}" for path in root.glob("*.py") if "to_openai_messages" in path.read_text("utf-8")}
    found.add("chat.litellm")  # asks as chat.openai does, from which it is derived
    assert {"chat.openai", "chat.async_openai"} <= set(runners.table()["chosen_by_variable"]) <= found


def test_the_runners_that_ask_a_server():
    root = Path(lmms_eval.__path__[0]) / "models"
    keys = re.compile("api_key|API_KEY")  # who has none needs a key of somebody's
    found = {f"{path.parent.name}.{path.stem}" for path in root.glob("*/*.py") if keys.search(path.read_text("utf-8"))}
    # These two get their keys and clients from the runner of the simple form.
    assert set(runners.table()["servers"]) == found | {"chat.openai", "chat.gemini"}


def test_kind_of_runner():
    assert runners.kind("qwen2_5_vl", force_simple=False) == "chat"
    assert runners.kind("qwen2_5_vl", force_simple=True) == "simple"
    assert runners.kind("gemma3", force_simple=False) == "simple"
    assert runners.kind("no_such_model", force_simple=False) is None


def test_format_chosen_by_variable(monkeypatch):
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "jpeg")
    assert runners.image_encoding("medtasks_random", "simple") is None
    assert runners.image_encoding("openai", "chat") == "JPEG (LMMS_IMAGE_ENCODE_FORMAT)"
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "PNG")
    assert runners.image_encoding("openai", "chat") is None


def test_of_a_version_that_was_not_read_nothing_is_known(monkeypatch):
    read = runners.table()["read_in"]
    assert read == runners.importlib.metadata.version("lmms_eval")  # else runners.yaml is to be read anew
    assert runners.unread("chat.internvl_hf") == ""
    monkeypatch.setattr(runners.importlib.metadata, "version", lambda name: "9.9")
    assert runners.unread("chat.internvl_hf") == f"not known for this version of the harness (9.9; {read} was read)"
    assert runners.unread("") == ""  # ours, or another package's
    lm = type("InternVLHf", (), {"__module__": "lmms_eval.models.chat.internvl_hf", "generate_until": None})()
    assert "not known for this version" in runners.doubt(lm, 1, settings_reached=False)
    assert runners.doubt(lm, 1, settings_reached=True) is None
