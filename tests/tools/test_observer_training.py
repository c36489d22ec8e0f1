"""observer.json fits the phantoms as they are drawn now, and training repeats."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.baselines import observer
from lmms_medtasks.baselines.observer import FILTERS, FilteredImage, filter_responses
from lmms_medtasks.seeding import seeded_generator
from tools import observer_training
from tools.mini import phantoms

FRESH = 8


def test_there_are_filters_and_knowledge_for_every_fact_but_two():
    facts = {(modality, fact) for modality in phantoms.MODALITIES for fact in phantoms.facts_of(modality)}
    unknown = {("Dermoscopy", "structure"), ("Ultrasound", "shape")}
    assert set(FILTERS) == {tuple(name.split("/")) for name in observer.load_knowledge()}
    assert set(FILTERS) == (facts - unknown) | {("any", "modality")}


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_the_knowledge_fits_freshly_drawn_phantoms(modality):
    # Other pictures than those of the training and of the mini data; fails when phantoms or filters were changed
    # without training anew (python -m tools.observer_training).
    hits = []
    for number in range(FRESH):
        rng = seeded_generator("observer test", modality, number)
        facts = {name: str(rng.choice(values)) for name, values in phantoms.facts_of(modality).items()}
        view = FilteredImage(Image.fromarray(phantoms.draw(modality, facts, rng)))
        for fact, value in facts.items():
            if (fact, value) != ("mark", "none") and (modality, fact) in FILTERS:
                known = observer.load_knowledge()[f"{modality}/{fact}"]
                scores = observer.log_likelihoods(filter_responses(view, modality, fact), known)
                hits.append(max(scores, key=scores.get) == value)
    assert np.mean(hits) > 0.8


def test_training_repeats_and_has_the_form_that_the_observer_reads(tmp_path):
    first, again = (observer_training.train(["Ultrasound"], count=12) for _ in range(2))
    assert first == again
    observer_training.write(tmp_path / "observer.json", first)
    read = json.loads((tmp_path / "observer.json").read_text())
    assert read == first
    size = len(filter_responses(FilteredImage(Image.new("L", (200, 200))), "Ultrasound", "echo"))
    entry = read["Ultrasound/echo"]
    assert np.shape(entry["within"]) == (size, size)
    assert [len(mean) for mean in entry["means"].values()] == [size] * len(entry["means"])


def test_training_pictures_are_not_those_of_the_mini_data():
    from tools.mini import design

    facts, pixels = next(observer_training.training_pictures("CT", 1))
    assert facts["modality"] == "CT"
    for picture in design.pictures("CT", "mini")[:5]:
        drawn = phantoms.draw("CT", picture.facts, picture.rng())
        assert drawn.shape != pixels.shape or not np.array_equal(drawn, pixels)


def test_the_command_wants_one_file(capsys):
    assert observer_training.main([]) == 2
    assert "usage" in capsys.readouterr().err
