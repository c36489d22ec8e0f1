"""The judging benchmark runs on a few judgements; its times are nobody's test."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "judging.py"


def test_it_runs():
    command = [sys.executable, str(SCRIPT), "--judgements", "40", "--latency", "0.01"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    assert "40 judged now, 0 still to judge" in lines[1]
    assert "40 judged before, 0 still to judge" in lines[2]
    assert "delivered 40 verdicts on 40 prompts (0 more than once)" in lines[3]
    assert "0 still to judge" in lines[4]
