"""A benchmark of several kinds of questions: from one table that holds both, or from two."""

import csv

import pytest
from PIL import Image
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.errors import UserError
from tests.contributed_tables import errors, load

HEADER = ["index", "image", "question", "A", "B", "C", "answer"]
CARD = ("--paper", "none", "--licence", "CC0", "--terms", "none", "--about", "Made up.", "--deviations", "none")


def mixed_rows(count=12):
    """Every third row is open; the picture of a row with the number 2 is that of the open row before it."""
    rows = []
    for number in range(count):
        is_open = number % 3 == 1
        picture = str(100 + number - 1) if number == 2 else f"p{number}.png"
        options = ["", "", ""] if is_open else ["left", "right", "both" if number % 2 else ""]
        answer = f"a spot of {number} mm" if is_open else "AB"[number // 3 % 2]
        rows.append([100 + number, picture, f"Question {number}?", *options, answer])
    return rows


def write_folder(tmp_path, *tables, name="both"):
    """A folder with pictures and the tables (name, header, rows)."""
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    for number in range(12):
        Image.new("RGB", (32, 32), (20 * number, 9, 99)).save(folder / f"p{number}.png")
    for file, header, rows in tables:
        with (folder / file).open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([header, *rows])
    return folder


def new(folder, *arguments, is_refused=False):
    done = CliRunner().invoke(
        build_app(), ["new", folder.name, "--folder", str(folder), *map(str, arguments), *CARD], env={"COLUMNS": "400"}
    )
    assert bool(done.exit_code) == is_refused, (done.output, done.exception)
    return str(done.exception) if is_refused else done.output


def documents(folder, task):
    return load(folder, task).documents


def test_a_table_with_both_kinds_is_split_and_every_row_is_asked_once(tmp_path):
    folder = write_folder(tmp_path, ("q.csv", HEADER, mixed_rows()))
    said = new(folder, "--dataset", folder / "q.csv")
    assert "8 of 12 rows have options" in said and "4 of 12 rows have none, and are a task of their own" in said
    assert "both_choice:" in said and "both_open:" in said and "Question 1?" in said
    assert errors(folder) == []
    choice, words = documents(folder, "both_choice"), documents(folder, "both_open")
    assert words["id"][:] == ["101", "104", "107", "110"] and words["answer"][1] == "a spot of 4 mm"
    assert sorted([*choice["id"], *words["id"]]) == [str(100 + number) for number in range(12)]
    assert choice["answer"][:] == list("AABBAABB") and not any(words["options"][:])
    # The picture of an open row, which a row with options names.
    assert choice["image_id"][1] == words["image_id"][0]
    assert {path.stem for path in folder.glob("*.yaml")} == {
        "both", "both_choice", "both_choice_noimage", "both_open", "both_open_noimage",
    }  # fmt: skip
    group = (folder / "both.yaml").read_text("utf-8")
    assert "group: both\ntask:\n  - both_choice\n  - both_open\n" in group
    card = (folder / "README.md").read_text("utf-8")
    assert "Template of `both_open`: `open`" in card and "- `token_f1`" in card and "- `accuracy`" in card


def test_a_table_without_ids_gives_each_row_an_id_of_its_own(tmp_path):
    folder = write_folder(tmp_path, ("q.csv", HEADER[1:], [row[1:] for row in mixed_rows() if row[0] != 102]))
    new(folder, "--dataset", folder / "q.csv")
    ids = [*documents(folder, "both_choice")["id"], *documents(folder, "both_open")["id"]]
    assert sorted(ids, key=int) == [str(number) for number in range(11)]


def test_two_tables_are_one_benchmark(tmp_path):
    choice = [[f"p{number}.png", f"Which, {number}?", "x", "y", "ab"[number % 2]] for number in range(6)]
    words = [[f"p{number}.png", f"What, {number}?", f"a thing, {number}", "north"] for number in range(6)]
    folder = write_folder(
        tmp_path,
        ("mcq.csv", ["file", "q", "opa", "opb", "cop"], choice),
        ("open.csv", ["file", "q", "reference", "site"], words),
    )
    tables = ("--dataset", folder / "mcq.csv", "--dataset", folder / "open.csv")
    said = new(
        folder, *tables, "--tags", "site", "--judge", "open_answer", "--options", "opa,opb", "--answer-is", "letter"
    )
    assert "options: column opa,opb" in said and "answer: column reference" in said
    assert errors(folder) == []
    assert documents(folder, "both_open")["site"][:] == ["north"] * 6
    assert documents(folder, "both_choice")["answer"][:] == list("ABABAB")
    assert "judge" not in (folder / "both_choice.yaml").read_text("utf-8")
    assert "judge: open_answer" in (folder / "both_open.yaml").read_text("utf-8")


def test_two_tables_of_one_kind_have_their_files_names(tmp_path):
    rows = [[f"p{number}.png", f"What, {number}?", f"a thing, {number}"] for number in range(6)]
    header = ["image", "question", "answer"]
    folder = write_folder(tmp_path, ("Part one.csv", header, rows), ("part_2.csv", header, rows))
    new(folder, "--dataset", folder / "Part one.csv", "--dataset", folder / "part_2.csv")
    assert errors(folder) == []
    assert {"both_part_one_open.yaml", "both_part_2_open.yaml"} <= {path.name for path in folder.iterdir()}


def test_rows_without_options_whose_answers_are_yes_or_no_need_no_judge(tmp_path):
    rows = [row if row[3] else [*row[:-1], ["no", "yes"][row[0] % 2]] for row in mixed_rows()]
    folder = write_folder(tmp_path, ("q.csv", HEADER, rows))
    assert "both_yes_no:" in new(folder, "--dataset", folder / "q.csv")
    assert errors(folder) == []
    assert "parser: yes_no" in (folder / "both_yes_no.yaml").read_text("utf-8")


def test_options_that_are_empty_throughout_are_none(tmp_path):
    rows = [row for row in mixed_rows() if not row[3]]
    folder = write_folder(tmp_path, ("q.csv", HEADER, rows))
    assert "A,B,C: empty in every row, the questions are open" in new(folder, "--dataset", folder / "q.csv")
    assert errors(folder) == []
    assert len(load(folder).documents) == 4


def test_open_rows_may_have_answers_in_a_column_of_their_own_and_several_references(tmp_path):
    rows = [
        [*row[:-1], row[-1] if row[3] else "", "" if row[3] else "['1 cm', \"a small one\"]"] for row in mixed_rows()
    ]
    folder = write_folder(tmp_path, ("q.csv", [*HEADER, "reference"], rows))
    said = new(folder, "--dataset", folder / "q.csv")
    assert "answer: column answer (letter)" in said and "answer: column reference" in said
    assert errors(folder) == []
    assert documents(folder, "both_open")["references"][:] == [["1 cm", "a small one"]] * 4
    assert "references" not in documents(folder, "both_choice").column_names


def change(rows, number, **cells):
    """The rows with other cells in one of them."""
    changed = {HEADER.index(name): value for name, value in cells.items()}
    return [[changed.get(place, cell) if row[0] == number else cell for place, cell in enumerate(row)] for row in rows]


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (
            change(mixed_rows(), 104, answer="B"),
            (),
            "Column 'answer', row 5 (line 6 with the header) (id '104'): a row without options has the answer 'B'",
        ),
        (
            change(mixed_rows(), 103, B=""),
            (),
            "Column 'A, B, C', row 4 (line 5 with the header) (id '103'): the options are ['left', '', 'both']",
        ),
        (change(mixed_rows(), 107, answer=""), (), "Column 'answer', row 8 (line 9 with the header) (id '107'): empty"),
        (mixed_rows(), ("--template", "multiple_choice"), "An open question? `lmms-medtasks new` without --template"),
        (mixed_rows(), ("--dataset", "./q.csv"), "the same name"),
        (mixed_rows(), ("--dataset", "more.csv", "--answer", "lable"), "Unknown column 'lable' in the tables"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(rows, arguments, message, tmp_path, monkeypatch):
    more = [[f"p{number}.png", f"What, {number}?", f"thing {number}"] for number in range(3)]
    folder = write_folder(tmp_path, ("q.csv", HEADER, rows), ("more.csv", ["image", "question", "label"], more))
    monkeypatch.chdir(folder)
    assert message in new(folder, "--dataset", "q.csv", *arguments, is_refused=True)
    assert not list(folder.glob("*.yaml"))


def test_a_second_table_for_a_folder_says_how_both_become_one(tmp_path):
    folder = write_folder(tmp_path, ("q.csv", HEADER, mixed_rows()[::3]))
    new(folder, "--dataset", folder / "q.csv")
    again = NewTaskRequest("another", "open", str(folder / "q.csv"), folder)
    with pytest.raises(UserError, match="Several tables become one benchmark .* --dataset once for each"):
        write_task_folder(again)


@pytest.mark.parametrize("cell", ["", "[]", "{}", " ", '["", ""]'])
def test_a_cell_without_options_is_an_open_question(cell, tmp_path):
    rows = [["p0.png", "Which?", '["x", "y"]', "x"], ["p1.png", "What?", cell, "a thing"]]
    folder = write_folder(tmp_path, ("q.csv", ["image", "question", "options", "answer"], rows))
    new(folder, "--dataset", folder / "q.csv")
    assert documents(folder, "both_open")["answer"][:] == ["a thing"]
    assert documents(folder, "both_choice")["options"][:] == [["x", "y"]]


def test_an_adapter_takes_rows_of_one_kind():
    import datasets

    table = datasets.Dataset.from_dict(
        {"question": ["a?", "b?"], "options": [["x", "y"], []], "answer": ["x", "words"]}
    )
    assert from_columns(rows="without_options")(table)["answer"][:] == ["words"]
    assert from_columns(rows="with_options")(table)["answer"][:] == ["A"]
    with pytest.raises(UserError, match=r'row 2: the options are \[\].*rows="with_options"'):
        from_columns()(table)
    with pytest.raises(UserError, match="no rows with options"):
        from_columns(rows="with_options")(table.select([1]))
    with pytest.raises(UserError, match="Did you mean 'with_options'"):
        from_columns(rows="with_option")


def test_what_both_tasks_of_a_table_miss_is_told_once(tmp_path):
    folder = write_folder(tmp_path, ("q.csv", HEADER, mixed_rows()))
    (folder / "pics").mkdir()
    for picture in folder.glob("*.png"):
        picture.rename(folder / "pics" / picture.name)
    said = new(folder, "--dataset", folder / "q.csv", is_refused=True)
    assert said.count("--images-in pics") == 1, said
