"""Sampling settings that a checkpoint ships, set aside so that T trials are T draws from the model's own distribution.

This reaches one thing: the ``generation_config`` of the transformers model that the harness's runner holds. It does not
reach a language model inside that model which generates with a configuration of its own, nor a model behind a server: a
vLLM server fills what a request leaves out (the harness's ``openai`` and ``async_openai`` leave out top_k and the
repetition penalty, ``async_openai`` top_p too) from the checkpoint. Nothing is recorded there.

They are set aside only while the tasks that sample are answered (:mod:`lmms_medtasks.harness.calls`): other tasks in
the same run, whoever's they are, are answered with what the checkpoint ships, so that no score depends on what else
was run.

A checkpoint's ``generation_config.json`` (``top_k: 1``, ``top_p: 0.001``, a repetition penalty) stands above the
task's settings wherever the harness's runner does not pass them on, and most runners pass temperature and top_p only:
trials then come out identical, or from the 50 likeliest tokens (transformers' own default for top_k).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

# What leaves the distribution as the model gives it (transformers, GenerationConfig).
NEUTRAL: Mapping[str, Any] = {
    "top_k": 0,
    "top_p": 1.0,
    "min_p": None,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "penalty_alpha": None,
}


Settings = Mapping[str, Any]


def differing(model: Any, wanted: Settings) -> dict[str, tuple[Any, Any]]:
    """The settings of a transformers model's ``generation_config`` that are to be replaced: as shipped, and by what.

    ``wanted`` is a task's ``generation_kwargs``; what it does not name gets its neutral value. {} for a model without
    such a configuration (an API, another engine), whatever settings hold there.
    """
    config = getattr(model, "generation_config", None)
    pairs = {name: (getattr(config, name, None), wanted.get(name, neutral)) for name, neutral in NEUTRAL.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] is not None and pair[0] != pair[1]}


@contextlib.contextmanager
def set_aside(model: Any, wanted: Settings) -> Iterator[None]:
    """Replace them, and put them back at the end."""
    changed = differing(model, wanted)
    for name, (_, value) in changed.items():
        setattr(model.generation_config, name, value)
    try:
        yield
    finally:
        for name, (shipped, _) in changed.items():
            setattr(model.generation_config, name, shipped)


def changes(model: Any, sampling: Mapping[str, Settings]) -> dict[str, dict[str, str]]:
    """What :func:`set_aside` replaces for each task that samples, as {"task": {"top_k": "1 -> 0"}}.

    ``sampling``: the tasks' ``generation_kwargs`` by their names.
    """
    return {
        task: {name: f"{shipped} -> {value}" for name, (shipped, value) in differing(model, wanted).items()}
        for task, wanted in sampling.items()
    }


def model_of(lm: Any) -> Any:
    """The model that a runner of the harness holds, None if it holds none."""
    return getattr(lm, "model", None) or getattr(lm, "_model", None)
