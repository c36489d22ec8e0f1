"""The examples in the docstrings of the interface are right."""

import doctest
import importlib
import pkgutil

import pytest

from lmms_medtasks import interface

MODULES = [f"lmms_medtasks.interface.{each.name}" for each in pkgutil.iter_modules(interface.__path__)]


@pytest.mark.parametrize("name", [*MODULES, "lmms_medtasks.degradations.images"])
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_function_has_an_example():
    import lmms_medtasks as mt

    without = {name for name in mt._HOMES if ">>> " not in getattr(mt, name).__doc__}
    assert without == {"UserError"}
