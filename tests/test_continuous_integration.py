"""What CI checks is what setup.cfg, the import rules and the pre-commit hooks say."""

import configparser
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def test_the_oldest_versions_are_the_lower_bounds_of_setup_cfg():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    required = config["options"]["install_requires"].split()
    bounds = dict(re.match(r"([\w-]+)>=([\d.]+)", line).groups() for line in required)
    lines = (ROOT / "tests" / "oldest-requirements.txt").read_text("utf-8").splitlines()
    assert dict(line.split("==") for line in lines if not line.startswith("#")) == bounds


def test_ci_runs_types_imports_and_coverage():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert {".venv/bin/mypy", ".ci/imports", ".ci/coverage", ".venv/bin/ruff check ."} <= set(lines)


def test_one_job_runs_on_the_oldest_versions():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    constraints = [step["env"]["PIP_CONSTRAINT"] for step in jobs["oldest"]["steps"] if "env" in step]
    assert constraints == ["tests/oldest-requirements.txt"]


def test_pre_commit_hooks_run_what_ci_runs():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [hook["id"] for repo in repos for hook in repo["hooks"]] == ["ruff", "ruff-format", "mypy", "imports"]


def test_every_package_is_under_an_import_rule():
    rules = configparser.ConfigParser()
    rules.read(ROOT / ".importlinter")
    ruled = rules["importlinter:contract:lmms_eval"]["source_modules"].split()
    here = {path.parent.name for path in (ROOT / "lmms_medtasks").glob("*/__init__.py")}
    packages = {f"lmms_medtasks.{name}" for name in here | {"degradations", "judges", "task_configs"}}
    assert packages - set(ruled) == {"lmms_medtasks.harness"}
