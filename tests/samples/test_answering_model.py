"""Whose replies a server's are, by the names that they have."""

import pytest

from lmms_medtasks.samples import answering_model


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("tiny", []),
        ("tiny", ["tiny"]),
        ("org/tiny", ["tiny"]),
        ("tiny", ["/models/Tiny.gguf"]),
        ("gpt-4o", ["gpt-4o-2024-08-06"]),
        ("gpt-4o-2024-08-06", ["gpt-4o"]),
        ("gpt-4", ["gpt-4-0613"]),
        ("m", ["m:latest"]),
        ("alias", ["root-model"]),  # as its list of models says
    ],
)
def test_the_same_model(asked, names):
    server = {"model": asked, "serves": {"id": asked, "root": "/m/root-model"}, "answers_as": names}
    assert answering_model.describe_answering_model({"server": server}) == ""


@pytest.mark.parametrize(
    ("asked", "names", "said"),
    [
        ("tiny", ["other"], "asked for 'tiny', answered as 'other'"),
        ("gpt-4o", ["gpt-4o-mini"], "asked for 'gpt-4o', answered as 'gpt-4o-mini'"),
        ("m-7b", ["m-72b"], "asked for 'm-7b', answered as 'm-72b'"),
        ("gpt-4o-2024-05-13", ["gpt-4o-2024-08-06"], "asked for 'gpt-4o-2024-05-13', answered as 'gpt-4o-2024-08-06'"),
        ("gpt-4o", ["gpt-4o-2024-05-13", "gpt-4o-2024-08-06"],
         "asked for 'gpt-4o', answered as 'gpt-4o-2024-05-13' and 'gpt-4o-2024-08-06' in turn"),
        ("a", [f"b{n}" for n in range(9)], "asked for 'a', answered as 'b0', 'b1', 'b2', 'b3' and 5 more in turn"),
        ("a", ["\x1b[31m"], "asked for 'a', answered as '\ufffd[31m'"),
    ],
)  # fmt: skip
def test_another_model_or_several(asked, names, said):
    assert (
        answering_model.describe_answering_model({"server": {"model": asked, "serves": {}, "answers_as": names}})
        == said
    )


@pytest.mark.parametrize("told", [{}, {"server": None}, {"server": {}}, {"server": {"model": ["a"]}}])
def test_what_is_not_recorded_is_no_doubt(told):
    assert answering_model.describe_answering_model(told) == ""
