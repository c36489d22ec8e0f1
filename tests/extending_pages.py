"""The benchmark of the pages in docs/extending: their files, and the pictures and tables that they are about."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

from lmms_medtasks.suites import templates

PAGES = Path(__file__).resolve().parents[1] / "docs" / "extending"
QUESTION = "In which field is the spot? End with Impression: and a letter."
ADAPTER = """
from lmms_medtasks.data.adapter import from_columns

documents = from_columns(options=["a", "b", "c"], tags=["spot"])
words = from_columns(tags=["spot"])
"""


def files_of(page: str) -> dict[str, str]:
    """The files that a page shows: a line with the name in code style and a colon, then a block with the content."""
    text = (PAGES / page).read_text("utf-8")
    return dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def blocks(page: str, language: str) -> list[str]:
    """The other blocks of a language."""
    text = (PAGES / page).read_text("utf-8")
    named = set(files_of(page).values())
    return [each for each in re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S) if each not in named]


def write_benchmark(folder: Path, questions: int = 24) -> Path:
    """A folder with the tasks ``spots`` and ``spot_words`` of the pages."""
    (folder / "images").mkdir(parents=True)
    rows, words = ["image,question,a,b,c,answer,spot"], ["image,question,answer,spot"]
    for number in range(questions):
        where = ("left", "right", "none")[number % 3]
        picture = Image.new("RGB", (64, 32), (9 * number % 250, 20, 20))
        picture.paste((90, 90, 90), (0, 0, 64, 2))
        if where != "none":
            picture.paste((250, 250, 250), (8, 8, 20, 20) if where == "left" else (40, 8, 52, 20))
        picture.save(folder / "images" / f"p{number:02}.png")
        spot = "no" if where == "none" else "yes"
        rows.append(f"images/p{number:02}.png,{QUESTION},left,right,there is none,{'ABC'[number % 3]},{spot}")
        said = "there is none" if where == "none" else f"in the {where} field"
        words.append(f"images/p{number:02}.png,Where is the spot?,{said},{spot}")
    files = {
        **files_of("judge_protocol.md"),
        **files_of("parser.md"),
        **files_of("metric.md"),
        "adapter.py": ADAPTER,
        "questions.csv": "\n".join(rows) + "\n",
        "words.csv": "\n".join(words) + "\n",
        "prompt.txt": "{question}\n{options}\n",
        "words.txt": "{question}\n",
        "_template_yaml": templates.template_yaml("multiple_choice"),
        "_open_template_yaml": templates.template_yaml("open"),
        "README.md": "# Spots\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    return folder
