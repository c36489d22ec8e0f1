"""Tables of others made documents, and what is said of those that can't be."""

import base64
import datetime as dt
import io
import json
import pickle

import datasets
import pytest
from PIL import Image

from lmms_medtasks.data.adapter import documents, from_columns
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id

OPEN = from_columns(options=None)


def png(colour):
    held = io.BytesIO()
    Image.new("L", (4, 4), colour).save(held, "PNG")
    return held.getvalue()


def table(**columns):
    standard = {"image": [png(0), png(9)], "question": ["q1", "q2"], "options": [["x", "y"], ["x", "y", "z"]],
                "answer": ["A", "C"]}  # fmt: skip
    return datasets.Dataset.from_dict({**standard, **columns})


def said(adapter, data):
    with pytest.raises(UserError) as error:
        adapter(data)
    return str(error.value)


def test_standard_names_need_nothing():
    made = documents(table())
    assert made["answer"][:] == ["A", "C"]
    assert made["id"][:] == ["0", "1"]
    assert made["options"][1] == ["x", "y", "z"]
    assert made["image_id"][:] == [image_id([png(0)]), image_id([png(9)])]
    assert isinstance(made.features["image"], datasets.Image)


def test_one_column_for_each_option():
    data = datasets.Dataset.from_dict(
        {"img": [png(0)], "q": ["which?"], "a": ["left"], "b": ["right"], "c": [None], "label": ["right"]}
    )
    made = from_columns(image="img", question="q", options=["a", "b", "c"], answer="label")(data)
    assert (made[0]["options"], made[0]["answer"]) == (["left", "right"], "B")


@pytest.mark.parametrize(
    ("kind", "values", "letters"),
    [("index", [0, 2], ["A", "C"]), ("number", [1, 3], ["A", "C"]), ("letter", ["a", "C"], ["A", "C"]),
     ("text", ["y", "z"], ["B", "C"]), ("", ["x", "z"], ["A", "C"]), ("", ["b", "C"], ["B", "C"])],
)  # fmt: skip
def test_answers(kind, values, letters):
    assert from_columns(answer_is=kind)(table(answer=values))["answer"][:] == letters


def test_answers_that_could_be_two_things_are_not_guessed():
    both = table(options=[["B", "A"], ["B", "A"]], answer=["A", "B"])
    assert "could be letters or options' texts" in said(documents, both)
    assert "holds whole numbers such as '0'" in said(documents, table(answer=[0, 1]))
    assert from_columns(answer_is="text")(both)["answer"][:] == ["B", "A"]


@pytest.mark.parametrize(
    ("adapter", "columns", "message"),
    [
        (from_columns(question="quest"), {}, "Unknown column 'quest' in the data. Did you mean 'question'?"),
        (documents, {"answer": ["A", "D"]}, "Column 'answer', row 2: the answer 'D' is not among the options"),
        (from_columns(answer_is="number"), {"answer": [0, 1]}, "row 1: the answer '0' is not among the options"),
        (documents, {"options": [["x", "y"], ["x"]]}, "row 2: the options are ['x']"),
        (documents, {"options": [["x", "y"], ["x", "x"]]}, "row 2: the option 'x' stands there twice"),
        (documents, {"options": ['["x", "y"]', "x, y"]}, "Column 'options', row 2: expected a list of options"),
        (documents, {"question": ["q1", " "]}, "Column 'question', row 2: empty"),
        (documents, {"question": [True, False]}, "Column 'question', row 1: True is a bool"),
        (documents, {"id": ["n", "n"]}, "Column 'id': 'n' is the id of row 1 and of row 2"),
        (documents, {"image": ["none.png", "none.png"]}, "Column 'image', row 1: no file 'none.png' in"),
    ],
)
def test_says_what_is_wrong(adapter, columns, message):
    assert message in said(adapter, table(**columns))


def test_an_unknown_kind_of_answer():
    with pytest.raises(UserError, match="Did you mean 'letter'"):
        from_columns(answer_is="leter")


def test_pictures_by_path_start_at_the_folder(tmp_path):
    (tmp_path / "p.png").write_bytes(png(7))
    data = table(image=["p.png", None])
    made = documents.in_folder(tmp_path)(data)
    assert made[0]["image"]["path"] == str(tmp_path / "p.png")
    assert made["image_id"][:] == [image_id([png(7)]), "none-1"]
    assert made[1]["image"] is None


def test_pictures_as_base64_and_options_as_json():
    text = base64.b64encode(png(3)).decode()
    made = documents(table(image=[text, f"data:image/png;base64,{text}"], options=[json.dumps(["x", "y", "z"])] * 2))
    assert {row["image"]["bytes"] for row in made} == {png(3)}
    assert made[0]["options"] == ["x", "y", "z"]


def test_an_image_column_is_not_decoded():
    data = table().cast_column("image", datasets.Image())
    assert documents(data)[0]["image"]["bytes"] == png(0)


def test_open_questions_have_no_options():
    made = documents(table(answer=["a word", "two words"]).remove_columns("options"))
    assert made[0]["options"] == []
    assert made["answer"][:] == ["a word", "two words"]


def test_only_named_columns_and_those_of_our_hooks_are_kept():
    data = table(modality=["CT", "MRI"], name=["Smith", "Jones"], ward=[1, 2])
    assert not {"name", "ward"} & set(documents(data).column_names)
    assert from_columns(tags=["ward"])(data)["ward"][:] == ["1", "2"]
    assert documents(data)["modality"][:] == ["CT", "MRI"]


def test_can_be_sent_to_another_process_and_names_what_it_reads(tmp_path):
    adapter = from_columns(question="q")
    assert pickle.loads(pickle.dumps(adapter)) == adapter
    assert adapter.digested == adapter.in_folder(tmp_path).digested != documents.digested


@pytest.mark.parametrize("text", ["['liver', 'hepar']", '["liver", "hepar"]', '[ "liver" ]'])
def test_a_list_written_as_text_is_no_reference(text):
    data = table(answer=["liver", text], id=["n1", "n2"])
    assert f"Column 'answer', row 2 (id 'n2'): {text!r}" in said(OPEN, data)


@pytest.mark.parametrize("text", ["[0, 1]", "liver ['hepar']", "[liver]"])
def test_brackets_alone_make_no_list(text):
    assert OPEN(table(answer=["x", text]))["answer"] == ["x", text]


def test_a_date_is_not_advised_into_the_quotation_marks_that_it_had():
    date = dt.datetime(2020, 1, 2)
    message = said(OPEN, table(answer=[date, date]))
    assert "row 1" in message and "CSV" in message and "quotation" not in message


def test_numbers_of_class_labels_are_their_names():
    """A hub's ClassLabel counts in the order of its names, which need not be that of the options."""
    given = table(options=[["x", "y"], ["x", "y"]], answer=[0, 1])
    given = given.cast_column("answer", datasets.ClassLabel(names=["y", "x"]))
    assert documents(given)["answer"][:] == ["B", "A"]


@pytest.mark.parametrize(
    "cell",
    [
        [{"label": "A", "text": "cat"}, {"label": "B", "text": "dog"}],
        {"text": ["cat", "dog"], "label": ["A", "B"]},
        '[{"key": "A", "value": "cat"}, {"key": "B", "value": "dog"}]',
        "{'A': 'cat', 'B': 'dog'}",
    ],
)
def test_options_may_be_pairs_of_letter_and_text(cell):
    assert documents(table(options=[cell, cell], answer=["A", "B"]))["options"][:] == [["cat", "dog"]] * 2


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("CAT", "differs from 'cat' in letter case or blanks"),
        ("\u0410", "U+0410 (CYRILLIC CAPITAL LETTER A)"),
        ("\uff21", "U+FF21 (FULLWIDTH LATIN CAPITAL LETTER A)"),
        ("cat\u200b", "U+200B (ZERO WIDTH SPACE)"),
        ("A or B", 'several="any" and `parser: any_letter`'),
    ],
)
def test_an_answer_that_only_looks_like_an_option_is_explained(answer, named):
    assert named in said(documents, table(options=[["cat", "dog"]] * 2, answer=[answer, "B"]))


def test_a_letter_may_stand_before_its_own_text_and_no_other():
    options = [["cat", "dog"]] * 2
    assert documents(table(options=options, answer=["A. cat", "(B) dog"]))["answer"][:] == ["A", "B"]
    assert "'A. dog' is not among" in said(documents, table(options=options, answer=["A. dog", "B"]))


def test_texts_that_numpy_prints_side_by_side_are_not_joined():
    assert "as NumPy prints it" in said(documents, table(options=["['cat' 'dog']", '["x", "y"]']))


def test_more_placeholders_than_pictures_are_refused():
    assert "holds <image> 2 times, the row has 1 image" in said(documents, table(question=["<image><image> x", "y"]))
