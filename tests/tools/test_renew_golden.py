"""When a golden record may be renewed, what is said where it may not, and the comparison with the merge base."""

import subprocess

import pytest

from lmms_medtasks.errors import UserError
from tools import renew_golden

RECORD = {
    "version": "1.2", "prompts": "0a", "pictures": {"noise 1": "1b", "noise 2": "2c"},
    "records": {"q1": "A B 3d", "q2": "A A 4e"}, "metrics": {"accuracy": 0.75, "questions": 2},
}  # fmt: skip
FILE = "tests/golden/medq_deg.json"


def other(**parts):
    return {"lungs": {**RECORD, **parts}}


@pytest.fixture
def made(monkeypatch):
    """What the code makes of the one task there is."""
    found = other()
    monkeypatch.setattr(renew_golden, "made", lambda suite: found)
    return found["lungs"]


@pytest.fixture
def root(tmp_path, made):
    """A repository with a golden file."""
    (tmp_path / FILE).parent.mkdir(parents=True)
    assert renew_golden.renew(["medq_deg"], tmp_path) == []
    return tmp_path


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"prompts": "ff"}, "other prompts."),
        ({"pictures": {"noise 1": "1b", "noise 2": "ff"}}, "other pictures (noise 2: 2c became ff)."),
        ({"records": {"q2": "A A 4e", "q1": "A B 3d"}}, "other records (their order)."),
        ({"records": {"q1": "A C 5f"}}, "other records (q1: B became C, q2: A became None)."),
        ({"metrics": {"accuracy": 0.75001, "questions": 2}}, "other metrics (accuracy: 0.75 became 0.75001)."),
        ({"version": "1.1", "prompts": "ff"}, "Renew it."),
        ({"version": "1.3"}, "recorded at version 1.2, is of version 1.3. Renew it."),
    ],
)
def test_what_differs_is_named_with_its_task_and_the_way_out(parts, said):
    [found] = renew_golden.problems(other(), other(**parts))
    assert found.startswith("lungs: ") and said in found
    assert "Renew it." in found or "Raise the version" in found


def test_the_last_digits_of_a_number_are_no_difference_and_pictures_may_be_left_out():
    metrics = {"accuracy": 0.75 * (1 + 1e-12), "questions": 2}
    assert renew_golden.problems(other(), other(metrics=metrics)) == []
    assert renew_golden.problems(other(), other(pictures={}), with_pictures=False) == []
    assert len(renew_golden.problems(other(), {"ribs": RECORD})) == 2


def test_a_moved_number_is_recorded_at_a_higher_version_only(root, made):
    before = (root / FILE).read_text("utf-8")
    made["metrics"] = {"accuracy": 0.5, "questions": 2}
    for version in ("1.2", "1.1"):
        made["version"] = version
        [said] = renew_golden.renew(["medq_deg"], root)
        assert f"version {version}, recorded at 1.2, and other metrics" in said
        assert (root / FILE).read_text("utf-8") == before
    made["version"] = "1.10"  # above 1.2, and above 1.9
    assert renew_golden.renew(["medq_deg"], root) == []
    assert '"accuracy": 0.5' in (root / FILE).read_text("utf-8")


def test_what_was_recorded_of_no_version_is_added_at_the_same_one(root, made):
    made["words"] = {"option_words": "ee"}
    assert renew_golden.renew(["medq_deg"], root) == []
    assert '"option_words": "ee"' in (root / FILE).read_text("utf-8")
    made["words"] = {"option_words": "ff"}
    assert "other words (option_words: ee became ff)" in renew_golden.renew(["medq_deg"], root)[0]


@pytest.mark.parametrize(("old", "new"), [("0.75", "0.76"), ('"1.2"', '"1.3"'), ("{", "<<<<<<< HEAD\n{")])
def test_a_file_that_was_edited_by_hand_is_refused(root, old, new):
    text = (root / FILE).read_text("utf-8")
    (root / FILE).write_text(text.replace(old, new, 1))
    for content in ((root / FILE).read_bytes(), b"", b"[]", b"3", b"\xff{}"):
        (root / FILE).write_bytes(content)
        with pytest.raises(UserError, match=f"{FILE} is not as it was written: it was edited"):
            renew_golden.renew(["medq_deg"], root)


def test_since_the_merge_base_a_record_changes_with_a_higher_version_only(root, made):
    def git(*arguments):
        subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "A")
    git("add", ".")
    git("commit", "-q", "-m", "recorded")
    git("checkout", "-q", "-b", "work")
    assert renew_golden.since("main", root) == []
    # Deleted and recorded freely, which the command alone would let pass.
    (root / FILE).unlink()
    made["prompts"] = "ff"
    assert renew_golden.renew(["medq_deg"], root) == []
    [said] = renew_golden.since("main", root)
    assert said.startswith("lungs: version 1.2, recorded at 1.2, and other prompts.")
    made["version"] = "1.3"
    assert renew_golden.renew(["medq_deg"], root) == []
    assert renew_golden.since("main", root) == []
    with pytest.raises(UserError, match="git merge-base gone HEAD failed"):
        renew_golden.since("gone", root)


def test_an_unknown_suite_is_an_error(capsys):
    assert renew_golden.main(["medq"]) == 1
    assert "Unknown suite 'medq'" in capsys.readouterr().err
