"""A checkpoint's own sampling settings do not narrow the draws, and nothing else is changed by that."""

from types import SimpleNamespace

import pytest
import transformers

from lmms_medtasks.harness import sampling

TASK = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True}


def model(**shipped):
    return SimpleNamespace(generation_config=transformers.GenerationConfig(**shipped))


def test_shipped_settings_are_replaced_until_the_end():
    shipped = model(do_sample=True, top_k=1, top_p=0.001, repetition_penalty=1.05)
    config = shipped.generation_config
    found = sampling.differing(shipped, TASK)
    assert found == {"top_k": (1, 0), "top_p": (0.001, 1.0), "repetition_penalty": (1.05, 1.0)}
    with pytest.raises(KeyError), sampling.set_aside(shipped, TASK):
        assert (config.top_k, config.top_p, config.repetition_penalty) == (0, 1.0, 1.0)
        raise KeyError
    assert (config.top_k, config.top_p, config.repetition_penalty) == (1, 0.001, 1.05)


def test_what_the_task_wants_counts():
    assert sampling.differing(model(do_sample=True, top_k=20), {**TASK, "top_k": 20}) == {}


def test_stop_tokens_and_lengths_stay():
    shipped = model(do_sample=True, top_k=1, eos_token_id=7, suppress_tokens=[3], max_length=99)
    with sampling.set_aside(shipped, TASK):
        config = shipped.generation_config
        assert (config.eos_token_id, config.suppress_tokens, config.max_length) == (7, [3], 99)


def test_models_without_such_settings():
    assert sampling.differing(None, TASK) == sampling.differing(object(), TASK) == {}


def test_what_is_changed_for_each_task_is_told():
    shipped = model(do_sample=True, top_k=1, repetition_penalty=1.05)
    changes = sampling.changes(shipped, {"draws": TASK, "narrow": {**TASK, "top_k": 5}})
    assert changes["draws"] == {"top_k": "1 -> 0", "repetition_penalty": "1.05 -> 1.0"}
    assert changes["narrow"]["top_k"] == "1 -> 5"
    assert sampling.changes(model(top_k=0), {"draws": TASK}) == {"draws": {}}
    assert sampling.model_of(None) is None and sampling.changes(None, {}) == {}
