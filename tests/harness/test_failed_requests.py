"""A request that failed is a failure of that request alone, whatever the harness's runner makes of it."""

import re
from pathlib import Path
from types import SimpleNamespace

import lmms_eval
import pytest
import torch
from lmms_eval.api.instance import GenerationResult
from PIL import Image

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, failed_requests, runners
from lmms_medtasks.parsing import is_failed_request
from tests.bare_runners import Inputs, chat_request, request, runner

PICTURE = Image.new("RGB", (8, 8))


def asked(lm, requests):
    """The texts of the replies, None for a failed request."""
    with calls.one_reply_each(lm), calls.one_task_a_call(lm):
        replies = lm.generate_until(requests)
    texts = [getattr(reply, "text", reply) for reply in replies]
    return [None if is_failed_request(text) else text for text in texts]


def answer(text):
    if text == "bad":
        raise RuntimeError("overloaded")
    return f"reply to {text}"


def claude(monkeypatch, reply=answer):
    def create(messages, **settings):
        return SimpleNamespace(usage=None, content=reply(messages[0]["content"][-1]["text"]))

    found = runner("simple.claude", "Claude", model_version="x", system_prompt="", image_token="<image>")
    module = "lmms_eval.models.simple.claude"
    client = SimpleNamespace(messages=SimpleNamespace(create=create))
    monkeypatch.setattr(f"{module}.anthropic", SimpleNamespace(Anthropic=lambda: client), raising=False)
    monkeypatch.setattr(f"{module}.NUM_SECONDS_TO_SLEEP", 0)
    return found


@pytest.mark.parametrize("order", [("a", "bad", "c"), ("bad", "b"), ("bad", "bad", "c")])
def test_claude_after_an_error(monkeypatch, order):
    """Its runner returns "" and then the reply before, which belongs to another question."""
    lm = claude(monkeypatch, lambda text: [SimpleNamespace(text=answer(text))])
    expected = [None if text == "bad" else f"reply to {text}" for text in order]
    assert asked(lm, [request(text, number) for number, text in enumerate(order)]) == expected


def test_claude_without_content(monkeypatch):
    lm = claude(monkeypatch, lambda text: [SimpleNamespace(text=text)] if text == "a" else [])
    assert asked(lm, [request("a"), request("b"), request("a")]) == ["a", None, "a"]


def test_qwen_vl_api_after_an_error(monkeypatch):
    def call(messages, **settings):
        text = messages[0]["content"][-1]["text"]
        content = [{"text": answer(text)}]
        return {"output": None if text == "refused" else {"choices": [{"message": {"content": content}}]}}

    lm = runner("simple.qwen_vl_api", "Qwen_VL_API", model_version="x", image_token="<image>")
    module = "lmms_eval.models.simple.qwen_vl_api"
    client = SimpleNamespace(MultiModalConversation=SimpleNamespace(call=call))
    monkeypatch.setattr(f"{module}.dashscope", client, raising=False)
    monkeypatch.setattr(f"{module}.NUM_SECONDS_TO_SLEEP", 0)
    texts = ["bad", "a", "bad", "refused", "c"]
    expected = [None, "reply to a", None, None, "reply to c"]
    assert asked(lm, [request(text, number) for number, text in enumerate(texts)]) == expected


def test_minicpm_v_after_an_error():
    """Its runner returns the reply before."""
    model = SimpleNamespace(chat=lambda image, msgs, **settings: (answer(msgs[0]["content"]), None, None))
    lm = runner(
        "simple.minicpm_v", "MiniCPM_V", model=model, eot_token_id=0, tok_encode=lambda self, text: list(text),
        tok_decode=lambda self, token: "",
    )  # fmt: skip
    shown = {"hook": lambda doc: [PICTURE], "temperature": 0.0}
    requests = [request(text, number, **shown) for number, text in enumerate(["bad", "aaaa", "bad", "c"])]
    assert asked(lm, requests) == [None, "reply to aaaa", None, "reply to c"]


def test_a_mistake_in_ones_own_hook_ends_the_run(monkeypatch):
    def hook(doc):
        raise UserError("no picture")

    with pytest.raises(UserError, match="no picture"):
        asked(claude(monkeypatch), [request("a", hook=hook)])


def test_gpt4v_after_errors_and_with_an_empty_reply(monkeypatch):
    tries = []

    def create(messages, **settings):
        text = messages[0]["content"][0]["text"]
        tries.append(text)
        if text == "late" and tries.count("late") == 2:
            return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=""))])
        reply = answer("bad" if text == "late" else text)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=reply))])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    lm = runner("simple.gpt4v", "GPT4V", client=client, model_version="x")
    monkeypatch.setattr("lmms_eval.models.simple.gpt4v.NUM_SECONDS_TO_SLEEP", 0)
    texts = ["a", "bad", "late", "b"]
    # Its model said nothing to "late", once it could be asked.
    assert asked(lm, [request(text) for text in texts]) == ["reply to a", None, "", "reply to b"]


def test_gpt4v_without_content():
    """It returns None, of which the harness makes the word "None": a reply that the model never gave."""
    message = SimpleNamespace(content=None)
    create = SimpleNamespace(create=lambda **settings: SimpleNamespace(choices=[SimpleNamespace(message=message)]))
    lm = runner("simple.gpt4v", "GPT4V", client=SimpleNamespace(chat=SimpleNamespace(completions=create)),
                model_version="x")  # fmt: skip
    with calls.one_reply_each(lm), calls.one_task_a_call(lm):
        (reply,) = lm.generate_until([request("a")])
    assert is_failed_request(str(reply)) and "a message without content" in reply


@pytest.fixture
def internvl():
    """The chat runner internvl_hf: its model fails for document 2, and says nothing to document 0."""
    at = []

    class Processor:
        def apply_chat_template(self, messages, **settings):
            at.append(messages[0]["content"][-1]["text"].split()[-1])
            return "prompt"

        def __call__(self, **given):
            return Inputs()

        def batch_decode(self, tokens, **settings):
            return ["" if at[-1] == "0" else f"reply {at[-1]}"]

    def generate(**given):
        if at[-1] == "2":
            raise RuntimeError("out of memory")
        return torch.zeros(1, 2, dtype=torch.long)

    model = SimpleNamespace(generate=generate, dtype=None)
    accelerator = SimpleNamespace(is_main_process=False)
    return runner(
        "chat.internvl_hf", "InternVLHf", processor=Processor(), model=model, accelerator=accelerator, min_patches=1,
        max_patches=1, num_frames=None, fps=None, pad_token_id=0, eot_token_id=0, use_cache=True,
    )  # fmt: skip


def test_internvl_hf_after_an_error_and_with_an_empty_reply(internvl):
    requests = [chat_request(number, temperature=1.0, until=[]) for number in (4, 2, 0, 5) for _ in range(2)]
    assert asked(internvl, requests) == ["reply 4", "reply 4", None, None, "", "", "reply 5", "reply 5"]


def test_a_request_keeps_its_settings(internvl):
    """The harness's cache stores a reply under what its request asks for, read again after the run."""
    requests = [chat_request(4, temperature=0, until=["x"])]
    asked(internvl, requests)
    assert requests[0].arguments[2] == {"temperature": 0, "until": ["x"]}


class Other:
    """A runner that is not the harness's."""

    def __init__(self):
        self.model, self.asked = SimpleNamespace(generate=None), []

    def generate_until(self, requests):
        self.asked.append(requests)
        return ["[ERROR] is what I say", ""]


def test_runners_of_others_get_the_requests_themselves_and_their_replies_stay():
    requests, lm = [request("a"), request("b")], Other()
    assert asked(lm, requests) == ["[ERROR] is what I say", ""]
    assert all(given is own for given, own in zip(lm.asked[0], requests, strict=True))


def test_texts_of_failures_count_for_the_runners_that_write_them(monkeypatch):
    texts = ["[SAFETY_BLOCKED:finish_reason=SAFETY]", "B", "[ERROR] is what I say", ""]
    replies = [GenerationResult(text=text) for text in texts]
    for module, failed in (("chat.gemini", [0]), ("simple.magi1_wm", [2]), ("chat.openai", []), ("", [])):
        marked = failed_requests.mark_failed_replies(replies, [], module)
        assert [place for place, reply in enumerate(marked) if isinstance(reply, str)] == failed
        assert all(is_failed_request(marked[place]) for place in failed)
    assert "SAFETY_BLOCKED" in failed_requests.mark_failed_replies(replies, [], "chat.gemini")[0]
    monkeypatch.setattr("lmms_eval.models.model_utils.usage_metrics._BUDGET_EXCEEDED", True)
    assert is_failed_request(failed_requests.mark_failed_replies(replies, [], "simple.openai")[3])
    assert failed_requests.mark_failed_replies(replies, [], "chat.openai") == replies


def test_where_errors_and_empty_replies_can_not_be_matched_all_empty_ones_failed():
    error = RuntimeError("x")
    assert [
        bool(is_failed_request(reply))
        for reply in failed_requests.mark_failed_replies(["", "a", ""], [error, None], "m")
    ] == [
        True,
        False,
        True,
    ]
    assert failed_requests.mark_failed_replies(["", "a"], [None, None], "m") == ["", "a"]


def test_the_list_has_every_runner_that_writes_such_texts():
    root = Path(lmms_eval.__path__[0]) / "models"
    begin = re.compile(r"""["'](\[(?:SAFETY_BLOCKED|ERROR\]|GENERATION_FAILED\]))""")
    found = {
        f"{path.parent.name}.{path.stem}": sorted(set(begin.findall(text)))
        for path in root.glob("*/*.py")
        if begin.search(text := path.read_text("utf-8"))
    }
    listed = runners.load_runners()["failure_texts"]
    assert set(found) == set(listed)
    assert all(set(texts) <= set(listed[module]) for module, texts in found.items())


def test_the_list_has_every_runner_that_goes_on_without_a_reply():
    """``_cont = ""`` after an error leaves the variable that is returned as it was."""
    root = Path(lmms_eval.__path__[0]) / "models"
    form = re.compile(r'_cont = ""\n\s+res\.append\(response\)')
    found = {f"{path.parent.name}.{path.stem}" for path in root.glob("*/*.py") if form.search(path.read_text("utf-8"))}
    assert {"simple.minicpm_v", "simple.cogvlm2"} <= found <= set(runners.load_runners()["one_request_a_call"])
