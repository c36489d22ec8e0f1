"""Names in the code follow the page on names: classes stand once, public functions say verb and object."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "names.md"
PACKAGES = ("lmms_medtasks", "task_configs", "degradations", "judges")
MODULES = {
    path.relative_to(ROOT): ast.parse(path.read_text("utf-8"))
    for name in PACKAGES
    for path in (ROOT / name).rglob("*.py")
}


def classes() -> dict[str, list[Path]]:
    """Where each class stands; a leading underscore is no other name."""
    places = defaultdict(list)
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(path)
    return places


def section(title: str) -> str:
    """The lines of the page under a heading."""
    return PAGE.read_text("utf-8").split(f"## {title}\n")[1].split("\n## ")[0]


def test_no_two_classes_have_one_name():
    assert {name: paths for name, paths in classes().items() if len(paths) > 1} == {}


def test_the_page_names_classes_that_there_are():
    named = set(re.findall(r"`([A-Z][A-Za-z]+)`", section("Concepts")))
    assert len(named) > 25
    assert named - set(classes()) == set()


def test_no_class_has_a_name_that_the_page_replaces():
    replaced = set(re.findall(r"`([A-Z][A-Za-z]+)`", section("Names that no class has any more")))
    assert len(replaced) > 10
    assert replaced & set(classes()) == set()


def test_a_public_function_of_one_word_is_one_of_the_page():
    """Functions of modules; methods are read beside their class."""
    allowed = set(re.findall(r"`([a-z_]+)`", section("Functions of one word")))
    found = {
        f"{path}: {node.name}"
        for path, tree in MODULES.items()
        if path.parent.name != "cli"  # a command is called as it is typed
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and "_" not in node.name
        if node.name not in allowed
    }
    assert found == set()
