"""Which of a model's arguments may be shown: they tell two entries of one name apart, and may hold keys and paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAMES = ("pretrained", "model_version", "model", "model_name")
"""Arguments that name the model (lmms_medtasks/samples/runs.py)."""
_WORDS = ("attn_implementation", "conv_template", "device_map", "dtype", "quantization", "revision", "torch_dtype")
"""Arguments whose words may be shown: they name a setting."""
_SECRET = re.compile(
    r"key|secret|pass|pwd|auth|credential|bearer|session|cookie|account|phone|(^|_)(token|pin|pincode|pat|otp)(_|$)"
)
_KEY = re.compile(r"(ghp|gho|ghs|ghu|github_pat|hf|sk|pk|rk|xox[a-z]|glpat|AKIA)[-_A-Z0-9]")
"""How keys of services begin: they are shown under no name."""


def shown_arguments(content: Mapping[str, Any]) -> str:
    """The arguments of the model that can hold no key or path, sorted: ``dtype=float16,max_pixels=1024``.

    Numbers, True, False and None of any argument that is not called after a secret; words of :data:`_WORDS` alone.
    """
    arguments = (content.get("config") or {}).get("model_args") or {}
    if not isinstance(arguments, Mapping):
        arguments = dict(part.strip().partition("=")[::2] for part in str(arguments).split(","))
    pairs = ((str(name), str(value)) for name, value in arguments.items() if name not in _NAMES)
    return ",".join(sorted(f"{name}={value}" for name, value in pairs if _may_be_shown(name, value)))


def read_arguments(text: str) -> dict[str, str]:
    """What :func:`shown_arguments` gave, by name; a stranger's other text is left out."""
    pairs = (part.partition("=")[::2] for part in text.split(","))
    return {name: value for name, value in pairs if _may_be_shown(name, value)}


def _may_be_shown(name: str, value: str) -> bool:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or _SECRET.search(name):
        return False
    plain = re.fullmatch(r"[+-]?[0-9]{1,8}(\.[0-9]{1,6})?|True|False|None|true|false|none", value)
    word = name in _WORDS and re.fullmatch(r"[A-Za-z0-9_.-]{1,24}", value) and not _KEY.match(value)
    return bool(plain or word)
