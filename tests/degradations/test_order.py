"""Level 2 is further from the clean image than level 1, on every image of a broad set."""

import numpy as np
import pytest

from lmms_medtasks import degradations

CASES = [
    ("limited_angle", "CT"),
    ("sparse_view", "CT"),
    ("low_dose", "CT"),
    ("bias_field_artifact", "MRI"),
    ("undersampling_artifact", "MRI"),
    ("ghosting_artifact", "MRI"),
    ("object_movement", "MRI"),
    ("blood_cell_artifact", "Histopathology"),
    ("dark_spots_artifact", "Histopathology"),
    ("bubble", "Histopathology"),
    ("adjust_brightness", None),
    ("exposure", None),
    ("reduce_contrast", None),
    ("gaussian_noise", None),
    ("low_resolution", None),
    ("low_resolution", "X-ray"),
    ("motion_blur", None),
    ("motion_blur", "X-ray"),
    ("gaussian_blur", None),
]


def squared_error(clean, degraded):
    return float(np.square(clean.astype(np.float64) - degraded).mean())


@pytest.mark.parametrize(("name", "modality"), CASES)
def test_level_2_is_further(name, modality, broad_set):
    for kind, image in broad_set.items():
        for seed in range(4):
            first, second = (
                squared_error(image, degradations.apply(image, name, severity=level, seed=seed, modality=modality))
                for level in (1, 2)
            )
            # K-space lines in which a picture has nothing leave no more than rounding between the levels.
            assert first < second * (1.0005 if name == "undersampling_artifact" else 1), (kind, seed)
            # A small bubble may lie where a disc is flat, and then there is nothing to blur.
            assert first > 0 or name == "bubble", (kind, seed)


def test_movement_is_further_where_the_image_is_not_periodic(broad_set):
    for kind, image in broad_set.items():
        errors = np.array([
            [
                squared_error(image, degradations.apply(image, "object_movement", severity=level, seed=seed))
                for level in (1, 2)
            ]
            for seed in range(8)
        ])  # fmt: skip
        assert errors[:, 0].mean() < errors[:, 1].mean(), kind
