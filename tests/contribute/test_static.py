"""The static check: what a contribution would do is reported, and not done."""

import copy
import importlib
import os
import re
import sys
from datetime import date

import pytest
import yaml

from lmms_medtasks.contribute import static
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.task_yaml.problems import ValidationLog

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


@pytest.mark.parametrize("name", ["x" * 5000, '"a\\0b"'])
@pytest.mark.parametrize("key", ["prompt: prompt.txt", "test: questions.csv", "include: _template_yaml"])
def test_a_name_that_no_file_can_have_is_an_error_with_a_line(key, name, chest_side):
    path = chest_side / "chest_side.yaml"
    text = path.read_text("utf-8")
    assert key in text
    path.write_text(text.replace(key, f"{key.partition(':')[0]}: {name}"), "utf-8")
    [problem] = [each for each in validate_folder(chest_side, static_only=True).errors if each.file.endswith(path.name)]
    assert problem.line and problem.value


def test_a_hook_that_writes_a_file_is_not_executed(chest_side, tmp_path):
    target = tmp_path / "written"
    top = f"Path({str(target)!r}).write_text('executed')"
    (chest_side / "adapter.py").write_text(WRITES.format(top=top, target=str(target)), "utf-8")
    before = set(sys.modules)
    found = validate_folder(chest_side, static_only=True)
    assert not target.exists()
    assert "adapter" not in set(sys.modules) - before
    assert lines(found) == []
    # The same folder, executed: the file is there, so the test above could have failed.
    validate_folder(chest_side, write=True)
    assert target.read_text("utf-8") == "executed"


def test_an_adapter_as_new_writes_it_is_not_reported(chest_side):
    assert lines(validate_folder(chest_side, static_only=True)) == []


def test_a_module_of_another_package_is_not_looked_into(chest_side):
    path = chest_side / "chest_side.yaml"
    path.write_text(path.read_text("utf-8").replace("adapter.documents", "this.that.documents"), "utf-8")
    before = "this" in sys.modules  # importing it would print the Zen
    found = validate_folder(chest_side, static_only=True)
    assert ("this" in sys.modules) == before
    assert any("which was not looked into" in line for line in lines(found))


def test_a_link_out_of_the_folder_is_not_followed(chest_side, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("img,q,a,b,label,unit\n", "utf-8")
    (chest_side / "questions.csv").unlink()
    (chest_side / "questions.csv").symlink_to(secret)
    assert any(
        "leads out of the task's folder" in line for line in lines(validate_folder(chest_side, static_only=True))
    )


EXECUTED = "import pathlib\npathlib.Path({target!r}).write_text('executed')\ndocuments = print\n"


def test_a_contribution_that_lies_in_task_configs_is_not_imported(chest_side, tmp_path, monkeypatch):
    import lmms_medtasks.task_configs as configs

    monkeypatch.setattr(configs, "__path__", [*configs.__path__, str(tmp_path)])
    monkeypatch.setattr("lmms_medtasks.folders.suites_root", lambda: tmp_path)
    target = tmp_path / "written"
    (chest_side / "adapter.py").write_text(EXECUTED.format(target=str(target)), "utf-8")
    path = chest_side / "chest_side.yaml"
    dotted = "lmms_medtasks.task_configs.chest_side.adapter"
    path.write_text(path.read_text("utf-8").replace("adapter.documents", f"{dotted}.documents"), "utf-8")
    assert lines(validate_folder(chest_side, static_only=True)) == []
    assert not target.exists() and dotted not in sys.modules
    # What is not in the file is told as for an adapter beside the YAML.
    path.write_text(path.read_text("utf-8").replace(".documents", ".document"), "utf-8")
    assert (
        "adapter.py does not define 'document'. Did you mean 'documents'?"
        in lines(validate_folder(chest_side, static_only=True))[0]
    )
    importlib.import_module(dotted)
    assert target.read_text("utf-8") == "executed"
    del sys.modules[dotted]


@pytest.mark.parametrize("name", ["more.yaml", "adapter.py", "prompt.txt", "README.md", "_template_yaml"])
@pytest.mark.parametrize("kind", ["pipe", "device", "ring"])
def test_what_cannot_be_read_to_its_end_is_not_opened(kind, name, chest_side):
    path = chest_side / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    said = {"pipe": "is no file, but a pipe", "device": "a link that leads out", "ring": "is no file, but a pipe"}
    assert any(
        each.startswith(f"{name}: error: {said[kind]}") for each in lines(validate_folder(chest_side, static_only=True))
    )


def test_a_file_name_is_printed_as_text(chest_side):
    (chest_side / "a\n\x1b[31m.yaml").write_text("task: [", "utf-8")
    assert lines(validate_folder(chest_side, static_only=True))[0].startswith("'a\\n\\x1b[31m.yaml':1: error")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{question} Answer with a letter.", "the prompt has no {options} in it"),
        ("{question}\n{options}\n{hint}", "'{hint}': nothing is filled in for this"),
        ("{question}\n{options}\n{option}", "Did you mean '{options}'?"),
    ],
)
def test_a_prompt_that_asks_too_little_is_to_be_looked_at(text, said, chest_side):
    (chest_side / "prompt.txt").write_text(text, "utf-8")
    found = [
        line for line in lines(validate_folder(chest_side, static_only=True)) if line.startswith("prompt.txt: warning")
    ]
    assert any(said in line for line in found), found


def test_settings_that_only_hooks_of_ones_own_read_are_their_own(chest_side):
    hooks = "def ask(doc, settings): ...\ndef score(doc, results): ...\ndef documents(rows): ...\n"
    (chest_side / "adapter.py").write_text(hooks, "utf-8")
    template = chest_side / "_template_yaml"
    text = template.read_text("utf-8")
    for key, own in {"doc_to_text": "ask", "doc_to_visual": "ask", "process_results": "score"}.items():
        text = re.sub(rf"(?m)^{key}: .*$", f"{key}: !function adapter.{own}", text)
    template.write_text(text, "utf-8")
    path = chest_side / "chest_side.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: prompt.txt", "prompt: terse\n    style: 3"), "utf-8")
    (chest_side / "chest_side_noimage.yaml").unlink()
    assert [str(each) for each in validate_folder(chest_side, static_only=True).errors] == []


class Hook(str):
    """What stands after !function."""


class Loader(yaml.SafeLoader):
    pass


class Dumper(yaml.SafeDumper):
    pass


Loader.add_constructor("!function", lambda loader, node: Hook(node.value))
Dumper.add_representer(Hook, lambda dumper, hook: dumper.represent_scalar("!function", str(hook)))
VALUES = (None, -1, 1.5, True, "x", [], {}, [[1]], {1: {"a": None}}, date(2026, 1, 1), Hook("x"))


def ways_to_values(content, way=()):
    """The keys and places that lead to every value in mappings and lists."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for part, value in pairs:
        yield (*way, part)
        yield from ways_to_values(value, (*way, part))


def test_no_value_of_any_key_ends_in_a_traceback_or_in_words_of_the_library(chest_side):
    path = chest_side / "chest_side.yaml"
    template, own = (yaml.load(file.read_text("utf-8"), Loader) for file in (chest_side / "_template_yaml", path))
    whole = {**template, **own}
    del whole["include"]
    for way in ways_to_values(whole):
        for value in VALUES:
            changed = copy.deepcopy(whole)
            place = changed
            for part in way[:-1]:
                place = place[part]
            place[way[-1]] = value
            path.write_text(yaml.dump(changed, Dumper=Dumper, sort_keys=False), "utf-8")
            found = ValidationLog()
            static.check_static(path, found)
            assert not [
                each for each in found.errors if "Input should" in each.message or "Value error" in each.message
            ]


@pytest.mark.parametrize(
    ("metric", "members", "wrong"),
    [
        ("accuracy", "[chest_side]", False),
        ("accur", "[chest_side]", False),  # as the harness matches them
        ("mean_error", "[chest_side]", True),
        ("mean_error", "[chest_side, mme]", False),  # the harness's own, whose metrics are not known
        ("parse_rate", "[{task: chest_side}]", False),
        ("parse_rate", "[chest_inner]", False),
        ("score", "[chest_inner]", True),
        ("parse_rate", "[med_cmr_mcq]", False),  # an installed one
        ("confusion_gap", "[med_cmr_mcq, chest_inner]", True),
    ],
)
def test_a_groups_row_has_a_metric_of_its_tasks(chest_side, metric, members, wrong):
    text = "group: {}\ntask: {}\nmetadata: {{version: 1.0}}\n"
    (chest_side / "chest_inner.yaml").write_text(text.format("chest_inner", "[chest_side, chest_side_noimage]"))
    row = f"aggregate_metric_list: [{{metric: {metric}, aggregation: mean}}]\n"
    (chest_side / "chest_outer.yaml").write_text(text.format("chest_outer", members) + row)
    said = [
        each for each in validate_folder(chest_side, static_only=True).errors if "row would stay empty" in str(each)
    ]
    assert bool(said) == wrong
