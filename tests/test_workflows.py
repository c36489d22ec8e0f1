"""The workflows and the action: their commands exist with these options, and their steps do what they say."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from tests import made_up_runs as runs

ROOT = Path(__file__).parents[1]
BOARD = "lmms_medtasks/board/repository"
"""What `leaderboard init` makes a board's repository of."""
WORKFLOWS = sorted(
    path for root in (".github", f"{BOARD}/github") for path in (ROOT / root / "workflows").glob("*.yml")
)
ACTION = ".github/actions/gate/action.yml"
COMMAND = re.compile(r"lmms-medtasks ((?:[^\n;|]|\|(?!\|))*)")
TASK = "medq_deg_l1"


def steps(path):
    content = yaml.safe_load(path.read_text("utf-8"))
    jobs = content["jobs"].values() if "jobs" in content else [content["runs"]]
    return [step for job in jobs for step in job["steps"]]


def step(path, name):
    (found,) = [each for each in steps(ROOT / path) if each.get("name") == name]
    return found["run"]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ACTION], ids=lambda path: path.name)
def test_every_command_exists_with_its_options(path):
    from lmms_medtasks.cli.app import build_app

    root = typer.main.get_command(build_app())
    for text in (each["run"] for each in steps(path) if "run" in each):
        for call in COMMAND.findall(text.replace("\\\n", " ")):
            words = shlex.split(call.split("||")[0])
            command = root
            while hasattr(command, "commands"):
                command = command.commands[words.pop(0)]
            known = {option for parameter in command.params for option in getattr(parameter, "opts", ())}
            options = {word for word in words if re.fullmatch(r"--?[a-z][a-z_-]*", word)}
            # `run` hands on what it does not know.
            assert options <= known or command.name == "run", (path.name, call)


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ACTION], ids=lambda path: path.name)
def test_no_step_puts_an_expression_into_a_shell(path):
    """What a pull request says (a branch, an input) would be run: it comes through the environment."""
    for each in steps(path):
        assert "${{" not in each.get("run", ""), each


@pytest.fixture
def shell(tmp_path, commands):
    """Runs a step in a folder of its own, with ``lmms-medtasks`` on the path; gives status and output."""

    def run(text, **variables):
        own = {
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_OUTPUT": str(tmp_path / "output.txt"),
            "RUNNER_TEMP": str(tmp_path),
            **{name: str(value) for name, value in variables.items()},
        }
        # As GitHub runs a step: bash -e, with pipefail.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **own}, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def write(folder, right, **chosen):
    tags = {"capability": "Counting", "degradation": "gaussian_noise"}
    rows = runs.choice_rows({f"q{row:02d}": "AAA" if row < right else "BBB" for row in range(80)}, **tags)
    runs.write(folder, {TASK: rows}, metadata={"data": "mini"}, **chosen)


def test_the_gate_of_the_action(tmp_path, shell):
    text = step(ACTION, "Gate")
    for name, right in (("base", 60), ("same", 60), ("worse", 30)):
        write(tmp_path / name, right)
    chosen = {"BASELINE": "base", "RULES": "", "TASKS": TASK, "MARGIN": "", "CANNOT_TELL": "fail"}
    assert shell(text, CANDIDATE="same", **chosen)[0] == 0
    assert "Gate: passed" in (tmp_path / "summary.md").read_text()
    status, output = shell(text, CANDIDATE="worse", **chosen)
    assert status == 1, output
    assert "Gate: failed" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "output.txt").read_text().splitlines()[-1] == f"summary={tmp_path}/gate.md"
    status, output = shell(text, CANDIDATE="worse", **{**chosen, "BASELINE": "nowhere"})
    assert (status, "nothing was compared" in output) == (0, True)


def test_the_gate_of_the_action_that_can_not_tell(tmp_path, shell):
    """One question of 80 lost: neither more nor less than 2 points is shown; with a margin of 10 points it is less."""
    text = step(ACTION, "Gate")
    for name, right in (("base", 60), ("near", 59), ("worse", 30)):
        write(tmp_path / name, right)
    chosen = {"CANDIDATE": "near", "BASELINE": "base", "RULES": "", "TASKS": TASK, "MARGIN": "", "CANNOT_TELL": "fail"}
    status, output = shell(text, **chosen)
    assert (status, "::warning" in output) == (3, False), output
    status, output = shell(text, **{**chosen, "CANNOT_TELL": "warn"})
    assert (status, "::warning" in output) == (0, True), output
    status, output = shell(text, **{**chosen, "MARGIN": "0.1"})
    assert (status, "::warning" in output) == (0, False), output
    assert shell(text, **{**chosen, "CANDIDATE": "worse", "CANNOT_TELL": "warn"})[0] == 1
    # A mistake says so and shows no summary of before.
    (tmp_path / "summary.md").unlink()
    (tmp_path / "output.txt").unlink()
    assert shell(text, **{**chosen, "MARGIN": "2"})[0] == 2
    said = (tmp_path / "summary.md").read_text("utf-8")
    assert said.startswith("## Gate: nothing was compared\n\n    ") and "Gate: failed" not in said and "margin" in said
    assert not (tmp_path / "output.txt").exists()  # no file, no path


def test_a_candidate_that_is_not_there_is_no_submission_that_holds(shell):
    status, output = shell(step(ACTION, "Check submissions"), CANDIDATE="nowhere")
    assert status == 2 and "::error title=Gate::The candidate nowhere is not there" in output


def packed(folder, path, right, **chosen):
    """A pack at ``path`` of a run that is written to ``folder``."""
    from lmms_medtasks.board import packing
    from lmms_medtasks.board.collect import collect_entries

    write(folder, right, **chosen)
    packing.write_submission(packing.make_submission(collect_entries([folder]).entries, "A B <a@b.org>"), path)


def test_the_check_of_packs_of_the_action_refuses_a_tampered_one(tmp_path, shell):
    text = step(ACTION, "Check submissions")
    path = tmp_path / "packs" / "a.json"
    packed(tmp_path / "runs" / "tonight", path, 60)
    assert shell(text, CANDIDATE="runs")[0] == 0  # no pack, nothing to check
    assert shell(text, CANDIDATE="packs")[0] == 0
    path.write_text(path.read_text().replace('"values":[1.0,0.0]', '"values":[1.0,1.0]'))
    status, output = shell(text, CANDIDATE="packs")
    assert (status, "is 1, its trials give 0 (20 questions differ)" in output) == (1, True)


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ACTION], ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_least(path):
    for each in steps(path):
        assert "uses" not in each or each["uses"].startswith("./") or re.search(r"@[0-9a-f]{40}$", each["uses"]), each
    content = yaml.safe_load(path.read_text("utf-8"))
    rights = [content, *content.get("jobs", {}).values()]
    assert path.name == "action.yml" or content["permissions"] == {"contents": "read"}
    written = {name for each in rights for name, right in (each.get("permissions") or {}).items() if right == "write"}
    assert written == {"publish.yml": {"pages", "id-token"}, "release.yml": {"contents"}}.get(path.name, set())


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ACTION], ids=lambda path: path.name)
def test_a_checkout_leaves_no_credentials_and_actions_run_on_todays_node(path):
    """node20, on which actions before these versions run, is gone from GitHub's runners since September 2026."""
    oldest = {
        "actions/checkout": 5, "actions/setup-python": 6, "actions/cache/restore": 5, "actions/cache/save": 5,
        "actions/upload-artifact": 6, "actions/download-artifact": 7, "actions/upload-pages-artifact": 5,
        "actions/deploy-pages": 5,
    }  # fmt: skip
    for line in path.read_text("utf-8").splitlines():
        if found := re.search(r"uses: ([\w/-]+)@[0-9a-f]{40}  # v(\d+)\.", line):
            assert int(found[2]) >= oldest[found[1]], line
    for each in steps(path):
        assert "checkout" not in each.get("uses", "") or each["with"]["persist-credentials"] is False, each


def test_nothing_of_a_submission_is_run_and_it_gets_no_secret():
    path = ROOT / f"{BOARD}/github/workflows/check-submission.yml"
    text = path.read_text("utf-8")
    assert "secrets." not in text and "pull_request_target" in text
    (base,) = (each["with"] for each in steps(path) if "checkout" in each.get("uses", ""))
    assert base == {
        "ref": "${{ github.event.repository.default_branch }}", "path": "base", "persist-credentials": False
    }  # fmt: skip
    installed = step(f"{BOARD}/github/workflows/check-submission.yml", "Install")
    assert re.findall(r"-r (\S+)", installed) == ["base/requirements.txt", "base/package.txt"]
    assert "--require-hashes" in installed and "submitted" not in installed and "before" not in installed


def test_the_keepers_approve_everything_but_entries():
    """In CODEOWNERS the last line that fits counts, and one without an owner asks for nobody's approval."""
    lines = (ROOT / BOARD / "github" / "CODEOWNERS").read_text("utf-8").splitlines()
    every, entries = (line.split() for line in lines if line and not line.startswith("#"))
    assert every[0] == "*" and len(every) > 1 and entries == ["/entries/"]


def git(folder, *arguments):
    """Run git there; gives what it says."""
    names = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def merge_request(origin, branch):
    """Merge a branch into main, which is what the request's ref names then."""
    git(origin, "checkout", "-q", "main")
    git(origin, "merge", "-q", "--no-ff", "-m", "m", branch)
    git(origin, "update-ref", "refs/pull/7/merge", "HEAD")


@pytest.fixture
def pull_request(tmp_path):
    """A repository whose refs/pull/7/merge is the merge of a submission; gives what the step is told of it."""
    origin = tmp_path / "server" / "board"
    origin.mkdir(parents=True)
    git(origin, "init", "-q")
    git(origin, "config", "uploadpack.allowFilter", "true")

    def commit(**files):
        for name, text in files.items():
            path = origin / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        git(origin, "add", "-A")
        git(origin, "commit", "-q", "-m", "c")
        return git(origin, "rev-parse", "HEAD")

    commit(entries__ada__a="1", owners="base")
    git(origin, "checkout", "-q", "-b", "submission")
    # What would hide a file from an archive, and code and rules of its own.
    head = commit(entries__ben__b="2", owners="own", **{"entries__.gitattributes": "ben/* export-ignore"})
    git(origin, "checkout", "-q", "main")
    commit(entries__cy__c="3")  # merged meanwhile
    merge_request(origin, "submission")
    git(origin, "reset", "-q", "--hard", "HEAD^1")
    return {"REPOSITORY": f"file://{origin}", "NUMBER": "7", "HEAD": head, "GIT_LFS_SKIP_SMUDGE": "1"}


def files_below(folder):
    """Relative paths of the files there."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


FETCH = (f"{BOARD}/github/workflows/check-submission.yml", "Submitted entries")


def test_a_submission_is_read_as_merged_and_held_against_what_it_is_merged_with(tmp_path, shell, pull_request):
    status, output = shell(step(*FETCH), **pull_request)
    assert status == 0, output
    assert files_below(tmp_path / "before") == {"entries/ada/a", "entries/cy/c"}
    brought = {"entries/ben/b", "entries/.gitattributes"}
    assert files_below(tmp_path / "submitted") == {"entries/ada/a", "entries/cy/c", *brought}
    assert (tmp_path / "output.txt").read_text("utf-8") == "touched=yes\n"


def test_a_pull_request_that_touches_no_entry_ends_early_with_a_check_that_holds(tmp_path, shell, pull_request):
    """However large it is: the check is required, and would be waited for where a filter of paths had left it out."""
    origin = tmp_path / "server" / "board"
    git(origin, "checkout", "-q", "-b", "other")
    for number in range(400):
        (origin / f"f{number}").write_text("1", "utf-8")
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "c")
    head = git(origin, "rev-parse", "HEAD")
    merge_request(origin, "other")
    status, output = shell(step(*FETCH), **{**pull_request, "HEAD": head})
    assert status == 0 and "No entry is touched" in (tmp_path / "summary.md").read_text("utf-8"), output
    assert not (tmp_path / "output.txt").exists() and not (tmp_path / "submitted").exists()
    path = ROOT / FETCH[0]
    first, *others = steps(path)
    assert first["name"] == FETCH[1] and "paths:\n" not in path.read_text("utf-8")
    assert {each["if"] for each in others} == {f"steps.{first['id']}.outputs.touched == 'yes'"}
    assert "paths" not in yaml.safe_load(path.read_text("utf-8"))[True]["pull_request_target"]


def test_a_submission_without_a_merge_of_its_last_commit_is_not_checked(tmp_path, shell, pull_request):
    """GitHub keeps the merge of the commit before where the last one conflicts."""
    status, output = shell("sleep() { :; }\n" + step(*FETCH), **{**pull_request, "HEAD": "0" * 40})
    assert (status, "::error::" in output) == (1, True)
    assert not (tmp_path / "submitted").exists()


def test_a_submission_with_a_submodule_is_refused(tmp_path, shell, pull_request):
    """Checked out, it is an empty folder: nothing of it is seen."""
    origin = tmp_path / "server" / "board"
    git(origin, "checkout", "-q", "submission")
    git(origin, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},entries/ben/x")
    git(origin, "commit", "-q", "-m", "c")
    head = git(origin, "rev-parse", "HEAD")
    merge_request(origin, "submission")
    status, output = shell(step(*FETCH), **{**pull_request, "HEAD": head})
    assert status == 1 and "::error::There is a submodule in entries" in output, output


@pytest.mark.parametrize(("name", "call"), [("check-submission", "Check"), ("publish", "Build")])
def test_what_a_submission_is_called_is_no_command_to_the_runner(tmp_path, shell, name, call):
    """The runner takes every line that begins with :: as one, after blanks too, until it is told to stop."""
    (tmp_path / "README.md").write_text("# Board", "utf-8")
    fake = 'lmms-medtasks() { echo "  ::add-mask::refused"; echo said >&2; return 1; }\n'
    outputs = [
        shell(fake + step(f"{BOARD}/github/workflows/{name}.yml", call), ACCOUNT="ben", COMMIT="c", REPOSITORY="")
        for _ in "12"
    ]
    found = [re.search(r"::stop-commands::(\w{32})\n  ::add-mask::refused\n::\1::\n", each) for _, each in outputs]
    assert all(found) and found[0][1] != found[1][1], outputs
    assert [status for status, _ in outputs] == ([1, 1] if name == "check-submission" else [0, 0])


def test_a_new_board_pins_checks_two_submissions_and_is_published(tmp_path, shell):
    """From `leaderboard init` to the site, by its workflows' steps. pip is not asked: its two files are there."""
    board = tmp_path / "base"
    board.mkdir()
    for name in ("package.txt", "requirements.txt"):
        (board / name).write_text("", "utf-8")
    assert shell("lmms-medtasks leaderboard init base --keeper ada --title 'Our $board'")[0] == 0
    write(tmp_path / "runs" / "pins", 20, model="anything")
    assert shell("lmms-medtasks leaderboard pin runs/pins -o base/pins.yml")[0] == 0
    text = step(f"{BOARD}/github/workflows/check-submission.yml", "Check")
    entries = tmp_path / "submitted" / "entries"
    packed(tmp_path / "runs" / "a", entries / "ada" / "a.json", 60)
    status, output = shell(text, ACCOUNT="ada")  # the first entry of all: the base branch has no folder of entries
    assert status == 1 and "owners.yml names no owner of 'model-a'" in output, output
    (board / "owners.yml").write_text("model-a: ada\nmodel-b: ben\n", "utf-8")
    status, output = shell(text, ACCOUNT="ada")
    assert status == 0 and "rank 1 of 1" in output, output
    shutil.copytree(entries, tmp_path / "before" / "entries")
    packed(tmp_path / "runs" / "b", entries / "ben" / "b.json", 70, model="model-b")
    status, output = shell(text, ACCOUNT="ben")
    assert status == 0 and "rank 1" in output and "of 2" in output, output
    shutil.copytree(entries, board / "entries")
    # What a submission brings along of owners does not count.
    packed(tmp_path / "runs" / "c", entries / "ben" / "b.json", 80)
    (tmp_path / "submitted" / "owners.yml").write_text("model-a: ben\n", "utf-8")
    assert shell(text, ACCOUNT="ben")[0] == 1
    assert "belongs to ada" in (tmp_path / "summary.md").read_text("utf-8")
    # Of what can't be checked at all the summary says so: the entries are a link.
    (tmp_path / "check.md").unlink()
    entries.rename(tmp_path / "elsewhere")
    entries.symlink_to(tmp_path / "elsewhere")
    assert shell(text, ACCOUNT="ben")[0] == 2
    assert "could not be made" in (tmp_path / "summary.md").read_text("utf-8")
    build = "cd base\n" + step(f"{BOARD}/github/workflows/publish.yml", "Build")
    status, output = shell(build, COMMIT="c0ffee", REPOSITORY="https://github.com/ada/board")
    assert status == 0, output
    first, submit = ((board / "site" / name).read_text("utf-8") for name in ("index.html", "submit.html"))
    assert "<title>Our $board</title>" in first and "model-b" in first and "Unverified" not in first
    assert "MEDTASKS_DATA=mini lmms-medtasks run" in submit and TASK in submit


def test_a_new_board_without_an_entry_is_published_too(tmp_path, shell):
    shutil.copytree(ROOT / BOARD, tmp_path, dirs_exist_ok=True)
    text = step(f"{BOARD}/github/workflows/publish.yml", "Build")
    status, output = shell(text, COMMIT="c0ffee", REPOSITORY="https://github.com/ada/board")
    assert status == 0 and "have not pinned any questions yet" in (tmp_path / "site" / "submit.html").read_text("utf-8")


def test_an_evaluated_run_is_packed_with_its_level(tmp_path, shell):
    write(tmp_path / "kept" / "7", 60)
    text = step(f"{BOARD}/github/workflows/evaluate.yml", "Pack")
    status, output = shell(text, RUN=tmp_path / "kept" / "7", RUN_ID="7", SIGNED_OFF_BY="A B <a@b.org>")
    assert status == 0, output
    assert "run by the board" in (tmp_path / "packs" / "verified.yml").read_text("utf-8")


def test_what_was_evaluated_is_not_evaluated_again_when_a_later_step_failed(tmp_path, shell):
    (tmp_path / "kept").mkdir()
    text = 'lmms-medtasks() { echo asked >> asked.txt; return "$ENDS"; }\n' + step(
        f"{BOARD}/github/workflows/evaluate.yml", "Evaluate"
    )
    chosen = {"RUN": tmp_path / "kept", "MODEL": "m", "MODEL_ARGS": "", "TASKS": "t"}
    assert [shell(text, **chosen, ENDS=each)[0] for each in (1, 0, 0)] == [1, 0, 0]
    assert (tmp_path / "asked.txt").read_text("utf-8") == "asked\n" * 2  # after a failure, and not after a success


@pytest.mark.parametrize(
    "runs_folder, status", [("", 0), ("{tmp}/kept", 0), ("runs", 1), ("{tmp}/copy/runs", 1), ("{tmp}/x/../copy", 1)]
)
def test_runs_lie_outside_the_working_copy_that_the_checkout_empties(tmp_path, shell, runs_folder, status):
    (tmp_path / "copy").mkdir()
    variables = {"RUNS": runs_folder.format(tmp=tmp_path), "HOME": tmp_path / "home", "RUN_ID": "7"}
    written = {"GITHUB_WORKSPACE": tmp_path / "copy", "GITHUB_ENV": tmp_path / "env"}
    text = 'cd "$GITHUB_WORKSPACE"\n' + step(f"{BOARD}/github/workflows/evaluate.yml", "Folder of the run")
    ended, output = shell(text, **variables, **written)
    assert (ended, "::error::" in output) == (status, bool(status)), output
    if not status:
        folder = variables["RUNS"] or f"{tmp_path}/home/medtasks-runs"
        assert (tmp_path / "env").read_text("utf-8") == f"RUN={folder}/7\n" and Path(folder).is_dir()


def test_the_judges_key_reaches_the_evaluation_alone(tmp_path, shell):
    (job,) = yaml.safe_load((ROOT / f"{BOARD}/github/workflows/evaluate.yml").read_text("utf-8"))["jobs"].values()
    assert "secrets." not in str(job["env"])
    assert [each["name"] for each in job["steps"] if "secrets." in str(each)] == ["Evaluate"]
    text = "lmms-medtasks() { env; }\n" + step(f"{BOARD}/github/workflows/evaluate.yml", "Evaluate")
    status, output = shell(text, OPENAI_API_KEY="k3y", OPENAI_API_URL="", MEDTASKS_JUDGE="", RUN=tmp_path)
    assert status == 0 and "OPENAI_API_KEY=k3y" in output
    assert "OPENAI_API_URL" not in output and "MEDTASKS_JUDGE" not in output  # what is empty is not set


def test_the_nights_steps_after_the_evaluation(tmp_path, shell):
    """With a made-up run in place of the evaluated one; it is worse than that of the night before."""
    path = ".github/workflows/nightly-smoke.yml"
    packed(tmp_path / "yesterday", tmp_path / "last" / "tonight.json.gz", 60)
    write(tmp_path / "runs" / "tonight", 30)
    status, output = shell(step(path, "Pack"))
    assert status == 0, output
    (tmp_path / ".github").mkdir()
    shutil.copy(ROOT / ".github" / "nightly-gate.yml", tmp_path / ".github")
    assert shell(step(path, "Gate"))[0] == 1
    assert "Gate: failed" in (tmp_path / "summary.md").read_text()
    assert shell(step(path, "Keep for tomorrow"))[0] == 0
    assert (tmp_path / "last" / "tonight.json.gz").read_bytes() == (tmp_path / "packs" / "tonight.json.gz").read_bytes()


def test_a_night_after_a_new_version_is_not_red(tmp_path, shell):
    """Its numbers are not compared, and are what the next night is held against."""
    path = ".github/workflows/nightly-smoke.yml"
    packed(tmp_path / "yesterday", tmp_path / "last" / "tonight.json.gz", 60, versions={TASK: 0.9})
    packed(tmp_path / "runs" / "tonight", tmp_path / "packs" / "tonight.json.gz", 30)
    (tmp_path / ".github").mkdir()
    shutil.copy(ROOT / ".github" / "nightly-gate.yml", tmp_path / ".github")
    status, output = shell(step(path, "Gate"))
    assert status == 0, output
    assert "0.9" in (tmp_path / "summary.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["Report", "Site"])
def test_the_nights_pages(tmp_path, shell, name):
    write(tmp_path / "runs" / "tonight", 60)
    status, output = shell(step(".github/workflows/nightly-smoke.yml", name))
    assert status == 0, output
    assert list(tmp_path.glob("*/index.html" if name == "Site" else "report/report.html"))
