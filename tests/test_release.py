"""What a tag must be, and what its release says and tries."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from lmms_medtasks import __version__

ROOT = Path(__file__).resolve().parents[1]
CHANGES = """# Changelog

## [Unreleased]

- Not yet.

## [1.2.3] - 2026-11-22

### Added

- A thing.

## [1.2.2] - 2026-11-01

- Before.

[1.2.3]: https://example.org
"""


@pytest.fixture(scope="module")
def release_notes():
    """The function of ``.ci/release_notes.py``."""
    spec = importlib.util.spec_from_file_location("medtasks_release_notes", ROOT / ".ci" / "release_notes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.release_notes


@pytest.fixture
def package(tmp_path):
    """A repository of version 1.2.3."""
    (tmp_path / "lmms_medtasks").mkdir()
    (tmp_path / "lmms_medtasks" / "__init__.py").write_text('__version__ = "1.2.3"\n', "utf-8")
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, "utf-8")
    return tmp_path


def test_the_notes_are_the_versions_section(release_notes, package):
    assert release_notes("v1.2.3", package) == "### Added\n\n- A thing.\n"


@pytest.mark.parametrize(
    "tag, said", [("1.2.3", "vX.Y.Z"), ("v1.2", "vX.Y.Z"), ("v1.2.2", "1.2.3"), ("main", "vX.Y.Z")]
)
def test_a_tag_that_is_not_the_packages_version_is_refused(release_notes, package, tag, said):
    with pytest.raises(SystemExit, match=re.escape(said)):
        release_notes(tag, package)


@pytest.mark.parametrize(
    "changes", [CHANGES.replace("[1.2.3] -", "[1.2.4] -"), CHANGES.replace("### Added\n\n- A thing.", "")]
)
def test_a_version_of_which_the_changelog_says_nothing_is_refused(release_notes, package, changes):
    (package / "CHANGELOG.md").write_text(changes, "utf-8")
    with pytest.raises(SystemExit, match="CHANGELOG"):
        release_notes("v1.2.3", package)


def test_the_version_that_is_here_has_its_section(release_notes):
    assert release_notes(f"v{__version__}").strip()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    heading = f"## [{cited['version']}] - {cited['date-released']}"
    assert heading in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()


def test_a_release_tries_the_readmes_first_command_and_only_its_last_job_may_write():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    (tried,) = [each for each in jobs["build"]["steps"] if each.get("name") == "Try the wheel"]
    command = re.search(r"lmms-medtasks (run .*)", tried["run"])[1]
    assert command in (ROOT / "README.md").read_text("utf-8") and tried["env"]["MEDTASKS_DATA"] == "mini"
    assert "permissions" not in jobs["build"] and jobs["release"]["permissions"] == {"contents": "write"}
    # Nothing of the package is run where the token may write.
    assert not [each for each in jobs["release"]["steps"] if re.search("python|pip ", each.get("run", ""))]
