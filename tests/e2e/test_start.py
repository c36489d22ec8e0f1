"""What of our package is loaded for a run: what its task uses, and no more."""

from pathlib import Path

MOST = 15_000
COUNT = """
import atexit, sys


def tell():
    ours = [module for name, module in sys.modules.items() if name.startswith("lmms_medtasks")]
    files = [getattr(module, "__file__", None) for module in ours]
    with open({path!r}, "w") as told:
        told.writelines(f"{{file}}\\n" for file in files if file)


atexit.register(tell)
"""
NOT_FOR_IT = (
    *("agreement", "board", "cli", "contribute", "data.prepare", "grids", "judges", "report"),
    *("harness.degraded_tasks", "harness.judging_stage", "harness.template_hooks.binding", "statistics.reliability"),
)


def test_a_task_loads_what_it_uses(harness, tmp_path):
    """Lines, not seconds: a machine with something else to do would fail a test that is timed."""
    (tmp_path / "sitecustomize.py").write_text(COUNT.format(path=str(tmp_path / "loaded")), "utf-8")
    asked = ("--model", "medtasks_random", "--tasks", "medq_deg_l2", "--limit", "2")
    done = harness(*asked, anew=True, PYTHONPATH=str(tmp_path))
    assert done.run, done.printed[-2000:]
    files = sorted({Path(line) for line in (tmp_path / "loaded").read_text("utf-8").splitlines()})
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    assert 5_000 < sum(lines.values()) < MOST, f"{len(files)} modules, {sum(lines.values())} lines"
    parts = [file.with_suffix("").parts for file in files]
    names = {".".join(each[place:]) for each in parts for place in range(len(each))}
    assert not [each for each in NOT_FOR_IT if each in names or f"{each}.__init__" in names]
