"""The torch path gives what the compiled loops give, within its stated tolerance, for every image of a batch."""

import numpy as np
import pytest
import torch

from lmms_medtasks import degradations
from lmms_medtasks.degradations import ct, tomography, tomography_torch
from lmms_medtasks.degradations.tomography import Scan
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator

ANGLES = tuple(np.deg2rad(np.arange(0, 360, 11.25)).tolist())
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def batch(count, shape):
    return np.stack([generator("batch", k).random(shape) for k in range(count)]).astype(np.float32)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(40, 40), (23, 41), (1, 5), (1, 1)])
@pytest.mark.parametrize(("distance", "weights"), [(1.035, "plain"), (1.5, "exact"), (np.inf, "plain")])
def test_equals_the_compiled_loops(device, shape, distance, weights):
    images = batch(3, shape)
    side = max(shape)
    scan = Scan(ANGLES, distance * side, max(1, round(1.4 * side)))
    views = tomography_torch.project(torch.from_numpy(images).to(device), scan)
    back = tomography_torch.reconstruct(views, scan, shape, weights)
    assert back.device.type == device and back.dtype == torch.float32
    for image, its_views, its_back in zip(images, views.cpu().numpy(), back.cpu().numpy(), strict=True):
        expected = tomography.project(image, scan)
        np.testing.assert_allclose(its_views, expected, atol=1e-5 * side)
        expected = tomography.reconstruct(expected, scan, shape, weights)
        np.testing.assert_allclose(its_back, expected, atol=tomography_torch.TOLERANCE)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["limited_angle", "sparse_view", "low_dose"])
def test_a_batch_is_each_image_alone(device, name):
    images = batch(4, (48, 48))
    y, x = np.mgrid[:48, :48] - 23.5
    images[1] *= np.hypot(y, x) < 18  # inside the small field of view; the others get the wide scan
    size = (48, 48)
    records = [degradations.sample(name, severity=1 + k % 2, seed=k, size=size, modality="CT") for k in range(4)]
    together = ct.apply_batch(torch.from_numpy(images).to(device), records).cpu().numpy()
    for image, record, result in zip(images, records, together, strict=True):
        alone = degradations.get(name).apply(image, record)
        np.testing.assert_allclose(result, alone, atol=tomography_torch.TOLERANCE)


def test_a_record_for_every_image():
    record = degradations.sample("sparse_view", severity=1, seed=0, size=(8, 8), modality="CT")
    with pytest.raises(UserError, match="2 images needs a record, got 1"):
        ct.apply_batch(torch.zeros(2, 8, 8), [record])
