"""What checks and publishes a board needs ``lmms_medtasks/board/requirements.txt`` alone: no torch, no harness."""

import configparser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import made_up_runs as runs

ROOT = Path(__file__).resolve().parent.parent
LIGHT = ROOT / "lmms_medtasks" / "board" / "requirements.txt"
COMMANDS = {
    "pack": "pack run -o entries/ada/m.json.gz --signed-off-by 'A B <a@b.org>'",
    "pack --check": "pack entries --check",
    "pack --check --against": "pack entries/ada/m.json.gz --check --against run",
    "leaderboard pin": "leaderboard pin run -o pins.yml",
    "leaderboard verify": "leaderboard verify entries/ada/m.json.gz --level 'run by the board' --against run -o v.yml",
    "leaderboard check": "leaderboard check entries --base none --account ada --pins pins.yml -o check.md",
    "leaderboard build": "leaderboard build entries -o site --pins pins.yml --verified v.yml",
    "leaderboard build of runs": "leaderboard build run -o site_of_runs --no-reports",
    "gate": "gate entries run -o gate.md",
    "compare": "compare entries run -o compared.md",
    "report": "report run -o report",
    "version": "--version",
}
RUN_THEM = """
import contextlib, io, json, shlex, sys, traceback

blocked, commands = json.loads(sys.argv[1])


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocked())
from lmms_medtasks.cli import main

said = {}
for name, command in commands.items():
    sys.argv = ["lmms-medtasks", *shlex.split(command)]
    output, status = io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            status = "traceback"
            traceback.print_exc()
    said[name] = [status, output.getvalue()]
print(json.dumps(said))
"""


def requirements(text):
    """Name -> its bound, of lines such as ``numpy>=1.26``."""
    lines = [line for line in text.split() if re.match(r"[\w-]+[<>=]", line)]
    return dict(re.match(r"([\w-]+)(.*)", line).groups() for line in lines)


@pytest.fixture(scope="module")
def installed():
    """What setup.cfg requires."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return requirements(config["options"]["install_requires"])


@pytest.fixture(scope="module")
def said(tmp_path_factory, installed):
    """Status and output of each command, where nothing but the board's requirements can be imported."""
    folder = tmp_path_factory.mktemp("light")
    tags = {"capability": "Counting", "degradation": "gaussian_noise"}
    rows = runs.choice_rows({f"q{row:02d}": "AAA" if row % 3 else "BBB" for row in range(12)}, **tags)
    runs.write(folder / "run", {"medq_deg_l1": rows}, metadata={"data": "mini"})
    blocked = [name.replace("-", "_") for name in installed if name not in requirements(LIGHT.read_text("utf-8"))]
    commands = {**COMMANDS, "leaderboard verify of replies": RECOMPUTED}
    done = subprocess.run(
        [sys.executable, "-c", RUN_THEM, json.dumps([blocked, commands])],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


RECOMPUTED = "leaderboard verify entries/ada/m.json.gz --level recomputed --against run -o v.yml"


def test_the_bounds_are_those_of_setup_cfg(installed):
    light = requirements(LIGHT.read_text("utf-8"))
    assert light.items() <= installed.items()
    assert not {"torch", "lmms-eval", "transformers", "datasets", "numba", "torchio"} & set(light)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_boards_command_needs_nothing_else(said, name):
    status, output = said[name]
    assert status == 0, output


@pytest.mark.parametrize("name", ["leaderboard verify of replies"])
def test_a_command_that_needs_more_says_so_in_one_line(said, name):
    status, output = said[name]
    assert status == 2 and len(output.splitlines()) == 1, output
    assert re.search("needs (lmms_eval|wrapt|datasets),", output), output
