"""Secrets out of texts, whole, in part and in disguise, and ordinary text as it was."""

import base64
import io
import json
from urllib.parse import quote

import pytest

from lmms_medtasks import redacting

KEY = "sk-test+0123/456789&abcdef"
PASSWORD = "pa55/w0rd&more"
PATH = "d41d8cd98f00b204"
ADDRESS = f"http://me:{quote(PASSWORD, safe='')}@127.0.0.1:80/{PATH}/v1"
SECRETS = redacting.secrets_of_arguments(f"model=tiny,base_url={ADDRESS},api_key={KEY},timeout=3")


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"Bearer {KEY}",
        KEY.upper(),
        quote(KEY, safe=""),
        json.dumps(f'"{KEY}"'),
        KEY.replace("&", "&amp;"),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"me:{PASSWORD}".encode()).decode(),
        f"Incorrect key: {KEY[:17]}",
        f"ends in {KEY[9:]}",
        PASSWORD,
        ADDRESS,
        f"GET /{PATH}/v1/models",
    ],
)
def test_a_secret_is_found_in_every_form(text):
    shown = SECRETS.redacted(f"The server said: {text}, so it ended.")
    assert shown.startswith("The server said: ") and shown.endswith(", so it ended.") and "***" in shown
    for part in (KEY[3:16], KEY[10:], quote(KEY, safe="")[8:20], "w0rd", PATH[:10]):
        assert part.lower() not in shown.lower()
    assert SECRETS.redacted_reply(text) != text or text == ADDRESS


def test_what_has_the_form_of_a_secret_is_left_out_of_messages():
    told = redacting.Secrets().redacted
    assert told("at http://you:hunter@h/v1 and https://ghp_x@h:80") == "at http://you:***@h/v1 and https://***@h:80"
    assert told("Authorization: Bearer abcdefgh12345") == "Authorization: Bearer ***"
    assert told("a key sk-proj-0123456789abcdefgh here") == "a key *** here"


@pytest.mark.parametrize("key", ["none", "EMPTY", "B", "4", "correctness", "not-needed", "12345678", ""])
def test_ordinary_text_stays(key):
    secrets = redacting.secrets_of_arguments({"api_key": key, "base_url": "http://127.0.0.1:8000/v1", "model": "m"})
    said = "B: none of 12345678 is EMPTY; correctness 4, not-needed. Basic authentication, max_tokens=512, a@b.org"
    assert secrets.redacted_reply(said) == said
    if key not in ("correctness", "12345678"):  # a word is left out of messages, for it is the key
        assert secrets.redacted(said) == said


def test_a_short_key_is_left_out_where_it_stands_as_one():
    secrets = redacting.secrets_of_arguments("model=m,api_key=B4")
    assert secrets.redacted("m (model=m,api_key=B4), B4") == "m (model=m,api_key=***), B4"
    assert secrets.redacted_tree({"a": [{"api_key": "B4", "key": "B4"}], "n": 1, "t": ("x",)}) == {
        "a": [{"api_key": "***", "key": "B4"}],
        "n": 1,
        "t": ("x",),
    }


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://h/v2/Qwen2.5-VL-7B-Instruct/openai/v1", "https://h/v2/Qwen2.5-VL-7B-Instruct/openai/v1"),
        ("https://h/a1b2c3d4e5f6/v1?key=7#8", "https://h/***/v1"),
        ("http://token@h/v1", "http://***@h/v1"),
        ("u:p@h/v1", "u:***@h/v1"),
        ("http://h/qwen2vl7binstruct/v1", "http://h/qwen2vl7binstruct/v1"),
        ("http://[::1]:80/my-secret-way/v1", "http://[::1]:80/***/v1"),
    ],
)
def test_shown_addresses(address, shown):
    assert redacting.redact_address(address, ["org/qwen2vl7binstruct"]) == shown


def test_secrets_of_a_command_and_its_environment():
    secret = {"HF_TOKEN": "hf_" + "a1" * 12, "HTTPS_PROXY": "http://u:pr0xy-pass@h"}
    environment = {**secret, "API_KEY": "none", "HOME": "/a"}
    given = ["--model_args", "model=m,api_key=first-k3y", "--judge_key=second-k3y", "--seed", "12345678"]
    secrets = redacting.secrets_of_command(given, environment)
    said = " ".join([*environment.values(), "first-k3y second-k3y 12345678"])
    assert secrets.redacted_reply(said) == "*** http://u:***@h none /a *** *** 12345678"


def test_streams_print_without_secrets_and_stay_themselves():
    class Stream(io.StringIO):
        pass

    stream = Stream()
    redacting.redact_streams(redacting.Secrets(["first-k3y"]), [stream])
    redacting.redact_streams(redacting.Secrets(["second-k3y"]), [stream])
    print("of first-k3y and second-k3y", file=stream)
    assert stream.getvalue() == "of *** and ***\n"
