"""Set aside the sampling settings of a checkpoint, so that T trials are T draws from the model's own distribution.

A checkpoint's ``generation_config.json`` (``top_k: 1``, ``top_p: 0.001``, a repetition penalty) overrides the task's
settings that the harness's runner does not pass on, and most runners pass temperature and top_p only: trials are then
identical. Without a top_k there, transformers fills in 50. And where the checkpoint has ``do_sample: true``, a runner
that does not pass ``do_sample`` draws in a task with greedy decoding.

This reaches every ``generation_config`` of the transformers model that the runner holds, also that of a language model
within it that generates by itself (internvl3). It does not reach remote code that fills in its own settings, an engine
(vLLM, SGLang), or a model behind a server: see ``sampling`` in ``runners.yaml``.

The settings are set aside only while our tasks are answered (:mod:`lmms_medtasks.harness.calls`), so that the scores of
other tasks do not depend on whether ours were run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    "num_beams": 1,
    "temperature": 1.0,
}


Settings = Mapping[str, Any]

GREEDY: Settings = {"do_sample": False}
"""What a task that does not sample needs; all else is left to the checkpoint, as in any greedy benchmark."""


def trial_sampling_settings(generation_kwargs: Settings) -> Settings:
    """The settings of a task that samples: its ``generation_kwargs``, and neutral values for those not named there."""
    given = {name: value for name, value in generation_kwargs.items() if name in NEUTRAL and value is not None}
    return {**NEUTRAL, **given}


@dataclass(frozen=True, kw_only=True)
class _Replacement:
    config: Any
    where: str  # the inner model's name with a full stop, "" for the model itself
    name: str
    held: Any  # the attribute as it is, None where nothing was shipped
    acting: Any  # what transformers makes of it
    value: Any


def find_generation_configs(model: Any) -> dict[str, Any]:
    """Each ``generation_config`` of a transformers model once, by the name of the inner model that has it ("": itself).

    {} for what has none: an API, another engine.
    """
    named_modules = getattr(model, "named_modules", None)
    configs: dict[str, Any] = {}
    for name, part in [("", model), *(named_modules() if callable(named_modules) else ())]:
        config = getattr(part, "generation_config", None)
        if config is not None and not any(config is known for known in configs.values()):
            configs[name] = config
    return configs


def _iter_replacements(model: Any, settings: Settings) -> Iterator[_Replacement]:
    for module_name, config in find_generation_configs(model).items():
        # transformers 5 keeps None where nothing was shipped, and fills in its own values when it generates.
        filled_in: Mapping[str, Any] = getattr(config, "_get_default_generation_params", dict)()
        for name, value in settings.items():
            held = getattr(config, name, None)
            acting = filled_in.get(name) if held is None else held
            if acting is not None and acting != value:
                where = f"{module_name}." if module_name else ""
                yield _Replacement(config=config, where=where, name=name, held=held, acting=acting, value=value)


def find_differing_settings(model: Any, settings: Settings) -> dict[str, tuple[Any, Any]]:
    """Setting -> (value that acts now, value that is to act), of those that :func:`set_settings_aside` replaces.

    ``settings``: made by :func:`trial_sampling_settings`, or :data:`GREEDY`. A setting of an inner model is named after
    it, ``language_model.top_k``.
    """
    return {
        replacement.where + replacement.name: (replacement.acting, replacement.value)
        for replacement in _iter_replacements(model, settings)
    }


@contextlib.contextmanager
def set_settings_aside(model: Any, settings: Settings) -> Iterator[None]:
    """Replace the settings that differ, and put them back at the end."""
    changed = list(_iter_replacements(model, settings))
    for replacement in changed:
        setattr(replacement.config, replacement.name, replacement.value)
    try:
        yield
    finally:
        for replacement in changed:
            setattr(replacement.config, replacement.name, replacement.held)


def find_held_model(lm: Any) -> Any:
    """The model that a runner of the harness holds, None if it holds none."""
    return getattr(lm, "model", None) or getattr(lm, "_model", None)
