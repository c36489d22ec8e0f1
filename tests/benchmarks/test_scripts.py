"""The scripts start and print their tables on tiny inputs; their times are nobody's test."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(name, *arguments):
    command = [sys.executable, str(BENCHMARKS / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def load(name):
    """A script's functions, for one that needs packages which tests do not have."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_degradations():
    printed = run("degradations.py", "--size", 48, "--repeats", 1, "--name", "gaussian_blur", "--name", "exposure")
    assert "gaussian_blur" in printed
    assert "mean" in printed


def test_fidelity(tmp_path):
    clean = np.random.default_rng(0).integers(120, 256, (40, 50), dtype=np.uint8)
    for level, pixels in (("L0", clean), ("L1", clean - 75), ("L2", clean - 113)):
        Image.fromarray(pixels).convert("RGB").save(tmp_path / f"{level}.png")
    images = {level: f"{level}.png" for level in ("L0", "L1", "L2")}
    triple = {"name": "adjust_brightness", "modality": "Endoscopy", "images": images}
    (tmp_path / "examples.json").write_text(json.dumps([triple]))
    printed = run("fidelity.py", tmp_path, "-o", tmp_path / "sheet.png")
    assert "100.00%" in printed
    assert (tmp_path / "sheet.png").is_file()


def test_severity_order_windows_and_counts():
    order = load("severity_order")
    values = np.linspace(-1000, 1500, 80 * 70, dtype=np.float32).reshape(80, 70)
    calibrated, plain = (dict(order.windowed(values, known)) for known in (True, False))
    assert len(calibrated) >= 8 and len(plain) >= 8
    assert calibrated["brain"].dtype == np.uint8 and calibrated["brain"][values < 0].max() == 0
    assert plain["all"].min() == 0 and plain["all"].max() == 255
    assert order.resized(plain["all"], 40).shape == (40, 35)


def test_server(commands):
    """It runs the harness: by a process that has it already."""
    command = [commands / "python", "-m", "server", "--questions", "2", "--size", "32"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BENCHMARKS).stdout
    assert "n = T and T requests gave the same reply on 2 of 2 questions" in printed
    assert all(f"\n{name}" in printed for name in ("openai", "async_openai", "medtasks_server, n = T"))


def test_the_made_up_log_of_the_report_can_be_read(tmp_path):
    printed = run("report.py", "--questions", "60", "--trials", "2", "--keep", tmp_path)
    assert "log: 180 rows" in printed and "allowed: 60" in printed
    assert (tmp_path / "report" / "report.html").is_file()


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
