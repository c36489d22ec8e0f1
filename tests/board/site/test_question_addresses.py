"""The addresses of questions: permanent, and the form that the page reads."""

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from lmms_medtasks.board.site.question_addresses import list_address, question_address


@pytest.mark.parametrize("id", ["q1", "q1/blur/L2", "a b#c?d&e=f%2F", "é\u202e<\"'>", "half \ud800"])
def test_a_question_of_any_id_has_an_address_that_gives_it_back(id):
    address = urlsplit(question_address("suite", "task", id))
    assert address.path == "questions/suite.html" and not address.query
    task, _, name = address.fragment.partition("/")
    assert (unquote(task), unquote(name)) == ("task", id.replace("\ud800", "?"))


def test_filters_stand_in_the_address_of_a_list():
    address = list_address(
        "s", task="t", tags=[("modality", "CT"), ("level", 2), ("mid", None)], model="m&m"
    )  # fmt: skip
    assert parse_qsl(urlsplit(address).query, keep_blank_values=True) == [
        ("task", "t"), ("tag", "modality:CT"), ("tag", "level:2"), ("tag", "mid:"),
        ("model", "m&m"),
    ]  # fmt: skip
    assert list_address("s") == "questions/s.html"
