"""What a chat server's completion says, whoever asks."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.chat_replies import MissingReply, content_text, parse_choice, parse_finish_reason, server_error_text
from lmms_medtasks.parsing.texts import replace_half_characters


def choice(content="B", finish="stop", **more):
    return SimpleNamespace(finish_reason=finish, message=SimpleNamespace(content=content, **more))


@pytest.mark.parametrize(
    ("finish", "meaning"),
    [
        ("stop", "stop"), ("length", "length"), ("MAX_TOKENS", "length"), ("model_length", "length"),
        ("error", "error"), ("abort", "error"), ("insufficient_system_resource", "error"),
        ("content_filter", "withheld"), ("tool_calls", ""), ("", ""), (None, ""), ({"type": "abort"}, ""),
    ],
)  # fmt: skip
def test_what_a_finish_reason_means(finish, meaning):
    assert parse_finish_reason(finish) == meaning


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("B", "B"),
        ([], ""),
        ([{"type": "thinking", "thinking": "A"}, {"type": "text", "text": "B"}, {"text": "."}], "B."),
        ([{"type": "output_text", "text": "B"}], "B"),
        ([{"type": "text", "text": None}], None),
        (["B"], None),
        (7, None),
    ],
)
def test_a_list_of_parts_is_a_text_without_the_thinking(content, text):
    assert content_text(content) == text


@pytest.mark.parametrize(
    ("sent", "text", "ended"),
    [
        (choice("It is B", "length"), "It is B", "length"),
        (choice(None, "length", reasoning_content="A long thought"), "", "length"),
        (choice(None, "stop"), "", "stop"),
        (choice("B", None), "B", ""),
        (choice(None, "stop", refusal="I can't."), "I can't.", "stop"),
        (choice("B \ud83d"), "B \ufffd", "stop"),
    ],
)
def test_a_reply_says_why_it_ended(sent, text, ended):
    found = parse_choice(sent, 64)
    assert (found, found.ended, found.limit, found.tags) == (text, ended, 64, ())


@pytest.mark.parametrize(
    ("sent", "again", "said"),
    [
        (choice("It is", "error"), True, "broke off .finish_reason error."),
        (choice("It is", "abort"), True, "broke off .finish_reason abort."),
        (choice("It is", "content_filter"), False, "withheld"),
        (choice(None, "tool_calls"), False, "No content, finish_reason tool_calls"),
        (choice(None, None), False, "No content"),
        (choice([1]), False, "no text, but a list"),
    ],
)
def test_what_is_no_reply(sent, again, said):
    with pytest.raises(MissingReply, match=said) as caught:
        parse_choice(sent, 64)
    assert caught.value.again == again


def test_a_provider_s_own_words_stand_in_the_reason():
    broken = choice("It", "error")
    broken.error = {"message": "upstream\n is gone", "code": 502}
    with pytest.raises(MissingReply, match="upstream is gone"):
        parse_choice(broken, None)
    assert [server_error_text(each) for each in (None, "", "full", {"code": 5})] == ["", "", "full", "{'code': 5}"]
    assert len(server_error_text("x" * 999)) == 200


def test_halves_of_characters_are_made_whole():
    assert replace_half_characters("\ud83d\ude00 \ud83d") == "😀 \ufffd"
