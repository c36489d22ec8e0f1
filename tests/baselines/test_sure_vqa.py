"""The baselines on SURE-VQA's questions: yes and no, open ones, and training questions of the shift at hand."""

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.stats import chisquare

from lmms_medtasks.baselines.most_frequent import MostFrequentAnswer, read_pairs
from lmms_medtasks.baselines.observer import PhantomObserver
from lmms_medtasks.baselines.read_prompts import read_prompt
from lmms_medtasks.data import mini
from lmms_medtasks.harness.baseline_models import RandomModel
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.sure_vqa import hooks, source_shifts
from tools.mini import phantoms, sure_vqa

SETTINGS = {"prompt": "sure_vqa/prompt.txt"}


def prompt(question, choices=""):
    return hooks.doc_to_text({"question": question, "choices": choices}, SETTINGS)


def test_the_question_is_read_without_the_line_that_names_the_options():
    assert read_prompt(prompt("Is it large?", "yes | no")).question == "Is it large?"
    assert read_prompt(prompt("Is it, yes or no, large?")).question == "Is it, yes or no, large?"


def test_most_frequent_answers_open_questions_with_their_own_training_answers_only():
    model = MostFrequentAnswer([("Where?", "Left"), ("Where?", "right"), ("where? ", "left"), ("What?", "no")])
    assert model.answer("Where?") == ("Left", True)
    assert model.answer(prompt("What?", "yes | no")) == ("no", True)
    # No match is no answer, though "left" is the most frequent of all.
    assert model.answer("Who?") == ("", False)


def test_what_is_out_of_distribution_is_never_trained_on():
    path = mini.mini_file("sure_slake", "train")
    shift = source_shifts.get("sure_slake_modality")
    every, of_shift = read_pairs(path), read_pairs(path, shift)
    rows = pq.read_table(path, columns=["question", "modality"]).to_pylist()
    assert len(every) == len(rows)
    assert [question for question, _ in of_shift] == [row["question"] for row in rows if row["modality"] != "X-Ray"]


@pytest.mark.parametrize("kind", ["closed", "open"])
def test_the_observer_answers_the_mini_datas_questions_from_pixels(kind):
    observer, right, asked = PhantomObserver(), 0, 0
    for picture in sure_vqa._pictures("another set", "test", ("MRI",), 6):
        image = Image.fromarray(phantoms.draw(picture.modality, picture.facts, picture.rng()))
        for entry, answer in sure_vqa._asked(picture):
            if entry.kind == kind:
                reply = observer.answer(
                    image, prompt(entry.question.text, " | ".join(entry.choices)), 0, seeded_generator(0)
                )
                right += reply == answer
                asked += 1
    assert right / asked > 0.85


def test_the_observer_guesses_where_it_knows_nothing():
    image = Image.fromarray(np.zeros((32, 32), np.uint8))
    asked = prompt("Is this the chest X-ray of a man?", "yes | no")
    replies = {PhantomObserver().answer(image, asked, 0, seeded_generator(seed)) for seed in range(20)}
    assert replies == {"yes", "no"}
    assert PhantomObserver().answer(image, prompt("Who took this picture?"), 0, seeded_generator(0)) == ""


def test_random_draws_one_of_the_options_that_only_the_document_lists():
    question = "Which, edema or effusion?"
    choices = ["edema", "effusion", "both", "none"]
    listed = {"question": [question, "Where?"], "choices": [" | ".join(choices), ""]}
    model = RandomModel()
    model._start_task("a_task", datasets.Dataset.from_dict(listed))
    drawn = [model.reply(question, [], 0.0, seeded_generator("test", number)) for number in range(1000)]
    assert set(drawn) == set(choices)
    assert chisquare([drawn.count(choice) for choice in choices]).pvalue > 0.001
    assert model.reply("Where?", [], 0.0, seeded_generator("test")) == ""
    assert model.reply(prompt("Is it?", "yes | no"), [], 0.0, seeded_generator("test")) in ("yes", "no")
    model._start_task("another", datasets.Dataset.from_dict({"question": [question]}))
    assert model.reply(question, [], 0.0, seeded_generator("test")) == ""
