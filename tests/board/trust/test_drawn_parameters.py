"""The bounds of recorded parameters let everything pass that is drawn."""

import json

import pytest

from lmms_medtasks import degradations
from lmms_medtasks.board.trust import drawn_parameters
from lmms_medtasks.degradations import registry
from lmms_medtasks.errors import UserError


@pytest.mark.parametrize("name", registry.names())
def test_what_is_drawn_is_within_the_bounds(name):
    for modality in (None, *registry.modalities()):
        for size in ((8, 8), (40, 600), (4096, 4000)):
            for level in ({"severity": 1}, {"severity": 2}, {"strength": 0.5}, {"strength": 3.0, "lengths": "share"}):
                for seed in range(2):
                    drawn = degradations.sample(name, seed=seed, size=size, modality=modality, **level)
                    drawn_parameters.check_drawn_parameters(
                        name, json.loads(json.dumps(drawn.to_json())), size, modality
                    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("blood_cell_artifact", {"cells": [[1, 1, 1e6, 1, 1, 1]]}),
        ("blood_cell_artifact", {"cells": [[1, 1, 9, 1, 1, 1]] * 10_000}),
        ("sparse_view", {"views": 10**8}),
        ("undersampling_artifact", {"lines": ["f" * 10**6]}),
        ("gaussian_blur", {"sigma": 1.0, "mixed_with": {"sigma": 1e6}}),
        ("low_resolution", {"factor": 1e-3}),
        ("sparse_view", {"widened": 200}),
        ("gaussian_noise", {"noise_seed": 1.5}),
    ],
)
def test_what_is_far_beyond_is_refused(name, parameters):
    with pytest.raises(UserError, match="the parameter"):
        drawn_parameters.check_drawn_parameters(name, parameters, (256, 256), None)
