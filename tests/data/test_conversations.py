"""Conversations as people store them: who speaks, texts in parts, and where their images stand."""

import base64
import json

import datasets
import pytest

from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id

ADAPT = from_columns(conversations="messages")
DATA = b"an image of more than sixteen bytes"
TEXT = base64.b64encode(DATA).decode()
ASKED = {"type": "text", "text": "Which side?"}


def documents(tmp_path, content, answer="left", adapt=ADAPT, asking="user", **columns):
    """The document of one conversation, as JSON text in its cell; the folder holds the image a.jpg."""
    (tmp_path / "a.jpg").write_bytes(DATA)
    turns = [{"role": "system", "content": "You are a doctor."}, {"role": asking, "content": content}]
    turns += [] if answer is None else [{"role": "assistant", "content": answer}]
    data = {"messages": [json.dumps(turns)], **{name: [value] for name, value in columns.items()}}
    return adapt.in_folder(tmp_path)(datasets.Dataset.from_dict(data))[0]


PICTURES = {
    "Qwen": {"type": "image", "image": "a.jpg"},
    "with nulls": {"type": "image", "text": None, "image": "a.jpg"},
    "file address": {"type": "image", "url": "a.jpg"},
    "OpenAI": {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{TEXT}"}},
    "OpenAI, flat": {"type": "input_image", "image_url": "a.jpg"},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": TEXT}},
    "without type": {"image": "a.jpg"},
}


@pytest.mark.parametrize("form", PICTURES)
def test_images_among_the_parts_of_a_turn_are_shown(form, tmp_path):
    document = documents(tmp_path, [PICTURES[form], ASKED], [{"type": "text", "text": "left"}])
    assert (document["question"], document["answer"]) == ("Which side?", "left")
    assert document["image_id"] == image_id([DATA])


@pytest.mark.parametrize("column", ["image", "images"])
def test_a_placeholder_stands_for_an_image_of_the_row(column, tmp_path):
    document = documents(tmp_path, [{"type": "image"}, ASKED], **{column: "a.jpg"})
    assert document["image_id"] == image_id([DATA]) and document["question"] == "Which side?"
    with pytest.raises(UserError, match="holds <image> 2 times, the row has 1 image"):
        documents(tmp_path, "<image>\n<image>\nWhich side?", **{column: "a.jpg"})


def test_texts_in_parts_are_joined_and_a_text_alone_is_one(tmp_path):
    parts = [ASKED, {"type": "text", "text": "(a) left (b) right"}]
    assert documents(tmp_path, parts)["question"] == "Which side?\n(a) left (b) right"
    listed = documents(tmp_path, parts, adapt=from_columns(conversations="messages", options="question"))
    assert (listed["options"], listed["answer"]) == (["left", "right"], "A")
    assert documents(tmp_path, ["Which side?"], asking="Human")["question"] == "Which side?"


def test_a_conversation_without_an_answer_leaves_it_to_a_column(tmp_path):
    assert documents(tmp_path, "Which side?", None, answer_text="right", adapt=from_columns(
        conversations="messages", answer="answer_text"))["answer"] == "right"  # fmt: skip
    both = datasets.Dataset.from_dict(
        {"messages": [[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
                      [{"role": "user", "content": "q"}]]})  # fmt: skip
    with pytest.raises(UserError, match="row 2: no turn of the model, others have one"):
        ADAPT(both)


def test_what_python_printed_is_read_too(tmp_path):
    turns = [{"role": "user", "content": [ASKED]}, {"role": "assistant", "content": "left"}]
    assert ADAPT(datasets.Dataset.from_dict({"messages": [str(turns)]}))[0]["answer"] == "left"


@pytest.mark.parametrize(
    ("content", "answer", "said"),
    [
        ([ASKED, {"type": "video", "video": "a.mp4"}], "x", "Only texts and images are shown to a model"),
        (7, "x", "a part of a turn is '7'"),
        ("q", [{"type": "image", "image": "a.jpg"}], "the answer holds an image"),
        ([{"type": "image", "image": "a.jpg"}], "x", "asks nothing beside its image"),
    ],
)
def test_what_no_model_can_be_shown_is_refused_with_the_way_out(content, answer, said, tmp_path):
    with pytest.raises(UserError, match=said):
        documents(tmp_path, content, answer)
