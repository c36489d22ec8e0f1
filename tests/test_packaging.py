"""What a wheel holds, and that it works where only it and the harness are installed."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lmms_medtasks import digests
from lmms_medtasks.harness.plugin import task_index

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    "lmms_medtasks": "lmms_medtasks",
    "task_configs": "lmms_medtasks.task_configs",
    "degradations": "lmms_medtasks.degradations",
    "judges": "lmms_medtasks.judges",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # setuptools leaves a build folder beside what it builds
    for name in TOP_LEVEL:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, source]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def source_files() -> set[str]:
    """Every file of our packages, by the path that it must have in the wheel."""
    found = set()
    for folder, package in TOP_LEVEL.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found.add(f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}")
    return found


def test_every_folder_is_a_declared_package():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    declared = set(config["options"]["packages"].split())
    found = {
        ".".join([package, *path.parent.relative_to(ROOT / folder).parts])
        for folder, package in TOP_LEVEL.items()
        for path in (ROOT / folder).rglob("__init__.py")
    }
    assert declared == found


def test_wheel_holds_every_file(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == source_files()


def test_nothing_generic_lands_in_site_packages(wheel):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"lmms_medtasks"}


def seen_in(folder):
    code = "from lmms_medtasks import digests as d; print(d.package_digest(), d.degraded_pixels(), d.is_modified())"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=folder, check=True
    ).stdout.split()


@pytest.fixture
def target(wheel, tmp_path):
    """A folder with the wheel installed."""
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel]
    subprocess.run(command, check=True)
    return target


def test_a_changed_file_that_can_move_a_number_is_seen(target):
    def seen():
        return seen_in(target)

    package, degradations = digests.package_digest(), digests.degraded_pixels()
    assert seen() == [package, degradations, "False"]
    for name in ("report/quotable.py", "task_configs/medq_deg/report.py", "task_configs/medq_deg/README.md"):
        (target / "lmms_medtasks" / name).write_text("# changed\n")
    assert seen() == [package, degradations, "False"]
    (target / "lmms_medtasks" / "parsing" / "more_words.yml").write_text("a: 1\n")
    [with_more, unmoved, modified] = seen()
    assert with_more != package and (unmoved, modified) == (degradations, "True")
    with (target / "lmms_medtasks" / "degradations" / "severity.yaml").open("a") as file:
        file.write("more: 1\n")
    assert seen()[1] != degradations
    assert digests.is_modified() is None  # a working copy


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")
def test_what_is_not_committed_in_a_working_copy_is_seen_and_a_committed_comment_moves_no_pixels(target):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments], cwd=target, check=True)

    for path in target.glob("*.dist-info"):
        shutil.rmtree(path)
    (target / ".gitignore").write_text("__pycache__\n")
    git("init", "-q")
    for commit in ("as it was", "with a comment"):
        git("add", ".")
        git("commit", "-qm", commit)
        package, degradations, modified = seen_in(target)
        assert (degradations, modified) == (digests.degraded_pixels(), "False")
        with (target / "lmms_medtasks" / "degradations" / "noise.py").open("a") as file:
            file.write("# A comment.\n")
        changed = seen_in(target)
        assert changed[0] != package and changed[1] != degradations and changed[2] == "True"


def test_wheel_works_beside_the_harness(target, tmp_path):
    code = """
import json, sys
import lmms_medtasks
import lmms_eval.models
from lmms_eval.tasks import TaskManager
from importlib.resources import files
manager = TaskManager(include_defaults=False, model_name="medtasks_random")
task = manager.load_task_or_group("medq_deg_l2", "simple")["medq_deg_l2"]
doc = task.test_docs()[0]
print(json.dumps({
    "where": lmms_medtasks.__file__, "tasks": manager.all_tasks, "questions": len(task.test_docs()),
    "prompt": task.doc_to_text(doc), "size": task.doc_to_visual(doc)[0].size,
}))
"""
    environment = {
        **os.environ,
        "PYTHONPATH": str(target),
        "MEDTASKS_DATA": "mini",
        "MEDTASKS_HOME": str(tmp_path / "home"),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert Path(seen["where"]).is_relative_to(target)
    assert set(seen["tasks"]) == set(task_index())
    assert seen["questions"] > 500
    assert seen["prompt"].startswith("You are a medical AI assistant.")
    assert min(seen["size"]) > 100
