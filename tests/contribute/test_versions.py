"""A version must go up when prompt, data or adapter change."""

import subprocess

import pytest

from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.errors import UserError


@pytest.fixture
def committed(chest_side):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(chest_side), *who, *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return chest_side


def raised(folder):
    found = validate_folder(folder, static_only=True, base="HEAD")
    return [str(each) for each in found.errors if each.key == "metadata.version"]


def change(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("prompt.txt", "right option", "best option", "prompt.txt"),
        ("questions.csv", "p00.png,On which", "p00.png,Where, on which", "questions.csv"),
        ("adapter.py", 'answer="label"', 'answer="a"', "adapter.py"),
        ("_template_yaml", "max_new_tokens: 512", "max_new_tokens: 64", "generation_kwargs"),
    ],
)
def test_a_change_wants_a_higher_version(file, old, new, said, committed):
    assert raised(committed) == []
    change(committed / file, old, new)
    first = raised(committed)
    assert len(first) == 2  # the task, and its variant without pictures
    assert first[0].startswith("chest_side.yaml:") and f"{said} changed since" in first[0]
    for name in ("chest_side", "chest_side_noimage"):
        change(committed / f"{name}.yaml", "version: 1.0", "version: 1.1")
    assert raised(committed) == []


def test_a_long_prompt_in_the_yaml_is_no_file(committed):
    change(committed / "chest_side.yaml", "prompt: prompt.txt", f'prompt: "{"long " * 200}{{question}} {{options}}"')
    assert "lmms_eval_specific_kwargs changed since" in raised(committed)[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lmms_eval_specific_kwargs:\n  default:\n    parser: option\n    prompt: prompt.txt", "description: x"),
        ("  default:\n    parser: option\n    prompt: prompt.txt", "  default: text"),
        ("lmms_eval_specific_kwargs:\n  default:\n    parser: option\n    prompt: prompt.txt",
         "lmms_eval_specific_kwargs: [1]"),
        ("dataset_kwargs:\n  data_files:\n    test: questions.csv", "dataset_kwargs: text"),
        ("prompt: prompt.txt", "prompt: /etc/hosts"),
    ],
)  # fmt: skip
def test_what_is_of_another_form_is_a_change(old, new, committed):
    change(committed / "chest_side.yaml", old, new)
    assert "changed since" in raised(committed)[0]


def test_a_comment_is_no_change(committed):
    change(committed / "chest_side.yaml", "include:", "# a remark\ninclude:")
    assert raised(committed) == []


def test_a_new_task_has_no_version_before(committed):
    for name in ("a", "b"):
        text = (committed / "chest_side_noimage.yaml").read_text("utf-8")
        (committed / f"chest_side_{name}.yaml").write_text(
            text.replace("chest_side_noimage", f"chest_side_{name}"), "utf-8"
        )
    found = validate_folder(committed, static_only=True, base="HEAD")
    assert "chest_side_a: new since HEAD" in found.told and not found.errors


@pytest.mark.parametrize("base", ["no-such-branch", "--output=x"])
def test_no_such_revision(base, committed):
    with pytest.raises(UserError, match="--base"):
        validate_folder(committed, static_only=True, base=base)
    assert not (committed / "x").exists()


def test_no_repository(chest_side):
    with pytest.raises(UserError, match="not a git repository"):
        validate_folder(chest_side, static_only=True, base="HEAD")


def test_a_changed_picture_wants_a_higher_version(committed):
    pictures = sorted((committed / "images").iterdir())
    pictures[0].write_bytes(pictures[1].read_bytes())
    assert f"but images/{pictures[0].name} changed since" in raised(committed)[0]
    pictures[2].unlink()
    assert f"but images/{pictures[0].name} and 1 more changed since" in raised(committed)[0]


def test_a_version_does_not_go_down(committed):
    change(committed / "chest_side.yaml", "version: 1.0", "version: 0.9")
    [said] = raised(committed)
    assert said.startswith("chest_side.yaml:") and "below the version at HEAD, 1.0" in said


def test_card_and_records_are_no_change(committed):
    (committed / "README.md").write_text("other\n", "utf-8")
    (committed / "prompts.json").write_text("{}\n", "utf-8")
    assert raised(committed) == []


def test_what_python_compiled_of_an_adapter_is_no_change(committed):
    compiled = committed / "__pycache__" / "adapter.cpython-311.pyc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"one")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (["add", "--force", "."], ["commit", "--quiet", "-m", "compiled"]):
        subprocess.run(["git", "-C", str(committed), *who, *arguments], check=True, capture_output=True)
    compiled.write_bytes(b"two")
    assert raised(committed) == []
