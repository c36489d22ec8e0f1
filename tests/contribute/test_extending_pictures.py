"""The pages on degradations, modalities and data readers of one's own: their examples run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.data import sources
from lmms_medtasks.degradations import own_modalities
from lmms_medtasks.suites import templates

PAGES = Path(__file__).resolve().parents[2] / "docs" / "extending"
NAMES = ("degradation.md", "modality.md", "data_reader.md")
TASKS = ("oct_side", "oct_side_drawn", "oct_side_speckle")
CARD = "# OCT sides\n"


def page(name):
    return (PAGES / name).read_text("utf-8")


def files_of(name):
    return dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL))


def commands(name):
    text = "\n".join(re.findall(r"^```bash\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL))
    return [shlex.split(line)[1:] for line in text.splitlines()]


def write_example(folder):
    (folder / "images").mkdir(parents=True)
    for name in NAMES:
        for file, content in files_of(name).items():
            (folder / file).write_text(content, "utf-8")
    (folder / "prompt.txt").write_text("{question}\n{options}\n", "utf-8")
    (folder / "_template_yaml").write_text(templates.template_yaml("multiple_choice"), "utf-8")
    (folder / "README.md").write_text(CARD, "utf-8")
    for number in range(1, 7):
        picture = Image.linear_gradient("L").resize((48, 32)).point(lambda value: value // 4 + 60).convert("RGB")
        picture.putpixel((0, 0), (number, 0, 0))
        if number % 3:
            picture.paste((230, 230, 230), (6, 8, 16, 20) if number % 3 == 1 else (30, 8, 40, 20 + number))
        picture.save(folder / "images" / f"p{number:02}.png")
    return folder


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.setattr(own_modalities, "_GIVEN", {})
    monkeypatch.setattr(sources, "_GIVEN", [])
    return write_example(tmp_path / "oct")


def problems(found):
    """What was found, but for the card and the snapshot of prompts, which are not filled in."""
    return [str(each) for each in found.problems if each.file not in ("README.md", "prompts.json")]


def test_validate_finds_nothing_and_the_commands_of_the_pages_run(example, monkeypatch):
    monkeypatch.chdir(example.parent)
    assert problems(validate_folder(example, write=True)) == []
    for name in NAMES:
        for arguments in commands(name):
            done = CliRunner().invoke(build_app(), arguments)
            assert done.exit_code == (arguments[0] == "validate"), (arguments, done.output)  # the card is not filled in
    assert len(list((example.parent / "speckled").iterdir())) == len(list((example.parent / "noisy").iterdir())) == 6
    with Image.open(example.parent / "speckled" / "p01.png") as made:
        said = json.loads(made.info["degradation"])
    assert (said["degradation"], set(said["parameters"])) == ("parts.py:speckle", {"seed", "level", "code"})
    with Image.open(example.parent / "noisy" / "p01.png") as made:
        assert json.loads(made.info["degradation"])["parameters"]["sigma"] == 0.08
    assert json.loads((Path(os.environ["MEDTASKS_HOME"]) / "oct_cases" / "full" / "manifest.json").read_text())


def with_setting(example, name, **settings):
    """The task oct_side_speckle with another degradation."""
    path = example / "oct_side_speckle.yaml"
    text = re.sub(r"degradation: .*", f"degradation: {name}", path.read_text("utf-8"))
    for key, value in settings.items():
        text = re.sub(rf"{key}: .*", f"{key}: {value}", text)
    path.write_text(text, "utf-8")
    return problems(validate_folder(path))


BROKEN = {
    "def f(p, g, level):\n    return p.point(lambda v: v * level // 3)\n": (
        "warning: degradation parts.py:f: level 2 is not further from the clean image than level 1"
    ),
    "import numpy as np\nfrom PIL import Image\n\ndef f(p, g):\n"
    "    return p.point(lambda v: v + int(np.random.randint(9)))\n": "the same seed gave two images",
    "import random\n\ndef f(p, g):\n    random.random()\n    return p.transpose(0)\n": "global generator of random",
    "def f(p, g):\n    p.putpixel((0, 0), p.getpixel((0, 0))[::-1] if p.mode != 'L' else 3)\n    return p\n": (
        "changes the image that it is given"
    ),
    "def f(p, g):\n    return p.crop((0, 0, 5, 5))\n": "an image of 64 x 48 pixels, mode 'L': The",
    "def f(p, g):\n    return p.resize((p.width // 2, p.height // 2)).resize(p.size)\n": "1 x 1 pixels, mode 'L'",
    "from lmms_medtasks.degradations import own\nfrom lmms_medtasks.degradations import Degradation\n\n"
    "f = Degradation('f', lambda r, s, z: own.CustomParameters(1, 2, ''), lambda i, d: i / 2, own.CustomParameters,\n"
    "                modalities=('Ultrasound', 'Otc'))\n": ("Unknown modality 'Otc'"),
    "from dataclasses import dataclass\nfrom lmms_medtasks.degradations import Degradation, Parameters\n\n"
    "@dataclass(frozen=True)\nclass Dim(Parameters):\n    left: float\n\n"
    "f = Degradation('f', lambda r, s, z: Dim(s['left']), lambda i, d: i * d.left + 30, Dim,\n"
    "                levels={1: {'left': 0.6}, 2: {'left': 0.2}})\n": "is to be given back so",
    "from dataclasses import dataclass\nfrom lmms_medtasks.degradations import Degradation, Parameters\n\n"
    "@dataclass(frozen=True)\nclass Dim(Parameters):\n    left: float\n\n"
    "f = Degradation('f', lambda r, s, z: Dim(s['left']), lambda i, d: i * abs(d.left), Dim,\n"
    "                levels={1: {'left': 0.5}, 2: {'left': 0.1}})\n": (
        "at strength 2.65: it is closer to the clean image than level 2, "
    ),
    "def f(p, g, strength):\n    return p.point(lambda v: v // [1, 2, 4, 0][int(strength)])\n": (
        "warning: degradation parts.py:f: at strength 3: The degradation parts.py:f failed"
    ),
    "def f(p):\n    return p\n": "It takes p.",
    "def g(p):\n    return p\n": "does not define 'f'",
    "f = (\n": "parts.py:1: error: is no Python",
}


@pytest.mark.parametrize("code", BROKEN, ids=range(len(BROKEN)))
def test_validate_names_what_is_wrong_with_a_degradation(example, code):
    (example / "parts.py").write_text(code, "utf-8")
    (example / "modalities.yml").unlink()
    found = with_setting(example, "parts.py:f", severity="1\n    modality: Ultrasound")
    assert any(BROKEN[code] in each for each in found), found
    assert all("oct_side_speckle.yaml" in each or "parts.py" in each for each in found)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("degradation,severity\nparts.py:speckle,1\nparts.py:spekle,1", "row 2 (id 'b'): the degradation"),
        ("degradation,severity\nparts.py:speckle,1\nother.py:speckle,1", "row 2 (id 'b'): the degradation"),
        ("degradation,severity\nparts.py:speckle,1\nspekle,1", "row 2 (id 'b'): Unknown degradation 'spekle'"),
        (
            "degradation,severity,modality\nparts.py:shadow,1,OCT\nparts.py:shadow,2,CT",
            "row 2 (id 'b'): 'parts.py:shadow",
        ),
        (
            "degradation,severity,modality\nparts.py:shadow,1,OCT\ngaussian_noise,2,OTC",
            "row 2 (id 'b'): Unknown modality",
        ),
        ("degradation,severity\nparts.py:shadow,1\nparts.py:shadow,2", "of what modality are the images"),
        ("degradation,severity,modality\nparts.py:speckle,1,OCT\nparts.py:shadow,2,oct", ""),
    ],
)
def test_a_column_is_checked_with_its_row(example, table, said):
    head, *rows = table.splitlines()
    lines = [f"id,image,question,options,answer,{head}"]
    lines += [
        f'{"ab"[n]},images/p0{n + 1}.png,Where? {n},"[""left"",""right""]",left,{each}' for n, each in enumerate(rows)
    ]
    (example / "q.csv").write_text("\n".join(lines) + "\n", "utf-8")
    text = (example / "oct_side.yaml").read_text("utf-8")
    text = re.sub(
        r"(?s)dataset_path.*?process_docs.*?\n",
        "dataset_path: csv\ndataset_kwargs: {data_files: {test: q.csv}}\ntest_split: test\n",
        text,
    )
    (example / "oct_side.yaml").write_text(text, "utf-8")
    found = problems(validate_folder(example / "oct_side.yaml"))
    assert [said in each for each in found] == ([True] if said else []), found


READERS = {
    "def documents(lines):\n    1 / 0\n": "ZeroDivisionError",
    "def documents(lines):\n    return [3]\n": "process_docs gives a list",
    "documents = 3\n": "documents",
    "def f(lines):\n    return lines\n": "documents",
}


@pytest.mark.parametrize("code", READERS, ids=range(len(READERS)))
def test_a_function_that_reads_a_file_is_checked(example, code):
    (example / "reader.py").write_text(code, "utf-8")
    found = problems(validate_folder(example / "oct_side.yaml"))
    assert found and all("oct_side.yaml" in each for each in found) and READERS[code] in found[0], found


def test_another_number_of_rows(example):
    with (example / "cases.txt").open("a", encoding="utf-8") as file:
        file.write("case-07 | images/p01.png | Where? | left; right | left\n")
    found = problems(validate_folder(example / "oct_side.yaml"))
    assert any("cases.txt has 7 cases, 6 expected" in each for each in found), found
