"""The functions that YAMLs name, called as the harness calls them."""

import threading

import numpy as np
import pytest
import torch
from PIL import Image

from lmms_medtasks import degradations, pictures
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.harness.hooks import RenderedParameters, TrialSeeder

OPTIONS = ["left", "right", "both"]


def document(**changes):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    base = {
        "id": "q1", "question": "Where?", "options": OPTIONS, "answer": "B", "image_id": "i1", "data": "mini",
        "modality": "X-ray", "degradation": "", "severity": 0, "image": Image.fromarray(pixels),
    }  # fmt: skip
    return {**base, **changes}


def test_prompt_takes_braces_and_placeholders_in_a_question_as_text():
    prompt = hooks.doc_to_text(
        document(question="Is {options} {x} in {question}?", options=["{question}", "no"]),
        {"prompt": "medq_deg/prompt.txt"},
    )
    assert "\nIs {options} {x} in {question}?\nA. {question}\nB. no\n" in prompt


@pytest.mark.parametrize("settings", [None, {}, {"prompt": "medq_deg/none.txt"}, {"prompt": "/none.txt"}])
def test_missing_prompt_is_named(settings):
    with pytest.raises(UserError, match="prompt"):
        hooks.doc_to_text(document(), settings)


def test_prompt_by_absolute_path(tmp_path):
    (tmp_path / "p.txt").write_text("{question}|{options}\n")
    assert hooks.doc_to_text(document(), {"prompt": str(tmp_path / "p.txt")}) == "Where?|A. left\nB. right\nC. both"


def test_clean_picture_is_untouched():
    doc = document()
    shown = hooks.doc_to_visual(doc)
    assert len(shown) == 1
    assert shown[0].mode == "RGB"
    assert (np.asarray(shown[0])[..., 0] == np.asarray(doc["image"])).all()


@pytest.mark.parametrize(("severity", "parameters"), [(0, {}), (1, {"offset": -75})])
def test_how_a_picture_was_seen_is_recorded(severity, parameters):
    """Twelve bits in sixteen, and transparent pixels: with the degradation's parameters, or alone."""
    wide = Image.fromarray(np.linspace(0, 4095, 64, dtype=np.uint16).reshape(8, 8))
    drawn = Image.new("RGBA", (8, 8), (9, 9, 9, 255))
    drawn.putpixel((0, 0), (9, 9, 9, 0))
    doc = document(images=[wide, drawn], degradation="adjust_brightness", severity=severity)
    del doc["image"]
    hooks.RENDERED.reset(["q1"])
    with pytest.warns(pictures.WindowWarning):
        shown = hooks.doc_to_visual(doc)
    assert np.asarray(shown[0]).max() == (255 if severity == 0 else 180)
    assert hooks.RENDERED.get("q1") == [
        {**parameters, "shown_as": {"window": [0, 4095]}},
        {**parameters, "shown_as": {"background": "white"}},
    ]


def test_the_size_of_a_picture_is_recorded_where_a_length_is_in_pixels():
    doc = document(degradation="gaussian_blur", severity=2)
    doc["image"] = Image.new("L", (1000, 700))
    hooks.RENDERED.reset(["q1"])
    hooks.doc_to_visual(doc)
    assert hooks.RENDERED.get("q1") == [{"sigma": 7.0, "shorter_side": 700, "length_share": 0.01}]


def pixels(doc, settings=None):
    return np.asarray(hooks.doc_to_visual(doc, settings)[0])


def test_degraded_by_the_documents_columns():
    doc = document(degradation="gaussian_noise", severity=2, question_id="q1")
    expected = degradations.apply(doc["image"], "gaussian_noise", severity=2, seed="q1/0/0", modality="X-ray")
    assert (pixels(doc)[..., 0] == np.asarray(expected)).all()
    assert (pixels(doc) == pixels(doc)).all()


def test_degraded_by_the_tasks_settings():
    settings = {"degradation": "gaussian_blur", "severity": 1}
    expected = degradations.apply(document()["image"], "gaussian_blur", severity=1, modality="X-ray")
    assert (pixels(document(), settings)[..., 0] == np.asarray(expected)).all()


def test_rendered_pictures_are_not_degraded_again():
    doc = document(degradation="gaussian_noise", severity=2)
    assert (pixels(doc, {"rendered": True})[..., 0] == np.asarray(doc["image"])).all()


def test_task_seed_and_question_move_the_draw():
    doc = document(degradation="gaussian_noise", severity=1)
    assert (pixels(doc) != pixels(doc, {"seed": 1})).any()
    assert (pixels(doc) != pixels({**doc, "id": "q2"})).any()


def test_several_pictures():
    doc = document()
    shown = hooks.doc_to_visual({**doc, "image": None, "images": [doc["image"], doc["image"]]})
    assert [image.mode for image in shown] == ["RGB", "RGB"]


def test_a_document_without_our_image_columns_is_refused_not_shown_without_pictures():
    doc = {key: value for key, value in document().items() if key != "image"}
    with pytest.raises(UserError, match=r"'q1' has no column image or images.*columns: .*picture"):
        hooks.doc_to_visual({**doc, "picture": document()["image"]})
    assert hooks.doc_to_visual({**doc, "picture": None}, {"no_image": True}) == []
    assert hooks.doc_to_visual({**doc, "image": None, "images": []}) == []  # a question without pictures


def test_trials_are_seeded_only_when_asked():
    import torch

    hooks.TRIALS.reset(["q1"])
    torch.manual_seed(5)
    untouched = torch.rand(2)
    torch.manual_seed(5)
    hooks.doc_to_visual(document())
    assert torch.equal(torch.rand(2), untouched)
    hooks.doc_to_visual(document(), {"seed_trials": True})
    first = torch.rand(2)
    hooks.doc_to_visual(document(), {"seed_trials": True})
    assert not torch.equal(torch.rand(2), first)


def test_trials_differ_and_questions_differ():
    seeder = TrialSeeder()
    seeds = [seeder.next_seed(question) for question in ("q1", "q1", "q1", "q2", "q2", "q2")]
    assert len(set(seeds)) == 6


def test_independent_of_the_order_of_questions():
    one, other = TrialSeeder(), TrialSeeder()
    first = {question: [one.next_seed(question) for _ in range(3)] for question in ("q1", "q2")}
    second = {"q2": [], "q1": []}
    for _ in range(3):
        for question in second:
            second[question].append(other.next_seed(question))
    assert first == second


def test_reset_starts_again():
    seeder = TrialSeeder()
    first = [seeder.next_seed("q1"), seeder.next_seed("q1")]
    other = seeder.next_seed("q2")
    seeder.reset(["q1"])
    assert [seeder.next_seed("q1"), seeder.next_seed("q1")] == first
    assert seeder.next_seed("q2") != other


def test_task_seed_moves_every_draw():
    assert TrialSeeder().next_seed("q1", 0) != TrialSeeder().next_seed("q1", 1)


def test_seeds_torch():
    seeder = TrialSeeder()
    seeder.seed_torch("q1")
    first = torch.rand(3)
    torch.rand(50)
    seeder.reset(["q1"])
    seeder.seed_torch("q1")
    assert torch.equal(torch.rand(3), first)


def test_threads_never_get_the_same_trial():
    seeder, seeds = TrialSeeder(), []
    workers = [threading.Thread(target=lambda: seeds.append(seeder.next_seed("q"))) for _ in range(32)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(seeds)) == 32


def test_parameters_of_a_question_in_the_order_of_its_pictures():
    rendered = RenderedParameters()
    rendered.put("q", 1, {"sigma": 2})
    rendered.put("q", 0, {"sigma": 1})
    rendered.put("q", 0, {"sigma": 1})
    assert rendered.get("q") == [{"sigma": 1}, {"sigma": 2}]
    assert rendered.get("other") == []
    rendered.reset(["q", "other"])
    assert rendered.get("q") == []


def test_tasks_of_a_run_that_degrade_a_question_differently_keep_their_parameters_apart():
    rendered = RenderedParameters()
    rendered.put("q", 0, {"sigma": 1}, "noise 1")
    rendered.put("q", 0, {"factor": 2}, "blur 2")
    assert rendered.get("q", "noise 1") == [{"sigma": 1}] and rendered.get("q", "blur 2") == [{"factor": 2}]
    assert rendered.get("q") == [{"factor": 2}] and rendered.get("q", "exposure 1") == []
    rendered.put("q", 1, {"sigma": 3}, "noise 1")
    assert rendered.numbered("q") == {0: {"sigma": 1}, 1: {"sigma": 3}}
