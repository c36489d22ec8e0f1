"""Modules of ``benchmarks``, which is no package."""

import importlib
from pathlib import Path

import pytest


@pytest.fixture
def load(monkeypatch):
    """A module by its name: ``load("simulations.rivals")``."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module
