"""Kinds of broken tables: each is refused with its cause and its cure, or read and said, and never a traceback."""

import csv
import io
import json

import pytest
from PIL import Image

from lmms_medtasks.contribute import question_checks, recognising
from lmms_medtasks.contribute.new import NewTaskRequest
from lmms_medtasks.errors import UserError

HEAD = ["id", "image", "question", "A", "B", "C", "answer"]
SECOND = "row 2 (line 3 with the header)"


def rows(count=4, **cells):
    """Rows of a sound table; ``cells``: what stands in a column of row 2."""
    made = [[f"q{n}", "p.png", f"Which, {n}?", f"cat {n}", f"dog {n}", f"owl {n}", "ABC"[n % 3]] for n in range(count)]
    for name, value in cells.items():
        made[1][HEAD.index(name)] = value
    return made


def as_csv(content=None, head=HEAD, separator=","):
    held = io.StringIO()
    csv.writer(held, delimiter=separator).writerows([head, *(rows() if content is None else content)])
    return held.getvalue()


def as_dicts(content=None):
    return [dict(zip(HEAD, row, strict=True)) for row in (rows() if content is None else content)]


def all_rows(column, value):
    """Every row's cell made of its row by ``value``."""
    made = rows()
    for row in made:
        row[HEAD.index(column)] = value(row)
    return made


def options(write):
    """A table with all options in one column, as ``write`` makes it of a list."""
    return json.dumps([{"id": r[0], "image": r[1], "question": r[2], "options": write(r[3:6]), "answer": r[6]}
                       for r in rows()])  # fmt: skip


TEXT = as_csv()
REFUSED = {
    # --- the file
    "latin-1": ("t.csv", as_csv(rows(question="Größe?")).encode("latin-1"), "iconv -f WINDOWS-1252"),
    "UTF-16": ("t.csv", TEXT.encode("utf-16"), "Save it as CSV UTF-8"),
    "NUL": ("t.csv", TEXT.replace("cat 1", "c\0t"), f"{SECOND}: a cell holds a NUL"),
    "CR alone": ("t.csv", TEXT.replace("\r\n", "\r"), "carriage return alone"),
    "empty": ("t.csv", "", "is empty"),
    "header alone": ("t.csv", as_csv([]), "has no rows"),
    "web page": ("t.csv", "<!DOCTYPE html><html>", "a web page"),
    "pointer": ("t.csv", "version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    "gzip": ("t.csv", b"\x1f\x8b\x08", "Unpack it"),
    "no header": ("t.csv", as_csv(rows()[1:], rows()[0]), "the table has no header: write one"),
    "column twice": ("t.csv", as_csv(head=[*HEAD[:-2], "answer", "answer"]), "a column twice: 'answer'"),
    "comment first": ("t.csv", "# ours\n" + TEXT, "'# ours'; the first line must be the header"),
    "cell too many": (
        "t.csv",
        as_csv([*rows(), [*rows()[0], "x"]]),
        "row 5 (line 6 with the header): 8 cells, the header has 7",
    ),
    "open quote": ("t.csv", TEXT + 'q9,p.png,"Which', "never closed"),
    "backslash": ("t.csv", TEXT + 'q9,p.png,"a \\"b\\", c",1,2,3,A', "is written twice"),
    # --- JSON
    "trailing comma": ("t.json", json.dumps(as_dicts())[:-1] + ",]", "no comma before a closing bracket"),
    "Python's": ("t.json", repr(as_dicts()), "single quotation marks, as Python"),
    "by column": ("t.json", json.dumps({name: [1, 2] for name in HEAD}), "orient='records'"),
    "pandas": ("t.json", json.dumps({name: {"0": 1, "1": 2} for name in HEAD}), "orient='records'"),
    "two lists": ("t.json", json.dumps({"train": as_dicts(), "test": as_dicts()}), "several lists: train, test"),
    "NaN": ("t.json", '[{"question": NaN}]', "NaN, which is no value of JSON"),
    "key twice": ("t.jsonl", '{"question": "a", "question": "b"}', "the key 'question' twice"),
    "cut line": ("t.jsonl", '{"question": "a"}\n{"quest', "line 2 is not JSON"),
    "not a record": ("t.jsonl", '{"question": "a"}\n[1]', "row 2: no record"),
    "nested": ("t.json", json.dumps([{"id": 1, "qa": {"question": "q", "answer": "a"}}]), "--question COLUMN"),
    # --- answers
    "outside": ("t.csv", as_csv(rows(answer="D")), f"{SECOND} (id 'q1'): the answer 'D' is not among the options"),
    "after empty lines": ("t.csv", as_csv([[], ["a", "p.png", "b\nc?", "x", "y", "", "A"], [], *rows(answer="D")]),
                          "row 3 (line 6 with the header) (id 'q1'): the answer 'D'"),
    "id twice": ("t.csv", as_csv([[], *rows(id="q0")]),
                 "is the id of row 1 (line 3 with the header) and of row 2 (line 4 with the header)"),
    "no answer": ("t.csv", as_csv(rows(answer="")), f"{SECOND} (id 'q1'): empty"),
    "nan": ("t.csv", as_csv(rows(answer="nan")), "the answer 'nan' is not among"),
    "look-alike": ("t.csv", as_csv(rows(answer="\u0410")), "U+0410 (CYRILLIC CAPITAL LETTER A)"),
    "other case": ("t.csv", as_csv(all_rows("answer", lambda r: r[3].upper())), "letter case or blanks only"),
    "1.0": ("t.csv", as_csv(all_rows("answer", lambda r: "1.0")), "write them without .0"),
    "counts": ("t.csv", as_csv(all_rows("answer", lambda r: "1")), '--answer-is number'),
    "counts or texts": ("t.json", options(lambda o: ["2", "0", "1"]).replace('"A"', '"0"').replace('"B"', '"1"')
                        .replace('"C"', '"2"'), "could be options' texts or count options"),
    "A/B": ("t.csv", as_csv(rows(answer="A/B")), "the answer 'A/B' is not among"),
    "A or B, and": ("t.csv", as_csv(all_rows("answer", lambda r: "A and B" if r[0] == "q1" else "A or B")),
                    "is not among the options"),
    # --- options
    "option twice": ("t.csv", as_csv(rows(B="cat 1")), f"{SECOND} (id 'q1'): the option 'cat 1' stands there twice"),
    "gap": ("t.csv", as_csv(rows(B="")), "none empty before the last"),
    "NumPy's": ("t.json", options(lambda o: "[" + " ".join(map(repr, o)) + "]"), "as NumPy prints it"),
    "semicolons": ("t.json", options("; ".join), 'expected a list of options, as a list or as JSON (["cat", "dog"])'),
    "nested list": ("t.json", options(lambda o: [o]), "as a list of texts"),
    "one": ("t.json", options(lambda o: o[:1]), "Expected two or more"),
    "33": ("t.json", options(lambda o: [*o, *map(str, range(30))]), "33 options, at most 26"),
    "C, A, B": ("t.json", options(lambda o: {"C": 1, "A": 2, "B": 3}), "called C, A, B"),
    # --- ids and questions
    "id empty": ("t.csv", as_csv(rows(id="")), f"{SECOND}: empty"),
    "no question": ("t.csv", as_csv(rows(question=" ")), f"{SECOND} (id 'q1'): empty"),
    "question is a file": ("t.csv", as_csv(rows(question="p.png")), "is an image's name"),
    "two <image>": ("t.csv", as_csv(rows(question="<image> <image>?")), "holds <image> 2 times, the row has 1"),
    "<image 2>": ("t.csv", as_csv(rows(question="<image 2> ?")), "speaks of <image 2>"),
    "several turns": ("t.json", json.dumps([{"conversations": [{"from": who, "value": "x"} for who in
                      ("human", "gpt", "human", "gpt")]}]), "got human, gpt, human, gpt"),
    # --- pictures
    "missing": ("t.csv", as_csv(rows(image="q.png")), f"{SECOND} (id 'q1'): no file 'q.png'"),
    "other letters": ("t.csv", as_csv(rows(image="P.PNG")), "Did you mean 'p.png'?"),
    "ending": ("t.csv", as_csv(rows(image="p.pn")), "Did you mean 'p.png'?"),
    "folder": ("t.csv", as_csv(rows(image="more")), "'more' is a folder"),
    "web": ("t.csv", as_csv(rows(image="https://example.org/a.png")), "Download the images"),
    "absolute": ("t.csv", as_csv(rows(image="/etc/hostname.png")), "leads out of the task's folder"),
    "..": ("t.csv", as_csv(rows(image="../task/p.png")), "leads out of the task's folder"),
    "cut base64": ("t.csv", as_csv(rows(image="iVBORw0KGgoAAAANSUhEU" * 60 + "A")), "base64 of an image that is cut"),
    "bytes": ("t.csv", as_csv(rows(image=repr(b"\x89PNG\r\n"))), "bytes as Python prints them"),
    "no row": ("t.csv", as_csv(rows(image="77")), "No row has the id '77'"),
    "NFD": ("t.csv", as_csv(rows(image="ü.png")), "Unicode NFC and NFD"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "task"
    (made / "more").mkdir(parents=True)
    for name in ("p.png", "u\u0308.png"):
        Image.new("RGB", (32, 32), (9, 99, 9)).save(made / name)
    return made


def looked(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return recognising.recognise_tables([NewTaskRequest("task", "", str(path), folder)])[0]


@pytest.mark.parametrize("kind", REFUSED)
def test_a_broken_table_is_refused_with_its_cause_and_its_cure(kind, folder):
    name, content, named = REFUSED[kind]
    try:
        problem = looked(folder, name, content).problem
    except UserError as error:
        problem = str(error)
    assert named in problem


READ = {
    "BOM": ("t.csv", "\ufeff" + TEXT),
    "blank lines": ("t.csv", TEXT.replace("\r\n", "\r\n\r\n")),
    "mixed line ends": ("t.csv", TEXT.replace("\r\n", "\n", 2)),
    "semicolon": ("t.csv", as_csv(separator=";")),
    "bars": ("t.csv", as_csv(separator="|")),
    "names with blanks": ("t.csv", as_csv(head=[" ID", "Image ", "Question", "A", "B", "C", "ANSWER"])),
    "column without a name": ("t.csv", as_csv([["0", *row] for row in rows()], ["", *HEAD])),
    "JSON lines as .json": ("t.json", "\n\n".join(map(json.dumps, as_dicts()))),
    "JSON text": ("t.json", options(json.dumps)),
    "Python text": ("t.json", options(repr)),
    "pairs": ("t.json", options(lambda o: [{"key": k, "value": v} for k, v in zip("ABC", o, strict=True)])),
    "lettered": ("t.json", options(lambda o: [f"({k}) {v}" for k, v in zip("ABC", o, strict=True)])),
    "index": ("t.csv", as_csv(all_rows("answer", lambda r: "ABC".index(r[6])))),
    "number": ("t.csv", as_csv(all_rows("answer", lambda r: "ABC".index(r[6]) + 1))),
    "(a)": ("t.csv", as_csv(all_rows("answer", lambda r: f"({r[6].lower()})"))),
    "text": ("t.csv", as_csv(all_rows("answer", lambda r: r["ABC".index(r[6]) + 3]))),
    "letter and text": ("t.csv", as_csv(all_rows("answer", lambda r: f"{r[6]}. {r['ABC'.index(r[6]) + 3]}"))),
    "Windows paths": ("t.csv", as_csv(rows(image=".\\p.png"))),
    "hostile": ("t.csv", as_csv(rows(question="=cmd|' /C calc'!A0 <script> {{7*7}} {options}", id="../../x"))),
}


@pytest.mark.parametrize("kind", READ)
def test_a_table_in_an_odd_form_gives_the_same_answers(kind, folder):
    found = looked(folder, *READ[kind])
    assert not found.problem and any(line.endswith("correct: A; images: 1") for line in found.said)


TEXTS = {
    "GrÃ¶ÃŸe?": "encoding is damaged",
    "Gr\ufffd\ufffde?": "encoding is damaged",
    "wh\u200bat": "that nobody sees",
    "what\u202e si": "that nobody sees",
    "x" * 30_000: "longer than 20,000",
    "Which? The answer is (A).": "say their right answer",
    "Which? A. left B. right": "list their options",
    "Größe, قط, 猫, \N{FAMILY}\u200d?": "",
    "Is the answer to be found on either side?": "",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_odd_texts_are_told(text):
    doc = {"id": "q", "question": text, "options": ["left", "right"], "answer": "A"}
    told = [kind for kind, why in question_checks._TEXT_PROBLEMS.items() if why(doc)]
    assert [TEXTS[text] in kind for kind in told] == ([True] if TEXTS[text] else [])
