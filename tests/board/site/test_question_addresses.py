"""The addresses of questions: permanent, and the form that the page reads."""

from urllib.parse import unquote, urlsplit

import pytest

from lmms_medtasks.board.site.question_addresses import question_address


@pytest.mark.parametrize("id", ["q1", "q1/blur/L2", "a b#c?d&e=f%2F", "é\u202e<\"'>", "half \ud800"])
def test_a_question_of_any_id_has_an_address_that_gives_it_back(id):
    address = urlsplit(question_address("suite", "task", id))
    assert address.path == "questions/suite.html" and not address.query
    task, _, name = address.fragment.partition("/")
    assert (unquote(task), unquote(name)) == ("task", id.replace("\ud800", "?"))
