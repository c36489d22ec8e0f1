"""``leaderboard init``: which files it writes, and by what digests its workflows install the package."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from lmms_medtasks import __version__ as VERSION
from lmms_medtasks.board import board_repository, model_facts
from lmms_medtasks.board.rules import read_board_rules
from lmms_medtasks.board.trust.rules_of_trust import read_trust
from lmms_medtasks.cli import leaderboard
from lmms_medtasks.errors import UserError

WHEEL = f"{{index}}/lmms_medtasks-{VERSION}-py3-none-any.whl"
NEEDED = [line.split(">=")[0] for line in board_repository._REQUIREMENTS.read_text("utf-8").splitlines()[2:]]


def write_wheel(folder: Path, name: str, version: str) -> Path:
    """A wheel with nothing but its metadata."""
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder, served, that is all that pip looks into: wheels of what a board needs, and of this package."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in (*NEEDED, "setuptools"):
        write_wheel(folder, name, "1000.0")
    write_wheel(folder, "lmms-medtasks", VERSION)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *words: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(SimpleHTTPRequestHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_FIND_LINKS", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    yield folder
    server.shutdown()
    server.server_close()


@pytest.fixture
def init(index: Path, tmp_path: Path) -> Callable[..., Result]:
    """Runs the command for ``tmp_path/board``, with this release as what the workflows install unless told."""

    def run(*options: str) -> Result:
        package = () if "--package" in options else ("--package", f"lmms-medtasks=={VERSION}")
        return CliRunner().invoke(leaderboard.app, ["init", str(tmp_path / "board"), *options, *package])

    return run


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_new_repository_has_rules_that_can_be_read_and_names_its_keepers(init, tmp_path):
    board = tmp_path / "board"
    assert init("--keeper", "ada", "--keeper", "@org/team", "--title", "Ours").exit_code == 0
    trust = read_trust(board / "pins.yml", board / "owners.yml", board / "verified.yml")
    assert trust.in_public and not trust.pins.found and not trust.levels
    assert read_board_rules(board / "rules.yml") == read_board_rules()
    assert not model_facts.read_model_facts(board / "models.yml").own
    assert (board / ".github" / "CODEOWNERS").read_text("utf-8").splitlines()[-2:] == ["* @ada @org/team", "/entries/"]
    assert (board / "README.md").read_text("utf-8").startswith("# Ours\n")
    texts = [path.read_text("utf-8") for path in board.rglob("*") if path.is_file()]
    assert len(texts) == 13 and not any("@KEEPERS@" in text or "@PYTHON@" in text for text in texts)


@pytest.mark.parametrize("name", ["owners.yml", "models.yml", "rules.yml"])
def test_the_examples_in_its_files_can_be_read_as_they_stand(init, tmp_path, name):
    init("--keeper", "ada")
    lines = (tmp_path / "board" / name).read_text("utf-8").splitlines()
    path = tmp_path / name
    path.write_text("".join(f"{line[4:]}\n" for line in lines if line.startswith("#   ")), "utf-8")
    assert yaml.safe_load(path.read_text("utf-8"))
    if name == "owners.yml":
        assert read_trust(owners_file=path).owners.rows["google/medgemma-4b-it"] == 2
    elif name == "models.yml":
        assert model_facts.read_model_facts(path).facts_of("Qwen/Qwen2.5-VL-7B-Instruct").parameters_b == 8.3
    else:
        assert read_board_rules(path).demanded("med_cmr_open", "judge").startswith("openai:gpt-4o at ")


def test_workflows_install_what_is_written_down_by_digests(init, index, tmp_path):
    init("--keeper", "ada")
    lines = (tmp_path / "board" / "requirements.txt").read_text("utf-8").splitlines()[1:]
    named = {name.lower(): found for name, _, found in (line.partition("==") for line in lines)}
    assert named.keys() == {*NEEDED, "setuptools"}
    assert named["numpy"] == f"1000.0 --hash=sha256:{digest(index / 'numpy-1000.0-py3-none-any.whl')}"
    wheel = index / f"lmms_medtasks-{VERSION}-py3-none-any.whl"
    package = (tmp_path / "board" / "package.txt").read_text("utf-8").splitlines()[-1]
    assert package.startswith("http://127.0.0.1:") and package.endswith(f"/{wheel.name}#sha256={digest(wheel)}")


def test_a_tag_is_written_down_as_its_commit(init, index, tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    (source / "setup.py").write_text(f"import setuptools; setuptools.setup(name='lmms-medtasks', version='{VERSION}')")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(source)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "c"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # which is how pip spells yes
    address = "git+https://git.example.org/lmms-medtasks"
    for name, value in (("COUNT", "1"), ("KEY_0", f"url.{source}.insteadOf"), ("VALUE_0", address[4:])):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert init("--keeper", "ada", "--package", f"{address}@v1").exit_code == 0
    assert f"{address}@{commit}#egg=lmms-medtasks" in (tmp_path / "board" / "package.txt").read_text("utf-8")


def test_what_is_there_stays_and_what_was_deleted_is_made_again(init, tmp_path):
    board = tmp_path / "board"
    init("--keeper", "ada")
    (board / "owners.yml").write_text("a/model: [ben]\n", "utf-8")
    (board / "package.txt").unlink()
    (board / ".github" / "workflows" / "publish.yml").unlink()
    result = init("--keeper", "carla")
    assert "Written: " in result.output and "(.github/workflows/publish.yml, package.txt)" in result.output
    assert "owners.yml" in result.output.partition("As they were: ")[2]
    assert (board / "owners.yml").read_text("utf-8") == "a/model: [ben]\n"
    assert "@carla" not in (board / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--keeper", "a b"), r"--keeper 'a b' is no account"),
        (("--keeper", "ada", "--title", "two\nlines"), "expected a line of text"),
        (
            ("--keeper", "ada", "--package", "lmms-medtasks==0.0.1"),
            "There is no such release there .*No matching distribution found",
        ),
        (("--keeper", "ada", "--package", "numpy"), "is numpy; expected lmms-medtasks"),
        (
            ("--keeper", "ada", "--package", "{index}/other/lmms_medtasks-0.0.1-py3-none-any.whl"),
            "is version 0.0.1, and",
        ),
        (("--keeper", "ada", "--package", WHEEL), r"is file:///.*, where no workflow can get it\. Say with --package"),
    ],
)
def test_a_mistake_is_told_in_one_message_and_nothing_is_written(init, index, tmp_path, options, complaint):
    (index / "other").mkdir()
    write_wheel(index / "other", "lmms-medtasks", "0.0.1")
    result = init(*(option.format(index=index) for option in options))
    assert isinstance(result.exception, UserError)
    with pytest.raises(UserError, match=complaint):
        raise result.exception
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (None, f"lmms-medtasks=={VERSION}"),
        ({"url": "https://h/x.whl", "archive_info": {}}, "https://h/x.whl"),
        ({"url": "https://h/x.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}, "git+https://h/x.git@c0ffee"),
        ({"url": "file:///x", "dir_info": {"editable": True}}, ""),
    ],
)
def test_the_installed_package_is_taken_unless_it_came_from_a_folder(monkeypatch, origin, package):
    class Installed:
        def read_text(self, name: str) -> str | None:
            return origin and json.dumps(origin)

    monkeypatch.setattr(board_repository.metadata, "distribution", lambda name: Installed())
    if package:
        assert board_repository.find_installed_package() == package
    else:
        with pytest.raises(UserError, match="installed from file:///x.*--package"):
            board_repository.find_installed_package()
