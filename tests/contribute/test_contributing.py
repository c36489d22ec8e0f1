"""CONTRIBUTING.md followed word for word, and the worked examples that come of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"


def script() -> str:
    """All commands of the first part, in order."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## The package itself")[0]
    return "\n".join(re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def followed(tmp_path_factory, commands):
    """A fresh repository in which the commands were executed, and what they printed."""
    root = tmp_path_factory.mktemp("clone")
    (root / "docs" / "examples").mkdir(parents=True)
    (root / "docs" / "examples" / "make_data.py").write_bytes((EXAMPLES / "make_data.py").read_bytes())
    (root / "task_configs").mkdir()
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(root / ".hf"),
        "MEDTASKS_HOME": str(root / ".home"),
        "OMP_NUM_THREADS": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    before = "git init --quiet && git add docs && git commit --quiet --message start\n"
    # The two commands with the harness started once, see harness_commands.py; all else is as a reader has it.
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", before + script()],
        cwd=root, env=environment, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return root, done.stdout + done.stderr


def test_every_check_found_nothing(followed):
    assert followed[1].count("\n0 errors, 0 other findings.") == 3
    assert followed[1].count("\nNothing was executed. 0 errors, 0 other findings.") == 1


def test_the_run_scored_all_questions(followed):
    [path] = (followed[0] / "my_tasks" / "results").rglob("*_results.json")
    run = json.loads(path.read_text("utf-8"))
    assert run["results"]["chest_side"]["parse_rate,trials"] == 1.0
    assert run["results"]["lesion_words"]["judged,trials"] == 1.0
    assert run["n-samples"]["lesion_words"]["effective"] == 18
    assert len(run["configs"]["chest_side"]["metadata"]["data_digest"]) == 12


def files(folder: Path) -> dict[str, bytes]:
    skipped = {"__pycache__"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not skipped & set(path.parts)
    }


@pytest.mark.parametrize("name", ["chest_side", "lesion_words"])
def test_the_worked_example_is_what_the_commands_make(name, followed):
    """After a wanted change: follow CONTRIBUTING.md in the repository and move my_tasks/* to docs/examples."""
    made = files(followed[0] / "my_tasks" / name)
    kept = files(EXAMPLES / name)
    assert sorted(made) == sorted(kept)
    # Encoders differ from one version of Pillow to the next; the pixels were compared where the data are made.
    assert [each for each in made if not each.endswith(".png") and made[each] != kept[each]] == []


def test_the_page_shows_five_questions(followed):
    page = (followed[0] / "my_tasks" / "chest_side.html").read_text("utf-8")
    assert page.count("<article>") == 10  # with and without pictures
    assert page.count('<img src="data:image/png;base64,') == 5
