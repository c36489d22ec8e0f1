"""The base class of our models, the parsing of their arguments, and functions as models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from lmms_eval.api.model import lmms
from tqdm import tqdm

from lmms_medtasks.errors import UserError, user_errors

_GIVEN_TO_ALL = {"batch_size", "max_batch_size", "device"}  # by the harness


class OwnModel(lmms):
    """A model that needs no GPU in this process."""

    @classmethod
    def create_from_arg_string(cls, arg_string: str, additional_config: dict[str, Any] | None = None) -> lmms:
        """As the harness does, but a mistake in the arguments ends its command line with one message."""
        with user_errors():
            return super().create_from_arg_string(arg_string, additional_config)

    @property
    def device(self) -> torch.device:
        """Where the harness's collectives put their tensors."""
        return torch.device("cpu")

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise UserError(f"{type(self).__name__} answers single questions only, not several rounds.")

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise UserError(f"{type(self).__name__} generates answers only, it has no likelihoods.")


def check_model_arguments(given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise UserError for a model argument that is not ``allowed``; the harness's own ones are."""
    unknown = sorted(set(given) - _GIVEN_TO_ALL - set(allowed))
    if unknown:
        raise UserError(f"Unknown model argument {unknown[0]!r}. Allowed: {', '.join(allowed)}.")


def parse_whole_number(name: str, value: Any, least: int | None = None) -> int:
    """A model argument as a whole number of at least ``least``; UserError for another value."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        above = "" if least is None else f" of at least {least}"
        raise UserError(f"The model argument {name} must be a whole number{above}, got {value!r}.")
    return value


class FunctionModel(OwnModel):
    """Calls ``function`` for each reply, with the prompt and the question's pictures as 8-bit RGB PIL images.

    An exception in the function ends the run.
    """

    is_simple = True
    doubt = "what settings reach a function is not known"
    """Why trials may be no independent draws, see :func:`lmms_medtasks.harness.runners.why_trials_may_depend`."""

    def __init__(self, function: Callable[[str, list[Any]], str]) -> None:
        super().__init__()
        self.function = function
        name = str(getattr(function, "__name__", type(function).__name__))
        self.name = "function" if name == "<lambda>" else name

    def generate_until(self, requests: list[Any]) -> list[str]:
        from lmms_medtasks.pictures import open_image, to_rgb8

        replies = []
        for request in tqdm(requests, desc="Answering"):
            prompt, _, doc_to_visual, doc_id, task, split = request.args
            visuals = doc_to_visual(self.task_dict[task][split][doc_id]) or []
            reply = self.function(
                prompt, [to_rgb8(open_image(visual)) if hasattr(visual, "getbands") else visual for visual in visuals]
            )
            if not isinstance(reply, str):
                raise UserError(
                    f"{self.name} must give a text, got {type(reply).__name__} for document {doc_id} of {task}."
                )
            replies.append(reply)
        return replies
