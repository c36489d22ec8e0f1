"""The prompt and the pictures of SURE-VQA's tasks."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.harness.hooks import RENDERED
from lmms_medtasks.task_configs.sure_vqa import hooks

SETTINGS = {"prompt": "sure_vqa/prompt.txt", "rendered": True}


def doc(**changes):
    image = Image.fromarray(np.tile(np.arange(64, dtype=np.uint8) * 2, (64, 1)))
    return {"id": "test/1", "question": "Is {it} so?", "choices": "yes | no", "image": image, "images": [], **changes}


def test_a_question_of_yes_or_no_names_the_two_options():
    assert hooks.doc_to_text(doc(), SETTINGS) == "Is {it} so?\nPlease choose one of the two options: yes or no."


@pytest.mark.parametrize("choices", ["", "CT | X-Ray", "edema | a mass | both | none"])
def test_any_other_question_stands_as_it_is(choices):
    assert hooks.doc_to_text(doc(choices=choices), SETTINGS) == "Is {it} so?"


def test_the_target_is_no_text_of_the_data():
    assert hooks.doc_to_target(doc(answer="yes")) == ""


def test_a_picture_without_corruption_is_shown_as_it_is():
    (shown,) = hooks.doc_to_visual(doc(), SETTINGS)
    assert shown.mode == "RGB"
    assert np.array_equal(np.asarray(shown)[..., 0], np.asarray(doc()["image"]))


def test_a_corruption_depends_on_question_strength_and_seed_alone():
    def shown(settings=SETTINGS, **changes):
        corrupted = {"corruption": "high", "question_id": "test/1", **changes}
        (picture,) = hooks.doc_to_visual(doc(id="test/1/high", **corrupted), settings)
        return np.asarray(picture)

    first = shown()
    assert np.array_equal(first, shown())
    assert not np.array_equal(first, shown(question_id="test/2"))
    assert not np.array_equal(first, shown({**SETTINGS, "seed": 1}))
    assert not np.array_equal(first, shown(corruption="low"))
    (parameters,) = RENDERED.get("test/1/high")
    assert {"blur_size", "brightness", "noise_mean"} <= set(parameters)


@pytest.mark.parametrize("corruption", ["", "low"])
def test_without_the_image(corruption):
    found = doc(corruption=corruption, question_id="test/1")
    assert hooks.doc_to_visual(found, {**SETTINGS, "no_image": True}) == []
    assert hooks.doc_to_text(found, {**SETTINGS, "no_image": True}) == hooks.doc_to_text(found, SETTINGS)
