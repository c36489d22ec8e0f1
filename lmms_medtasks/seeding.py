"""Random numbers that depend only on their purpose, never on the order of calls."""

from __future__ import annotations

import hashlib

import numpy as np


def stable_seed(*parts: str | int) -> int:
    """A 64-bit seed from ``parts`` (type and length count), the same in every process, Python version and machine."""
    digest = hashlib.sha256()
    for part in parts:
        text = f"{type(part).__name__}:{part}".encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return int.from_bytes(digest.digest()[:8], "little")


def seeded_generator(*parts: str | int) -> np.random.Generator:
    """A NumPy generator (PCG64) seeded with :func:`stable_seed` of ``parts``."""
    return np.random.Generator(np.random.PCG64(stable_seed(*parts)))
