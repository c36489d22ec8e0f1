"""The static check: what a contribution would do is reported, and not done."""

import sys

import pytest

from lmms_medtasks.contributing.validate import validate

WRITES = """\
from pathlib import Path

{top}

def documents(dataset):
    Path({target!r}).write_text("executed")
    open({target!r}, "w").write("executed")
    return dataset
"""


def lines(found):
    return [str(each) for each in found.problems]


def test_a_hook_that_writes_a_file_is_reported_and_not_executed(chest_side, tmp_path):
    target = tmp_path / "written"
    top = f"Path({str(target)!r}).write_text('executed')"
    (chest_side / "adapter.py").write_text(WRITES.format(top=top, target=str(target)), "utf-8")
    before = set(sys.modules)
    found = validate(chest_side, static_only=True)
    assert not target.exists()
    assert "adapter" not in set(sys.modules) - before
    said = [line for line in lines(found) if line.startswith("adapter.py")]
    assert len(said) == 3
    assert said[0].startswith('adapter.py:3: warning: "Path(') and "as soon as a YAML names it" in said[0]
    assert all("writes a file; would be executed" in line and "Nothing was executed here" in line for line in said)
    assert [line.split(":")[1] for line in said] == ["3", "6", "7"]
    # The same folder, executed: the file is there, so the test above could have failed.
    validate(chest_side, write=True)
    assert target.read_text("utf-8") == "executed"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import subprocess", "starts programs"),
        ("from os import system", "reaches the operating system"),
        ("import requests as r", "uses the network"),
        ("x = eval('1')", "executes text"),
        ("x = __import__('os')", "imports by name"),
        ("x = ().__class__.__bases__", "reaches __bases__"),
        ("x = open('a', mode='ab')", "writes a file"),
        ("x = open('a', chr(119))", "a mode that can't be told"),
        ("from . import other", "a relative import, which fails"),
    ],
)
def test_reports(line, said, chest_side):
    text = (chest_side / "adapter.py").read_text("utf-8")
    (chest_side / "adapter.py").write_text(f"{line}\n{text}", "utf-8")
    found = validate(chest_side, static_only=True)
    assert any(said in each and each.startswith("adapter.py:1: warning") for each in lines(found)), lines(found)


def test_an_adapter_as_new_writes_it_is_not_reported(chest_side):
    assert lines(validate(chest_side, static_only=True)) == []


def test_a_module_of_another_package_is_not_looked_into(chest_side):
    path = chest_side / "chest_side.yaml"
    path.write_text(path.read_text("utf-8").replace("adapter.documents", "this.that.documents"), "utf-8")
    before = "this" in sys.modules  # importing it would print the Zen
    found = validate(chest_side, static_only=True)
    assert ("this" in sys.modules) == before
    assert any("which was not looked into" in line for line in lines(found))


def test_a_link_out_of_the_folder_is_not_followed(chest_side, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("img,q,a,b,label,unit\n", "utf-8")
    (chest_side / "questions.csv").unlink()
    (chest_side / "questions.csv").symlink_to(secret)
    assert any("leads out of the task's folder" in line for line in lines(validate(chest_side, static_only=True)))
