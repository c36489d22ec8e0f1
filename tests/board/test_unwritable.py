"""Files that a command can't write are named; what it found is printed all the same."""

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UnwritableFile, UserError

ROWS = {f"q{number:02}": "AAA" for number in range(12)}


@pytest.fixture
def run(tmp_path, runs):
    """The folder of a run."""
    runs.write(tmp_path / "run", {"medq_deg_l1": runs.choice_rows(ROWS)}, model="m")
    return str(tmp_path / "run")


@pytest.mark.parametrize("place", ["file/x.md", "folder"])
@pytest.mark.parametrize(
    ("command", "found"),
    [("gate RUN RUN", "gate: passed"), ("compare RUN RUN", ""), ("leaderboard pin RUN", ""),
     ("pack RUN --signed-off-by", "")],
    ids=["gate", "compare", "pin", "pack"],
)  # fmt: skip
def test_it_is_named_and_the_status_is_2(run, tmp_path, command, found, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    arguments = [run if each == "RUN" else each for each in command.split()]
    arguments += ["A <a@b.org>"] if "pack" in arguments else []
    done = CliRunner().invoke(build_app(), [*arguments, "-o", str(tmp_path / place)])
    assert isinstance(done.exception, UserError), done.exception
    assert str(tmp_path / place) in str(done.exception) and found in done.stdout.lower()
    assert not isinstance(done.exception, UnwritableFile) or "can't be written (" in str(done.exception)
