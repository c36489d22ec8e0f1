"""Facts about runners of models: names, what they do to images, and which server they ask (``runners.yaml``)."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.resources
import os
from typing import Any

_FORMAT_VARIABLE = "LMMS_IMAGE_ENCODE_FORMAT"
_OWN_CLIENT = "lmms_medtasks.harness.server_model"
_LOSSLESS = {"", "PNG"}

MOST_FREQUENT = "medtasks_most_frequent"
BASELINES = {
    "medtasks_random": "baseline_models.RandomModel",
    MOST_FREQUENT: "learned_model.MostFrequentModel",
    "medtasks_observer": "baseline_models.ObserverModel",
    "medtasks_pixel_outlier": "baseline_models.PixelOutlierModel",
}
"""The baselines, and their classes in :mod:`lmms_medtasks.harness`."""

ADAPTED_MODEL = "medtasks_peft"
SERVER_MODEL = "medtasks_server"
OWN_MODELS = (*BASELINES, ADAPTED_MODEL, SERVER_MODEL)


@functools.cache
def load_runners() -> dict[str, dict[str, Any]]:
    """``runners.yaml``: heading -> module -> fact."""
    import yaml

    return yaml.safe_load(importlib.resources.files(__package__).joinpath("runners.yaml").read_text("utf-8"))


def find_image_encoding(model_name: str, runner: str) -> str | None:
    """How the runner of ``--model`` re-encodes pictures with loss ("JPEG quality 85"); None if it is not known to.

    ``runner`` is "chat" or "simple", the kind that was chosen.
    """
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        resolved = MODEL_REGISTRY_V2.resolve(model_name, force_simple=runner == "simple")
    except ValueError:
        return None  # the harness itself reports an unknown model
    return find_module_encoding(resolved.class_path.rpartition(".")[0])


def find_module_encoding(name: str) -> str | None:
    """The same for the runner in a module of the harness, ``lmms_eval.models.simple.gemma3``."""
    module = ".".join(name.split(".")[-2:])
    chosen = os.environ.get(_FORMAT_VARIABLE, "").strip().upper()
    if module in load_runners()["chosen_by_variable"] and chosen not in _LOSSLESS:
        return f"{chosen} ({_FORMAT_VARIABLE})"
    return load_runners()["lossy"].get(module)


def answering_module(lm: Any) -> str:
    """The module of ``generate_until``, as ``runners.yaml`` names it: "simple.claude"; "" for no runner of the harness.

    A class derived from a runner of the harness has its faults as long as it inherits the method.
    """
    owner = next((base for base in type(lm).__mro__ if "generate_until" in vars(base)), None)
    name = owner.__module__ if owner else ""
    return ".".join(name.split(".")[-2:]) if name.startswith("lmms_eval.models.") else ""


def why_runner_is_unknown(module: str) -> str:
    """Why a runner of the harness in this module (:func:`answering_module`) is not known; "" if it is."""
    read, installed = str(load_runners()["read_in"]), importlib.metadata.version("lmms_eval")
    if not module or installed == read:
        return ""
    return f"not known for this version of the harness ({installed}; {read} was read)"


def why_trials_may_depend(lm: Any, ranks: int, *, settings_reached: bool) -> str | None:
    """Why trials of a task that samples may not be independent draws from the model's distribution; None if they are.

    ``settings_reached``: the runner holds a transformers model, whose settings we set.
    """
    module = answering_module(lm)
    known = load_runners()["sampling"].get(module, {})
    if "unknown" in known or "greedy" in known:
        return known.get("unknown", known.get("greedy"))
    if type(lm).__module__.startswith("lmms_medtasks."):
        return getattr(lm, "doubt", None)
    if not settings_reached and (why := why_runner_is_unknown(module)):
        return f"what settings reach its sampler is {why}"
    if settings_reached or module in load_runners()["seeded_requests"]:
        return None
    if "on_several_ranks" in known:
        return known["on_several_ranks"] if ranks > 1 else None
    return "what settings reach its sampler is not known"


def find_server_access(name: str) -> str | None:
    """How the runner in a module asks a server: "client" for the one that its client names, or a clause that names it.

    None if it is not known to ask one.
    """
    if name == _OWN_CLIENT:
        return "client"
    if not name.startswith("lmms_eval.models."):
        return None
    return load_runners()["servers"].get(".".join(name.split(".")[-2:]))


def find_runner_kind(model_name: str | None, force_simple: bool) -> str | None:
    """The kind of runner that the harness takes for a model, "chat" or "simple"; None for an unknown model."""
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        return MODEL_REGISTRY_V2.resolve(str(model_name), force_simple=force_simple).model_type
    except ValueError:
        return None  # the harness itself reports an unknown model


@functools.cache
def warn_of_encoding(model_name: str, encoding: str) -> None:
    """Warn once per process, in the harness's log, that the pictures are re-encoded."""
    logger: Any
    from loguru import logger

    clean = ", ".join(sorted(name.split(".")[1] for name in load_runners()["clean"]))
    logger.warning(
        f"The runner of --model {model_name} re-encodes every image as {encoding} before the model sees it. In a "
        f"benchmark of image quality that is damage on top of the damage measured; the result file records it "
        f"(metadata.image_encoding). Runners measured to be clean: {clean} (as chat models)."
    )


def names() -> list[str]:
    """All names after --model that the harness knows; [] if it does not list them."""
    from lmms_eval import models

    listed = getattr(getattr(models, "MODEL_REGISTRY_V2", None), "list_model_names", list)
    return list(listed())


def find_model_class(model_name: str, force_simple: bool) -> type | None:
    """The class of a model; None for an unknown name and for a class that can't be imported."""
    try:
        from lmms_eval.models import get_model

        runner_class: type = get_model(model_name, force_simple)
    except Exception:  # noqa: BLE001 (the harness imports it again and reports the error)
        return None
    return runner_class
