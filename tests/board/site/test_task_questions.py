"""Files of questions: each question once, in files of bounded size, and what questions are found by."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.shown_answers import ShownAnswer
from lmms_medtasks.board.site import questions as question_files
from lmms_medtasks.board.site.question_data import QuestionTexts, SiteImage
from lmms_medtasks.board.site.question_scores import score_character
from lmms_medtasks.board.site.questions import TaskQuestions, reply_length, shown_tags
from tests.board.made_up_entries import MadeUpEntry, made_up_entry


class Logs:
    """What each model's log has, by its name."""

    def __init__(self, replies: Mapping[str, Mapping[str, Sequence[str]]], right: str) -> None:
        self.replies = replies
        self.right = right

    def of(self, entry: LeaderboardEntry, ids: Collection[str]) -> dict[str, ShownAnswer]:
        own = self.replies[entry.model.name]
        return {id: ShownAnswer(f"prompt of {id}?", self.right, tuple(own[id])) for id in ids if id in own}


class Data:
    """Stands for a build's data; of a model whose log it lacks nothing is told."""

    def __init__(
        self,
        replies: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        right: str = "A",
        materials: Mapping[str, QuestionTexts] | None = None,
    ) -> None:
        self.logs = Logs(replies or {}, right)
        self.materials = materials or {}
        self.asked: list[tuple[int, bool]] = []

    def may_tell(self, entry: LeaderboardEntry) -> bool:
        return entry.model.name in self.logs.replies

    def withheld(self, entries: Sequence[LeaderboardEntry]) -> str:
        return ""

    def of(
        self, entries: Sequence[LeaderboardEntry], ids: Collection[str], pictures: bool = True
    ) -> Mapping[str, QuestionTexts]:
        self.asked.append((len(ids), pictures))
        return {id: self.materials[id] for id in ids if id in self.materials}


@dataclass(frozen=True)
class Shard:
    """A file of questions, read."""

    content: Any


def value(text: str) -> Any:
    """What a script hands over, without the number before it."""
    return json.loads(re.sub(r"^medtasks\.\w+\((\d+,)?|\);\n$", "", text))


def made(entries: Sequence[MadeUpEntry], data: Data | None = None, single: bool = False) -> dict[str, str]:
    """The files of a task, by name."""
    questions = TaskQuestions(entries, data or Data(), 50, single=single)  # type: ignore[arg-type]
    return {name: "".join(make()) for name, make in questions.files()}


def shards_of(entries: Sequence[MadeUpEntry], data: Data | None = None) -> list[Shard]:
    files = made(entries, data)
    return [Shard(value(text)) for name, text in files.items() if name[0].isdigit()]


@contextmanager
def bounded(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(question_files, "SHARD_BYTES", size)
        yield


def questions_of(shards: Sequence[Shard]) -> list[Any]:
    return [question for shard in shards for question in shard.content["questions"]]


def answer(shard: Shard, row: int, model: int) -> tuple[str, str, object] | None:
    """Score, its digit and the replies of a model; None where it was not asked."""
    question = shard.content["questions"][row]
    place = question["who"][model]
    if place < 0:
        return None
    score, replies = question["answers"][place]
    return (*shard.content["scores"][score], replies)


def letters(trials: Mapping[str, str], name: str = "m", right: str = "A") -> MadeUpEntry:
    """A model's trials at questions; ``!`` failed."""
    ids = sorted(trials)
    scores = {id: trials[id].count(right) / max(1, len(trials[id].replace("!", ""))) for id in ids}
    read = [["failed" if letter == "!" else letter for letter in trials[id]] for id in ids]
    return made_up_entry(name, scores, tags={"expected": [right] * len(ids)}, columns={"trials": read})


MODELS = st.lists(
    st.dictionaries(st.integers(0, 99).map("q{:02}".format), st.sampled_from([0.0, 0.5, 1 / 3, 1.0, None]), min_size=1),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(max_examples=60)
@given(MODELS, st.integers(1, 1500))
def test_together_the_shards_have_each_question_once_in_order_and_each_models_score(
    models: list[dict[str, float | None]], size: int
) -> None:
    entries = [made_up_entry(f"m{number}", own) for number, own in enumerate(models)]
    with bounded(size):
        files = made(entries)
    shards = [Shard(value(text)) for name, text in files.items() if name[0].isdigit()]
    ids = sorted({id for own in models for id in own})
    index = value(files["index.js"])
    assert [each["id"] for each in questions_of(shards)] == index["ids"] == ids
    for number, shard in enumerate(shards):
        rows = shard.content["questions"]
        # The browser finds a question by this.
        assert [row["id"] for row in rows] == ids[number * index["size"] : (number + 1) * index["size"]]
        for place, row in enumerate(rows):
            for model, own in enumerate(models):
                found = answer(shard, place, model)
                if row["id"] not in own:
                    assert found is None
                    continue
                score = own[row["id"]]
                said = "–" if score is None else f"{100 * score:.1f}%"
                assert found == (said, score_character(float("nan") if score is None else score), None)
        used = {score for row in rows for score, _ in row["answers"]}
        assert used == set(range(len(shard.content["scores"])))


@pytest.mark.parametrize("size", [1, 400, 10_000_000])
def test_a_file_has_as_many_questions_as_fit_into_the_bound(size: int) -> None:
    entry = letters({f"q{number:02}": "A" for number in range(20)})
    with bounded(size):
        counts = [len(shard.content["questions"]) for shard in shards_of([entry])]
        lengths = [len(json.dumps(shard.content)) for shard in shards_of([entry])]
    assert sum(counts) == 20
    if size == 1:
        assert counts == [1] * 20
    elif size == 400:
        assert 1 < counts[0] < 20 and set(counts[:-1]) == {counts[0]} and counts[-1] <= counts[0]
        assert all(length < 500 for length in lengths)
    else:
        assert counts == [20]


def test_of_one_run_each_question_is_a_file_made_alone_with_the_words_of_its_replies() -> None:
    data = Data({"m": {"q1": ("It is A.", "B"), "q2": ("A", "A")}}, materials={"q1": QuestionTexts("Which?", (), "A")})
    questions = TaskQuestions([letters({"q1": "AB", "q2": "AA"})], data, 50, single=True)  # type: ignore[arg-type]
    files = dict(questions.files())
    assert list(files) == ["index.js", "model-0.js", "0.js", "1.js", "all.js"] and not data.asked
    found = answer(Shard(value("".join(files["0.js"]()))), 0, 0)
    assert found is not None and found[2] == [["A – It is A.", "✓"], ["B", "✗"]] and data.asked == [(1, True)]
    # To search for words no picture is made.
    text = "".join(files["all.js"]()).replace('"all"', "0", 1)
    assert [each["text"] for each in value(text)["questions"]] == ["prompt of q1?", "prompt of q2?"]
    assert data.asked[1:] == [(2, False)]


def test_without_questions_there_is_no_file_of_them() -> None:
    assert list(made([made_up_entry("m", {})])) == ["index.js", "model-0.js"]


def test_letters_are_one_text_with_the_right_ones_first() -> None:
    entry = letters({"q1": "BAB", "q2": "CBB", "q3": "AAA"})
    replies = {id: ("said",) * 3 for id in ("q1", "q2", "q3")}
    material = QuestionTexts("Which?", (), "A")
    (shard,) = shards_of([entry], Data({"m": replies}, materials=dict.fromkeys(replies, material)))
    assert [answer(shard, row, 0) for row in range(3)] == [
        ("33.3%", score_character(1 / 3), "ABB"), ("0.0%", "0", "BBC"), ("100.0%", "9", "AAA"),
    ]  # fmt: skip
    assert {(row["text"], row["right"]) for row in questions_of([shard])} == {
        (f"prompt of q{number}?", "A") for number in (1, 2, 3)
    }


def test_the_right_letters_come_first_also_where_they_are_not_the_first_of_the_alphabet() -> None:
    (shard,) = shards_of([letters({"q1": "DACA"}, right="C")], Data({"m": {"q1": ("said",) * 4}}, "C"))
    found = answer(shard, 0, 0)
    assert found is not None and found[::2] == ("25.0%", "CAAD")


def test_what_is_no_letter_has_its_text_and_its_mark() -> None:
    entry = letters({"q1": "A!", "q2": "AB"})
    (shard,) = shards_of([entry], Data({"m": {"q1": ("a", "b"), "q2": ("a", "b")}}))
    found = answer(shard, 0, 0)
    assert found is not None and found[2] == [["A", "✓"], ["no reply", ""]]
    found = answer(shard, 1, 0)
    assert found is not None and found[2] == "AB"


def test_answers_that_are_judged_have_their_text_cut_and_the_mark_of_the_score() -> None:
    entry = made_up_entry("m", {"q1": 1.0})
    (shard,) = shards_of([entry], Data({"m": {"q1": ("word " * 20,)}}))
    found = answer(shard, 0, 0)
    assert found is not None and found[:2] == ("100.0%", "9")
    (((text, sign),),) = (found[2],)  # type: ignore[misc]
    assert sign == "✓" and text == ("word " * 20)[:49] + "…"


def test_models_that_answered_alike_share_one_answer_and_who_may_not_be_told_has_none() -> None:
    entries = [letters({"q1": "AB"}, name) for name in ("a", "b", "c")]
    (shard,) = shards_of(entries, Data({name: {"q1": ("x", "y")} for name in "ab"}))
    (question,) = shard.content["questions"]
    assert question["who"] == [0, 0, 1] and len(question["answers"]) == 2
    assert [answer(shard, 0, model) for model in range(3)] == [
        ("50.0%", score_character(0.5), "AB"),
        ("50.0%", score_character(0.5), "AB"),
        ("50.0%", score_character(0.5), None),
    ]


def test_what_may_not_be_told_has_scores_and_nothing_else() -> None:
    (shard,) = shards_of([letters({"q1": "A"})], Data())
    (question,) = shard.content["questions"]
    assert set(question) == {"id", "answers", "who"}


def test_options_stand_with_their_letters_where_the_prompt_has_them_so() -> None:
    data = Data({"m": {"q1": ("A",)}}, materials={"q1": QuestionTexts("Which?", ("left", "right"), "A")})
    data.logs.of = lambda entry, ids: {id: ShownAnswer("Which?\nA. left\nB. right", "A", ("A",)) for id in ids}  # type: ignore[method-assign]
    (shard,) = shards_of([letters({"q1": "A"})], data)
    (question,) = shard.content["questions"]
    assert (question["text"], question["options"]) == ("Which?", [["A", "left"], ["B", "right"]])


def test_pictures_and_the_note_on_them_stand_with_the_question() -> None:
    picture = SiteImage("images/x.png", "clean", "An image", 30, 20)
    materials = {"q1": QuestionTexts("Which?", ("yes", "no"), "A", (picture,), "a note")}
    (shard,) = shards_of([letters({"q1": "A", "q2": "A"})], Data({"m": {}}, materials=materials))
    one, two = shard.content["questions"]
    assert one["pictures"] == [["images/x.png", "clean", "An image", 30, 20]] and one["note"] == "a note"
    assert not {"pictures", "note", "text"} & set(two)


@pytest.mark.parametrize(
    ("models", "length"),
    [
        (1, 2_000),
        (5_000, 2_000),  # 30,000 replies: 60,000,000 / 30,000
        (50_000, 200),
        (100_000, 100),
        (1_000_000, 60),
    ],
)
def test_replies_are_cut_so_that_those_of_a_suite_stay_below_sixty_megabytes(models: int, length: int) -> None:
    entry = letters(dict.fromkeys(("q1", "q2", "q3", "q4", "q5", "q6"), "A"))
    assert reply_length([entry] * models) == length
    assert length == 60 or length * 6 * models <= 60_000_000


def test_without_entries_replies_may_be_as_long_as_they_can_be() -> None:
    assert reply_length([]) == 2_000


def test_tags_that_divide_the_questions_are_those_of_the_entry_with_most_and_blank_where_it_has_none() -> None:
    few = made_up_entry("a", {"q2": 1.0}, tags={"modality": ["XR"]})
    most = made_up_entry(
        "b", {"q1": 1.0, "q3": 0.0, "q4": 1.0}, tags={"modality": ["CT", "MRI", None], "same": ["x"] * 3}
    )
    found = shown_tags([few, most], np.array(["q1", "q2", "q3", "q4"]), np.arange(4))
    # q2 is no question of the larger entry, and q4 has no value.
    assert found == {"modality": {"values": ["", "CT", "MRI"], "words": ["", "CT", "MRI"], "codes": [1, 0, 2, 0]}}


def test_forty_values_are_groups_and_more_name_questions() -> None:
    def of(values: int) -> object:
        names = [f"q{number:02}" for number in range(values)]
        return shown_tags(
            [made_up_entry("m", dict.fromkeys(names, 1.0), tags={"name": names})],
            np.array(names),
            np.arange(len(names)),
        )

    assert len(of(40)["name"]["values"]) == 41 and of(41) == {}  # type: ignore[index]


def test_numbers_count_as_numbers_and_equal_ones_keep_an_order_of_their_own() -> None:
    names = ["q10", "q9", "x", "q010", "", "10", "9a", "q1/2", "q1/10", "q" + "9" * 5000, "q" + "1" * 5001]
    found = [names[place] for place in question_files.natural_order(np.array(names))]
    assert found[:8] == ["", "9a", "10", "q1/2", "q1/10", "q9", "q010", "q10"]
    assert [len(name) for name in found[8:]] == [5001, 5002, 1]
