"""Images and options that a table names in a form of its own: read, asked for or told, never left out silently."""

import json

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.contribute import question_checks, recognising
from lmms_medtasks.contribute.new import NewTaskRequest
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.errors import UserError
from tests.contributed_tables import load, looked, made, png, table


def kvasir(tmp_path):
    """Four questions whose column img_id has the names of images/*.png without their ending."""
    path = table(tmp_path, [{"id": f"q{number}", "question": f"q{number}?", "answer": f"level {number}",
                             "img_id": f"c{number}"} for number in range(4)])  # fmt: skip
    (path.parent / "images").mkdir()
    for number in range(4):
        (path.parent / f"p{number}.png").unlink(missing_ok=True)
        (path.parent / "images" / f"c{number}.png").write_bytes(png(number * 40))
    return path


def test_images_whose_names_stand_in_a_column_are_asked_for(tmp_path):
    path = kvasir(tmp_path)
    result = CliRunner().invoke(build_app(), ["new", "asked", "--dataset", str(path), "--folder", str(path.parent)])
    options = "--image img_id --images-in images --image-ending .png"
    assert isinstance(result.exception, UserError) and f"Say {options} (" in str(result.exception)
    assert not list(path.parent.glob("*.yaml"))
    done = ["new", "asked", "--dataset", str(path), "--folder", str(path.parent), *options.split()]
    assert CliRunner().invoke(build_app(), done).exit_code == 0
    code = (path.parent / "adapter.py").read_text("utf-8")
    assert 'images_in="images", image_ending=".png"' in code
    assert len(set(load(path.parent).documents["image_id"])) == 4


@pytest.mark.parametrize("names", ["half", "few"])
def test_images_are_asked_for_where_most_rows_name_one(names, tmp_path):
    path = kvasir(tmp_path)
    for number in range(2 if names == "half" else 3):
        (path.parent / "images" / f"c{number}.png").unlink()
    if names == "half":
        with pytest.raises(UserError, match="--image img_id --images-in images"):
            looked(path)
    else:
        assert looked(path).wanted.settings["no_image"]


def test_a_task_that_shows_none_of_the_images_beside_it_is_a_finding(tmp_path):
    path = kvasir(tmp_path)
    command = ["new", "asked", "--dataset", str(path), "--folder", str(path.parent), "--no-image"]
    assert CliRunner().invoke(build_app(), command).exit_code == 0
    (finding,) = [str(each) for each in validate_folder(path.parent, write=True).problems if "lie in" in str(each)]
    assert "no question has an image, and 4 lie in the folder (images/c0.png first)" in finding
    card = path.parent / "README.md"
    card.write_text(card.read_text("utf-8") + "".join(f"![](images/c{number}.png)\n" for number in range(4)), "utf-8")
    assert not [each for each in validate_folder(path.parent, write=True).problems if "lie in" in str(each)]


def test_a_column_of_names_of_images_is_theirs_though_none_is_there(tmp_path):
    path = table(
        tmp_path, [{"scan": f"x/{number}.dcm", "question": f"q{number}", "answer": "x"} for number in range(3)]
    )
    assert "no file 'x/0.dcm'" in looked(path).problem


def test_rows_without_an_image_are_counted(tmp_path):
    records = [
        {"image": f"p{number}.png" if number % 3 else None, "question": "q", "answer": "x"} for number in range(5)
    ]
    records[4]["image"] = "p0.png"
    assert "2 of 5 rows have no image, the first is row 1" in looked(table(tmp_path, records)).said


@pytest.mark.parametrize(
    "columns",
    [
        {"possible_answers": ["low", "top"]},
        {"whatever": ["low", "top"]},
        {"whatever": '["low", "top"]', "tags": ["x", "y"]},
        {"whatever": {"A": "low", "B": "top"}},
    ],
)
def test_lists_with_the_answers_in_them_are_options_whatever_they_are_called(columns, tmp_path):
    records = [{"image": f"p{number}.png", "question": f"q{number}", **columns, "answer": ["low", "top"][number % 2]}
               for number in range(3)]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert found.wanted.columns["options"] == next(iter(columns))
    assert (documents["options"][0], documents["answer"][:]) == (["low", "top"], ["A", "B", "A"])


def test_lists_without_the_answers_are_no_options_and_two_with_them_are_asked_for(tmp_path):
    records = [{"question": "q", "seen": ["low", "mid"], "answer": ["low", "top"][number]} for number in range(2)]
    path = table(tmp_path, records)
    assert "options" not in looked(path).wanted.columns
    path.write_text(json.dumps({**records[0], "more": ["low", "x"]}), "utf-8")
    with pytest.raises(UserError, match="seen, more hold lists.*--options COLUMN"):
        looked(path)
    assert looked(path, columns={"options": "more"}).wanted.columns["options"] == "more"


@pytest.mark.parametrize("answers", [["(b) right", "(a) left"], ["b", "a"], ["right", "left"]])
def test_options_in_the_text_of_all_questions_are_options(answers, tmp_path):
    records = [{"image": f"p{number}.png", "question": f"Where is {number}? (a) left (b) right", "answer": answer}
               for number, answer in enumerate(answers)]  # fmt: skip
    path = table(tmp_path, records)
    found, documents = made(path)
    assert found.wanted.template == "multiple_choice" and documents["answer"][:] == ["B", "A"]
    assert (documents["question"][0], documents["options"][0]) == ("Where is 0?", ["left", "right"])
    assert "options" not in looked(path, template="open").wanted.columns


def test_options_in_the_text_of_some_questions_are_a_task_of_their_own(tmp_path):
    records = [{"question": "Where? (a) left (b) right", "answer": "left"}, {"question": "What?", "answer": "lung"}]
    path = table(tmp_path, records)
    request = NewTaskRequest("asked", "", str(path), path.parent)
    choice, asked = recognising.recognise_tables([request])
    assert (choice.wanted.rows, asked.wanted.rows) == ("with_options", "without_options")
    assert "  A. left" in choice.said and "  What?" in asked.said
    path.write_text(path.read_text("utf-8").replace('"left"', '"both"'), "utf-8")
    said = looked(path).said
    assert any("1 of 2 questions seem to list options, the first is row 1" in line for line in said)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"question": "Where? Options: left, right", "answer": "left"}, "1 of 1 questions seem to list options"),
        ({"question": "Where? 1) left 2) right", "answer": "2"}, "1 of 1 questions seem to list options"),
        (
            {"question": "Where?", "seen": ["left", "right"], "answer": 1},
            "`seen` holds lists that the answers could count",
        ),
        ({"question": "Where?", "answer": "(b) left"}, "answers begin with letters ('(b) left'), and no options"),
        ({"question": "Where?", "answer": "left"}, ""),
    ],
)
def test_options_in_a_form_that_is_not_read_are_told(record, told, tmp_path):
    said = " ".join(looked(table(tmp_path, [record])).said)
    assert told in said and ("option" in said) is bool(told)


def test_options_that_no_question_lists_are_not_said_to_be_empty(tmp_path):
    path = table(tmp_path, [{"question": "Where? (1) left (2) right", "answer": "2"}])
    with pytest.raises(UserError, match="--options question: no question ends with a list of options"):
        looked(path, columns={"options": "question"})


@pytest.mark.parametrize(
    ("answer", "options", "told"), [("(b) right", [], True), ("lung", [], False), ("B", ["x", "y"], False)]
)
def test_an_open_question_that_ends_with_its_options_is_a_finding(answer, options, told):
    doc = {"question": "Where? (a) left (b) right", "options": options, "answer": answer}
    assert bool(question_checks._unread_options(doc)) is told


@pytest.mark.parametrize("column", ["messages", "prompt", "dialog"])
def test_conversations_are_recognised_whatever_their_column_is_called(column, tmp_path):
    turns = [{"role": "user", "content": "<image>Where?"}, {"role": "assistant", "content": "left"}]
    found = looked(table(tmp_path, [{column: turns, "image": "p0.png"}]))
    assert found.wanted.columns["conversations"] == column and found.said[-1] == "  correct: left; images: 1"


def test_a_conversation_may_list_its_options(tmp_path):
    turns = [{"from": "human", "value": "<image>\nWhere?\nA. left\nB. right\nAnswer with the letter."},
             {"from": "gpt", "value": "B"}]  # fmt: skip
    _, documents = made(table(tmp_path, [{"conversations": turns, "image": f"p{number}.png"} for number in range(2)]))
    assert (documents["question"][0], documents["options"][0], documents["answer"][0]) == (
        "Where?",
        ["left", "right"],
        "B",
    )


def test_messages_with_images_among_their_parts_need_no_option(tmp_path):
    records = [{"messages": [{"role": "user", "content": [{"type": "image", "image": f"p{number}.png"},
                                                          {"type": "text", "text": "Is there a nodule?"}]},
                             {"role": "assistant", "content": [{"type": "text", "text": ["yes", "no"][number]}]}]}
               for number in range(2)]  # fmt: skip
    found, documents = made(table(tmp_path, records))
    assert found.wanted.settings == {"parser": "yes_no"} and found.said[-1].endswith("images: 1")
    assert all(row["image"] is not None for row in documents)
