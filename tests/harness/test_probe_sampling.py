"""What reaches the sampler through the harness's own runners, by a spy at their door, against runners.yaml."""

import time
from types import SimpleNamespace

import pytest
import torch

from lmms_medtasks.harness import calls, chat_servers, evaluating, runners, sampling
from lmms_medtasks.harness.hooks import TrialSeeder
from tests.bare_runners import Inputs, chat_request, chat_server, request, runner

TASK = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 7, "until": []}


def trials(lm, number=3):
    asked = chat_request(**TASK)
    served = bool(chat_servers.server_kind(lm))
    with (
        calls.one_reply_each(lm, {"t": sampling.trial_sampling_settings(TASK)}, served=served),
        calls.one_task_a_call(lm),
    ):
        return lm.generate_until([asked] * number)


SERVED = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}


@pytest.mark.parametrize(("owner", "more"), [("", {}), ("openai", {}), ("vllm", SERVED), ("sglang", SERVED)])
@pytest.mark.parametrize(
    ("module", "name", "sent"),
    [
        ("chat.openai", "OpenAICompatible", {"max_tokens": 7, "temperature": 1.0, "top_p": 1.0}),
        ("chat.async_openai", "AsyncOpenAIChat", {"max_tokens": 7, "temperature": 1.0}),
    ],
)
def test_what_the_runners_of_servers_send(module, name, sent, owner, more):
    """Neither top_k nor a repetition penalty, but to a server that is known to take them from the checkpoint else."""
    found = getattr(pytest.importorskip(f"lmms_eval.models.{module}"), name)
    with chat_server(owner) as server:
        lm = found(model="stub", base_url=server.url, api_key="x", max_retries=1)
        lm.task_dict = {"t": {"test": [0]}}
        trials(lm)
    for payload in server.requests:
        del payload["messages"], payload["model"]
        assert {key: value for key, value in payload.items() if value is not None} == {**sent, **more}
    assert len(server.requests) == 3
    assert "top_k" in runners.load_runners()["sampling"][module]["unknown"]
    assert ("top_p" in runners.load_runners()["sampling"][module]["unknown"]) == ("top_p" not in sent)


def test_what_reaches_vllm(monkeypatch):
    """Explicit settings with a seed for each trial, which does not depend on the rank."""
    pytest.importorskip("lmms_eval.models.chat.vllm")
    monkeypatch.setattr("lmms_eval.models.chat.vllm.SamplingParams", dict, raising=False)
    got = []

    def chat(sampling_params, messages, chat_template):
        got.extend(sampling_params)
        return [SimpleNamespace(outputs=[SimpleNamespace(text="B")]) for _ in messages]

    lm = runner(
        "chat.vllm", "VLLM", client=SimpleNamespace(chat=chat), chat_template=None, fps=None, nframes=8, max_pixels=1,
        min_image_pixels=1, max_frame_num=8, is_qwen3_vl=False, disable_log_stats=True, batch_size_per_gpu=2,
        max_new_tokens=4096, _tp_world_size=1, _tp_group_cpu=None,
    )  # fmt: skip
    trials(lm)
    seeds = [settings.pop("seed") for settings in got]
    assert len(set(seeds)) == 3
    # The larger of the task's max_new_tokens and the runner's own.
    assert got == [{"max_tokens": 4096, "temperature": 1.0, "top_p": 1.0, "top_k": 0}] * 3


def test_what_was_sent_is_recorded_and_no_doubt_is():
    found = pytest.importorskip("lmms_eval.models.chat.openai").OpenAICompatible
    config = SimpleNamespace(task="t", metadata={"data_digest": "x"}, generation_kwargs=TASK)
    drawn = evaluating._sampling_by_task([config])
    with chat_server("vllm") as server:
        lm = found(model="stub", base_url=server.url, api_key="x", max_retries=1)
        with evaluating._one_task_a_call(lm, [config], drawn, chat_servers.server_kind(lm)):
            pass
        assert "create" not in vars(lm.client.chat.completions)
    assert config.metadata["sampling_sent"] == {"server": "vllm", **SERVED}
    assert "trials_independent" not in config.metadata
    assert chat_servers.server_kind(lm) is None  # it is gone


def draws_of_qwen3_vl(seconds, questions):
    """What qwen3_vl's simple runner draws for the trials of each question when its model takes ``seconds`` a reply."""
    seeder, drawn = TrialSeeder(), {}

    def preprocess(self, chunk):
        text, settings, _, doc_id, *_ = chunk[0]
        seeder.seed_torch(str(doc_id))
        return Inputs(doc=doc_id), [text], settings, []

    def generate(doc):
        time.sleep(seconds)
        drawn.setdefault(doc, []).append(int(torch.randint(10**9, (1,))))
        return torch.zeros(1, 2, dtype=torch.long)

    lm = runner(
        "simple.qwen3_vl", "Qwen3_VL", _preprocess_chunk=preprocess, _build_generate_kwargs=lambda self, settings: {},
        model=SimpleNamespace(generate=generate), device_map="cpu", _strip_thinking=lambda self, text: text,
        tokenizer=SimpleNamespace(encode=lambda text: [0] * len(text)), eot_token_id=0,
        processor=SimpleNamespace(batch_decode=lambda tokens, **settings: ["x"] * len(tokens)),
    )  # fmt: skip
    asked = [request(f"question {number}", number, temperature=1.0) for number in questions for _ in range(3)]
    with calls.one_reply_each(lm, {"t": TASK}), calls.one_task_a_call(lm):
        lm.generate_until(asked)
    return drawn


def test_trials_of_qwen3_vl_do_not_depend_on_its_speed_or_company():
    fast, slow = draws_of_qwen3_vl(0, range(4)), draws_of_qwen3_vl(0.01, range(4))
    assert fast == slow == {**draws_of_qwen3_vl(0, [0, 2]), **draws_of_qwen3_vl(0, [1, 3])}
    assert len({draw for each in fast.values() for draw in each}) == 12
