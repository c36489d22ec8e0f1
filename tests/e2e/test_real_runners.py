"""The harness's own Hugging Face runners on tiny random-weight models, in one process and in two."""

import json
import re
import shutil

# The form of `accelerate launch` that starts two processes without a GPU; with --cpu it would start one, silently.
ACCELERATE = (
    "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes=2", "--num_machines=1", "--mixed_precision=no",
    "--dynamo_backend=no", "--main_process_port=0", "-m", "lmms_eval",
)  # fmt: skip
TASK = "medq_deg_l2"
LIMIT = 7  # odd: two processes get different shares


def arguments(model, folder, sampling, tasks=TASK):
    paths = f"pretrained={folder},device_map=cpu"
    options = ("--device", "cpu", "--tasks", tasks, "--limit", str(LIMIT), "--gen_kwargs", sampling)
    return ("--model", model, "--model_args", paths, *options)


def letters(finished):
    return {row["questions"]["id"]: row["questions"]["trials"] for row in finished.samples(TASK)}


GREEDY = "max_new_tokens=1,temperature=0,do_sample=False"
SAMPLED = "max_new_tokens=1"


def answered_on(finished):
    """The ranks that built requests, from the harness's log."""
    return set(re.findall(rf"Building contexts for {TASK} on rank (\d+)", finished.printed))


def assert_same(one, two):
    """Both ranks answered, no question twice or never, and every reply and score is that of a single process."""
    assert answered_on(two) == {"0", "1"}
    assert [row["doc_id"] for row in two.samples(TASK)] == list(range(LIMIT))
    assert letters(one) == letters(two)
    assert all(len(trials) == 3 for trials in letters(two).values())
    assert one.run.tasks[TASK]["accuracy,trials"] == two.run.tasks[TASK]["accuracy,trials"]


def test_chat_runner_draws_in_two_processes_what_it_draws_in_one(harness, tiny_internvl, tmp_path):
    one = harness(*arguments("internvl_hf", tiny_internvl, SAMPLED))
    two = harness(*arguments("internvl_hf", tiny_internvl, SAMPLED), launcher="torchrun")
    assert_same(one, two)
    # Draws of their own: the questions are not answered alike, and neither are the trials.
    assert len({tuple(trials) for trials in letters(two).values()}) > 1
    assert any(len(set(trials)) > 1 for trials in letters(two).values())
    metadata = one.run.content["configs"][TASK]["metadata"]
    # Nothing is shipped: transformers' own 50 would act.
    assert metadata["checkpoint_sampling_set_aside"] == {"top_k": "50 -> 0"}
    assert "image_encoding" not in metadata

    # A checkpoint's own settings: with top_k 1 this runner would give every trial the same reply. A task that does not
    # sample stands beside this one.
    shipped = tmp_path / "shipped"
    shutil.copytree(tiny_internvl, shipped)
    path = shipped / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "do_sample": True, "top_k": 1, "top_p": 0.001}))
    other = harness(*arguments("internvl_hf", shipped, SAMPLED, f"{TASK},med_cmr_mcq"))
    recorded = other.run.content["configs"][TASK]["metadata"]["checkpoint_sampling_set_aside"]
    assert recorded == {"top_k": "1 -> 0", "top_p": "0.001 -> 1.0"}
    assert letters(other) == letters(one)
    beside = other.run.content["configs"]["med_cmr_mcq"]["metadata"]
    assert beside["checkpoint_sampling_set_aside"] == {"do_sample": "True -> False"}


def test_simple_runner_scores_alike_with_greedy_decoding_and_is_named_for_its_jpeg(harness, tiny_gemma3):
    one = harness(*arguments("gemma3", tiny_gemma3, GREEDY))
    two = harness(*arguments("gemma3", tiny_gemma3, GREEDY), launcher=ACCELERATE)
    assert_same(one, two)
    assert all(len(set(trials)) == 1 for trials in letters(one).values())
    assert one.run.content["configs"][TASK]["metadata"]["image_encoding"] == "JPEG quality 85"
    assert "--model gemma3 re-encodes every image as JPEG quality 85" in one.printed
