"""The scripts start and print their tables on tiny inputs; their times are nobody's test."""

import os
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(name, *arguments):
    command = [sys.executable, str(BENCHMARKS / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_degradations():
    printed = run("degradations.py", "--size", 48, "--repeats", 1, "--name", "gaussian_blur", "--name", "exposure")
    assert "gaussian_blur" in printed
    assert "mean" in printed


def test_judging():
    lines = run("judging.py", "--judgements", 40, "--latency", 0.01).splitlines()
    assert "40 judged now, 0 still to judge" in lines[1]
    assert "40 judged before, 0 still to judge" in lines[2]
    assert "delivered 40 verdicts on 40 prompts (0 more than once)" in lines[3]
    assert "0 still to judge" in lines[4]


def test_server(commands):
    """It runs the harness: by a process that has it already."""
    command = [commands / "python", "-m", "server", "--questions", "2", "--size", "32"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BENCHMARKS).stdout
    assert "n = T and T requests gave the same reply on 2 of 2 questions" in printed
    assert all(f"\n{name}" in printed for name in ("openai", "async_openai", "medtasks_server, n = T"))


def test_what_a_script_printed_is_kept_without_names_of_the_machine(tmp_path):
    script = tmp_path / "short.py"
    script.write_text(
        "import keeping, pathlib\nkeeping.RESULTS = pathlib.Path(__file__).parent\n"
        "def main():\n    print('took 3 ms')\n    print(pathlib.Path.home() / 'x')\n"
        "    print(__import__('tempfile').gettempdir() + '/y')\nkeeping.run(main)\n"
    )
    command = [sys.executable, str(script), "--record", "--folder", str(tmp_path), "--repeats", "2"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    )
    kept = (tmp_path / "short.md").read_text("utf-8")
    assert "took 3 ms" in done.stdout and "took 3 ms" in kept
    assert "`python benchmarks/short.py --folder PATH --repeats 2`" in kept and f"{os.cpu_count()} cores" in kept
    assert str(tmp_path) not in kept and str(Path.home()) not in kept
    assert "/y" in done.stdout and "/y" not in kept
