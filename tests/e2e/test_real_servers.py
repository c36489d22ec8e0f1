"""Real servers on a CPU, vLLM and llama.cpp's, in the environment that ``tools/real_servers/install.py`` makes.

They are asked where ``MEDTASKS_REAL_SERVERS`` names its folder. vLLM serves a checkpoint that ships top_k 1: who leaves
sampling settings to the server gets the same reply to each trial.
"""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import openai
import pytest
from PIL import Image

from lmms_medtasks.harness.server_model import ServerModel
from tools.real_servers import install, serve

FOLDER = Path(os.environ.get(install.VARIABLE, "none"))
pytestmark = pytest.mark.skipif(
    not install.is_installed(FOLDER),
    reason=f"{install.VARIABLE} names no folder that tools/real_servers/install.py has made by these files",
)

SAMPLED = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 12, "until": []}
TASKS = ("medq_deg_l1", "medq_deg_l2", "med_cmr_mcq")


@pytest.fixture(scope="module")
def vllm():
    with serve.started("vllm", FOLDER, checkpoint="top_k_1") as url:
        yield url


@pytest.fixture(scope="module")
def llamacpp():
    with serve.started("llamacpp", FOLDER) as url:
        yield url


def evaluated(harness, url, runner="medtasks_server", more="", launcher=("-m", "lmms_eval")):
    model = f"base_url={url},{'model=tiny' if runner == 'medtasks_server' else 'model=tiny,api_key=none'}{more}"
    options = ("--tasks", ",".join(TASKS), "--limit", "5", "--gen_kwargs", "max_new_tokens=12")
    done = harness("--model", runner, "--model_args", model, *options, launcher=launcher, OPENAI_API_KEY="none")
    return done


def trials(done, task):
    return [row["filtered_resps"] for row in done.samples(task)]


def identical(done, task):
    """How many questions have one reply in all trials."""
    return sum(len(set(each)) == 1 for each in trials(done, task))


def test_vllm_draws_trials_alike_in_one_process_in_two_and_without_n(harness, vllm):
    one = evaluated(harness, vllm)
    two = evaluated(harness, vllm, launcher="torchrun")
    apart = evaluated(harness, vllm, more=",many=False")
    for task in TASKS:
        assert trials(one, task) == trials(two, task) == trials(apart, task)
        assert one.run.tasks[task] == two.run.tasks[task] == apart.run.tasks[task]
        assert set("".join(map("".join, trials(one, task)))) <= set("ABCD")
    assert all(len(each) == 3 for each in trials(one, TASKS[0]))
    assert identical(one, TASKS[0]) == identical(one, TASKS[1]) == 0  # though the checkpoint ships top_k 1
    record = one.run.content["configs"][TASKS[0]]["metadata"]["server"]
    assert (record["kind"], record["version"], record["trials"]) == ("vllm", "0.32.0", "one request with n")
    assert Path(record["serves"]["root"]).name == "top_k_1" and record["sent"]["top_k"] == -1
    assert apart.run.content["configs"][TASKS[0]]["metadata"]["server"]["trials"] == "one request each"
    greedy = one.run.content["configs"][TASKS[2]]["metadata"]["server"]
    assert greedy["trials"] == "asked once, temperature 0" and greedy["sent"]["temperature"] == 0.0


@pytest.mark.parametrize("runner", ["openai", "async_openai"])
def test_the_harness_s_runners_draw_trials_with_the_settings_that_are_sent_along(harness, vllm, runner):
    done = evaluated(harness, vllm, runner)
    assert identical(done, TASKS[0]) == 0
    assert done.run.content["configs"][TASKS[0]]["metadata"]["sampling_sent"]["top_k"] == -1


def test_the_harness_s_runners_draw_one_reply_where_nothing_is_sent_along(vllm):
    """The known fault that the settings are sent along for: as the harness itself asks."""
    client = openai.OpenAI(base_url=vllm, api_key="none")
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "Which?"}], "temperature": 1.0, "max_tokens": 12}
    assert len({client.chat.completions.create(**asked).choices[0].message.content for _ in range(6)}) == 1
    drawn = {
        client.chat.completions.create(**asked, extra_body={"top_k": -1}).choices[0].message.content for _ in "123456"
    }
    assert len(drawn) == 6


def server_model(url, name, documents, **arguments):
    made = ServerModel(model=name, base_url=url, **arguments)
    made.task_dict = {"a_task": {"test": documents}}
    return made


def texts(lm, count, repeats, messages):
    asked = [SimpleNamespace(args=("?", messages, SAMPLED, n, "a_task", "test"), metadata={}) for n in range(count)]
    found = [each.text for each in lm.generate_until([each for each in asked for _ in range(repeats)])]
    return [found[at : at + repeats] for at in range(0, len(found), repeats)]


def test_another_picture_gets_another_reply_from_vllm_and_the_same_one_the_same(vllm):
    def messages(shown):
        picture = {"type": "image", "url": shown}
        return [{"role": "user", "content": [picture, {"type": "text", "text": "Which of A, B, C and D?"}]}]

    noise = np.random.default_rng(0).integers(0, 256, (4, 64, 48, 3), dtype=np.uint8)
    first, second = ([Image.fromarray(each) for each in noise[at : at + 2]] for at in (0, 2))
    one, again, other = (
        texts(server_model(vllm, "tiny", each), 2, 8, messages)
        for each in (first, [each.copy() for each in first], second)
    )
    assert one == again
    assert all(mine != theirs for mine, theirs in zip(one, other, strict=True))


def worded(number):
    return [{"role": "user", "content": f"Name one thing that has the number {number}."}]


def test_llama_cpp_draws_the_trials_of_one_request_as_it_draws_those_of_several(llamacpp):
    together = server_model(llamacpp, "smollm2", list(range(3)))
    assert (together.kind.name, together.version) == ("llamacpp", None)
    found = texts(together, 3, serve.SLOTS, worded)
    assert found == texts(server_model(llamacpp, "smollm2", list(range(3)), many=False), 3, serve.SLOTS, worded)
    assert all(len(set(each)) > 1 for each in found)
    assert together.server_record("a_task", SAMPLED, serve.SLOTS)["trials"] == "one request with n"


def test_llama_cpp_is_asked_one_trial_a_request_where_it_has_fewer_slots(llamacpp):
    lm = server_model(llamacpp, "smollm2", list(range(2)))
    found = texts(lm, 2, serve.SLOTS + 1, worded)
    assert found == texts(server_model(llamacpp, "smollm2", list(range(2)), many=False), 2, serve.SLOTS + 1, worded)
    assert lm.server_record("a_task", SAMPLED, serve.SLOTS + 1)["trials"] == "one request each"
