"""Sampling settings that a checkpoint ships, set aside so that T trials are T draws from the model's own distribution.

A checkpoint's ``generation_config.json`` (``top_k: 1``, ``top_p: 0.001``, a repetition penalty) stands above the
task's settings wherever the harness's runner does not pass them on, and most runners pass temperature and top_p only:
trials then come out identical, or from the 50 likeliest tokens (transformers' own default for top_k).
"""

from __future__ import annotations

from collections.abc import Mapping
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


def set_aside(model: Any, wanted: Mapping[str, Any]) -> dict[str, str]:
    """Replace the sampling settings of a transformers model's ``generation_config`` where they differ.

    ``wanted`` is the task's ``generation_kwargs``; what it does not name gets its neutral value. Returns what was
    changed, as {"top_k": "1 -> 0"}; {} for a model without such a configuration (an API, another engine).
    """
    config = getattr(model, "generation_config", None)
    if config is None:
        return {}
    changed = {}
    for name, neutral in NEUTRAL.items():
        value = wanted.get(name, neutral)
        shipped = getattr(config, name, None)
        if shipped is not None and shipped != value:
            setattr(config, name, value)
            changed[name] = f"{shipped} -> {value}"
    return changed
