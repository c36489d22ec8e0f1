"""A checkpoint's own sampling settings do not narrow the draws."""

from types import SimpleNamespace

import transformers

from lmms_medtasks import sampling

TASK = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True}


def model(**shipped):
    return SimpleNamespace(generation_config=transformers.GenerationConfig(**shipped))


def test_shipped_settings_are_replaced_and_said():
    shipped = model(do_sample=True, top_k=1, top_p=0.001, repetition_penalty=1.05)
    changed = sampling.set_aside(shipped, TASK)
    assert changed == {"top_k": "1 -> 0", "top_p": "0.001 -> 1.0", "repetition_penalty": "1.05 -> 1.0"}
    config = shipped.generation_config
    assert (config.top_k, config.top_p, config.repetition_penalty) == (0, 1.0, 1.0)


def test_what_the_task_wants_counts():
    shipped = model(do_sample=True, top_k=20)
    assert sampling.set_aside(shipped, {**TASK, "top_k": 20}) == {}
    assert shipped.generation_config.top_k == 20


def test_stop_tokens_and_lengths_stay():
    shipped = model(do_sample=True, top_k=1, eos_token_id=7, suppress_tokens=[3], max_length=99)
    sampling.set_aside(shipped, TASK)
    config = shipped.generation_config
    assert (config.eos_token_id, config.suppress_tokens, config.max_length) == (7, [3], 99)


def test_models_without_such_settings():
    assert sampling.set_aside(None, TASK) == {}
    assert sampling.set_aside(object(), TASK) == {}
