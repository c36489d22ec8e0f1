"""Made-up runs for all tests of comparisons."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def runs():
    """The module ``tests/made_up_runs.py``."""
    name = "medtasks_made_up_runs"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / "made_up_runs.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
