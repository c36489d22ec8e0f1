"""What ``import lmms_medtasks`` imports, lists and offers."""

import importlib
import json
import pkgutil
import pydoc
import subprocess
import sys

import pytest

import lmms_medtasks as mt

HEAVY = {"torch", "lmms_eval", "matplotlib", "pandas", "numpy", "scipy", "PIL", "datasets", "transformers", "yaml"}


def imported_by(code):
    """The top-level modules that ``code`` imports in a process of its own."""
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_import_takes_nothing_heavy_and_listing_neither():
    assert imported_by("import lmms_medtasks as mt; dir(mt)") & HEAVY == set()


def test_degrading_parsing_and_estimating_take_neither_torch_nor_the_harness_nor_figures():
    code = """
import lmms_medtasks as mt, numpy as np
mt.degrade(np.zeros((8, 8), np.uint8), 'adjust_brightness', severity=1)
mt.parse('B', options=['a', 'b'])
mt.accuracy(np.array([1, 0, 1]))
"""
    assert imported_by(code) & {"torch", "lmms_eval", "matplotlib", "pandas", "datasets"} == set()


def test_dir_lists_the_public_names_and_nothing_else():
    assert dir(mt) == sorted(mt.__all__)
    assert len(set(mt.__all__)) == len(mt.__all__)
    for name in mt.__all__:
        assert getattr(mt, name) is not None


def test_every_public_name_is_documented_where_it_is_said_to_be():
    for name, home in mt._HOMES.items():
        module = importlib.import_module(f"lmms_medtasks.{home}")
        value = module if name == home else getattr(module, name)
        assert value.__doc__ and value is getattr(mt, name)


def test_a_name_that_is_none_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="'reports'"):
        _ = mt.reports
    with pytest.raises(ImportError):
        exec("from lmms_medtasks import reports")


def test_no_public_name_is_hidden_by_a_package_of_that_name():
    """Importing ``lmms_medtasks.X`` sets the attribute X of the package: only ``report`` is both, and can be called."""
    packages = {each.name for each in pkgutil.iter_modules(mt.__path__)}
    assert packages & set(mt.__all__) == {"report"}


def test_report_can_be_called_whatever_was_imported_before():
    code = "import lmms_medtasks.report; import lmms_medtasks as mt"
    for line in (code, "import lmms_medtasks as mt", "from lmms_medtasks import report; import lmms_medtasks as mt"):
        done = subprocess.run(
            [sys.executable, "-c", f"{line}\ntry: mt.report('nowhere')\nexcept mt.UserError as error: print(error)"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "nowhere is not there" in done.stdout
    assert "report(runs: " in pydoc.render_doc(mt.report) and "resamples:" in pydoc.render_doc(mt.report)
