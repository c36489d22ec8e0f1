"""What the models of ours have in common: where the harness finds them, and how their arguments are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from lmms_eval.api.model import lmms

from lmms_medtasks.errors import UserError, user_errors

_GIVEN_TO_ALL = {"batch_size", "max_batch_size", "device"}  # by the harness, to every model


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

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def world_size(self) -> int:
        return self._world_size

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise UserError(f"{type(self).__name__} answers single questions only, not several rounds.")

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise UserError(f"{type(self).__name__} generates answers only, it has no likelihoods.")


def check_arguments(given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise UserError where a model argument is none of ``allowed`` and none that the harness gives to all models."""
    unknown = sorted(set(given) - _GIVEN_TO_ALL - set(allowed))
    if unknown:
        raise UserError(f"Unknown model argument {unknown[0]!r}. Allowed: {', '.join(allowed)}.")


def whole_number(name: str, value: Any, least: int | None = None) -> int:
    """A model argument as a whole number of at least ``least``; UserError for another value."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        above = "" if least is None else f" of at least {least}"
        raise UserError(f"The model argument {name} must be a whole number{above}, got {value!r}.")
    return value
