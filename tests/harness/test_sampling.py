"""A checkpoint's own sampling settings do not narrow the draws, and nothing else is changed by that."""

from types import SimpleNamespace

import pytest
import torch
import transformers

from lmms_medtasks.harness import sampling

TASK = sampling.trial_sampling_settings(
    {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 5}
)


def model(**shipped):
    return SimpleNamespace(generation_config=transformers.GenerationConfig(**shipped))


def test_shipped_settings_are_replaced_until_the_end():
    shipped = model(do_sample=True, top_k=1, top_p=0.001, repetition_penalty=1.05)
    config = shipped.generation_config
    found = sampling.find_differing_settings(shipped, TASK)
    assert found == {"top_k": (1, 0), "top_p": (0.001, 1.0), "repetition_penalty": (1.05, 1.0)}
    with pytest.raises(KeyError), sampling.set_settings_aside(shipped, TASK):
        assert (config.top_k, config.top_p, config.repetition_penalty) == (0, 1.0, 1.0)
        raise KeyError
    assert (config.top_k, config.top_p, config.repetition_penalty) == (1, 0.001, 1.05)


def test_what_the_task_wants_counts():
    shipped = model(do_sample=True, top_k=20, temperature=0.7)
    assert (
        sampling.find_differing_settings(
            shipped, sampling.trial_sampling_settings({"top_k": 20, "temperature": 0.7, "top_p": None})
        )
        == {}
    )
    assert sampling.find_differing_settings(shipped, TASK) == {"top_k": (20, 0), "temperature": (0.7, 1.0)}


@pytest.fixture(scope="module")
def flat_model():
    """A language model of 400 tokens, all of them about equally likely."""
    config = transformers.Qwen2Config(
        vocab_size=400, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1,
    )  # fmt: skip
    torch.manual_seed(0)
    return transformers.Qwen2ForCausalLM(config).eval()


def distinct(language_model, **passed):
    """How many different tokens 3000 draws give when a runner passes ``passed``."""
    torch.manual_seed(0)
    prompts = torch.ones((3000, 1), dtype=torch.long)
    drawn = language_model.generate(prompts, attention_mask=prompts, max_new_tokens=1, pad_token_id=0, **passed)
    return len(set(drawn[:, -1].tolist()))


def test_the_fifty_likeliest_of_transformers_are_set_aside(flat_model):
    """Where a checkpoint ships no top_k and the runner passes none, transformers fills in 50."""
    shipped = flat_model.generation_config.top_k
    assert distinct(flat_model, do_sample=True, temperature=1.0) == 50
    with sampling.set_settings_aside(flat_model, TASK):
        assert distinct(flat_model, do_sample=True, temperature=1.0) > 350
    assert flat_model.generation_config.top_k is shipped
    assert sampling.find_differing_settings(flat_model, TASK) == {"top_k": (50, 0)}


class Outer(torch.nn.Module):
    """A model that asks a language model within it to generate, as InternVL's remote code does."""

    def __init__(self, language_model):
        super().__init__()
        self.language_model = language_model


def test_a_language_model_within_the_model_is_reached(flat_model):
    inner, outer = flat_model.generation_config, Outer(flat_model)
    inner.top_k, inner.temperature, before = 1, 0.001, inner.top_k
    try:
        assert sampling.find_differing_settings(outer, TASK) == {
            "language_model.top_k": (1, 0),
            "language_model.temperature": (0.001, 1.0),
        }
        assert distinct(outer.language_model, do_sample=True) == 1
        with sampling.set_settings_aside(outer, TASK):
            assert distinct(outer.language_model, do_sample=True) > 350
        assert (inner.top_k, inner.temperature) == (1, 0.001)
    finally:
        inner.top_k, inner.temperature = before, None


def test_one_configuration_that_two_models_share_is_changed_once(flat_model):
    outer = Outer(flat_model)
    outer.generation_config = flat_model.generation_config
    assert sampling.find_differing_settings(outer, TASK) == {"top_k": (50, 0)}


def test_a_greedy_task_is_not_sampled_by_a_runner_that_leaves_do_sample_out(flat_model):
    flat_model.generation_config.do_sample = True
    try:
        assert distinct(flat_model) == 50
        with sampling.set_settings_aside(flat_model, sampling.GREEDY):
            assert distinct(flat_model) == 1
        assert sampling.find_differing_settings(flat_model, sampling.GREEDY) == {"do_sample": (True, False)}
    finally:
        flat_model.generation_config.do_sample = None


def test_stop_tokens_and_lengths_stay():
    shipped = model(do_sample=True, top_k=1, eos_token_id=7, suppress_tokens=[3], max_length=99)
    with sampling.set_settings_aside(shipped, TASK):
        config = shipped.generation_config
        assert (config.eos_token_id, config.suppress_tokens, config.max_length) == (7, [3], 99)


def test_models_without_such_settings():
    assert sampling.find_differing_settings(None, TASK) == sampling.find_differing_settings(object(), TASK) == {}
    assert sampling.find_held_model(None) is None
