"""A checkpoint's own sampling settings do not narrow the draws, and nothing else is changed by that."""

from types import SimpleNamespace

import pytest
import transformers

from lmms_medtasks import sampling

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


class Model:
    """Replies to each request with its text and the settings that it was answered with."""

    def __init__(self, **shipped):
        self.model = model(do_sample=True, **shipped)
        self.calls = 0

    def generate_until(self, requests):
        self.calls += 1
        config = self.model.generation_config
        return [(request.text, config.top_k, config.repetition_penalty) for request in requests]


def requests(*tasks):
    return [SimpleNamespace(task_name=task, text=f"{place}") for place, task in enumerate(tasks)]


def test_other_tasks_of_the_run_are_answered_as_shipped():
    lm = Model(top_k=1, repetition_penalty=1.05)
    with sampling.apart(lm, {"draws": TASK, "narrow": {**TASK, "top_k": 5}}) as changes:
        replies = lm.generate_until(requests("greedy", "draws", "narrow", "greedy", "draws"))
    assert replies == [("0", 1, 1.05), ("1", 0, 1.0), ("2", 5, 1.0), ("3", 1, 1.05), ("4", 0, 1.0)]
    assert changes["draws"] == {"top_k": "1 -> 0", "repetition_penalty": "1.05 -> 1.0"}
    assert changes["narrow"]["top_k"] == "1 -> 5"
    assert lm.calls == 3
    assert lm.generate_until(requests("draws")) == [("0", 1, 1.05)]  # the end


def test_without_anything_to_set_aside_the_model_is_left_alone():
    lm = Model(top_k=0)
    with sampling.apart(lm, {"draws": TASK}) as changes:
        lm.generate_until(requests("greedy", "draws"))
    assert changes == {"draws": {}} and lm.calls == 1
    with sampling.apart(None, {}) as changes:
        assert changes == {}
