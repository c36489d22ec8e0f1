"""Pictures of any kind degraded: what comes back, what is drawn, and that no worker, batch or order changes it."""

import pickle

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader

import lmms_medtasks as mt
from lmms_medtasks.degradations import images, own_modalities
from lmms_medtasks.harness import degraded_names, degraded_pictures

NOISE = {"name": "gaussian_noise", "severity": 2}


def pixels(count=None, shape=(24, 20, 3), dtype=np.uint8):
    values = np.random.default_rng(5).integers(0, 256, (*(() if count is None else (count,)), *shape))
    scale = {"f": 1 / 255, "u": 257 if dtype == np.uint16 else 1, "b": 1}[np.dtype(dtype).kind]
    return (values * scale).astype(dtype)


def noisy(images, **options):
    return mt.degrade(images, **{**NOISE, **options})


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64, bool])
@pytest.mark.parametrize("shape", [(24, 20), (24, 20, 1), (24, 20, 3), (24, 20, 4)])
def test_an_array_keeps_shape_and_dtype_and_is_not_changed(shape, dtype):
    clean = pixels(shape=shape, dtype=dtype)
    kept = clean.copy()
    found = mt.degrade(clean, "gaussian_blur", severity=2)
    assert found.shape == shape and found.dtype == dtype and not np.shares_memory(found, clean)
    assert (clean == kept).all()


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.uint16, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool]
)
@pytest.mark.parametrize("shape", [(24, 20), (1, 24, 20), (3, 24, 20), (2, 3, 24, 20)])
def test_a_tensor_keeps_shape_and_dtype_and_is_not_changed(shape, dtype):
    values = torch.from_numpy(pixels(shape=shape, dtype=np.float64))
    clean = (values if dtype.is_floating_point else values * 255).to(dtype)
    kept = clean.clone()
    found = mt.degrade(clean, "gaussian_blur", severity=2)
    assert found.shape == shape and found.dtype == dtype and found.is_contiguous()
    assert torch.equal(clean, kept) and (dtype == torch.bool or not torch.equal(found, clean))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "CMYK", "I;16", "F"])
def test_a_pil_image_keeps_mode_and_size(mode):
    source = Image.fromarray(pixels())
    clean = Image.fromarray(pixels(shape=(24, 20), dtype=np.uint16)) if mode == "I;16" else source.convert(mode)
    clean = clean.point(lambda value: value / 255) if mode == "F" else clean
    before = clean.tobytes()
    found = noisy(clean)
    assert (found.mode, found.size) == (clean.mode, clean.size) and clean.tobytes() == before


@pytest.mark.parametrize(("mode", "shape", "dtype"), [
    ("L", (24, 20), np.uint8), ("RGB", (24, 20, 3), np.uint8), ("RGBA", (24, 20, 4), np.uint8),
    ("LA", (24, 20, 2), np.uint8), ("I;16", (24, 20), np.uint16), ("F", (24, 20), np.float32), ("1", (24, 20), bool),
])  # fmt: skip
def test_the_same_picture_in_any_form_gets_the_same_pixels(mode, shape, dtype):
    array = pixels(shape=shape, dtype=dtype)
    image = Image.fromarray(array)
    assert image.mode == mode and images.pixel_digest(image) == images.pixel_digest(array)
    tensor = torch.from_numpy(array if array.ndim == 2 else np.moveaxis(array, -1, 0).copy())
    expected = noisy(array)
    assert (np.asarray(noisy(image)) == expected).all()
    found = noisy(tensor).numpy()
    assert ((found if array.ndim == 2 else np.moveaxis(found, 0, -1)) == expected).all()


def test_a_picture_in_a_batch_or_list_is_degraded_as_alone():
    batch = pixels(3)
    alone = [noisy(each) for each in batch]
    assert all((one == other).all() for one, other in zip(noisy(batch), alone, strict=True))
    assert all((one == other).all() for one, other in zip(noisy(list(batch[::-1])), alone[::-1], strict=True))
    tensors = torch.from_numpy(np.moveaxis(batch, -1, 1).copy())
    assert (np.moveaxis(noisy(tensors).numpy(), 1, -1) == np.stack(alone)).all()
    mixed = noisy((batch[0], [Image.fromarray(batch[1]), tensors[:2]]))
    assert isinstance(mixed, tuple) and isinstance(mixed[1], list)
    assert (np.asarray(mixed[1][0]) == alone[1]).all() and mixed[1][1].shape == (2, 3, 24, 20)


def test_it_is_what_a_degraded_task_shows():
    picture = Image.fromarray(pixels())
    for seed in (0, 7):
        order = degraded_names.DegradationRequest("gaussian_noise", "2", seed=seed)
        shown, _ = degraded_pictures.degrade_as_requested(picture, images.pixel_digest(picture), order, None)
        assert noisy(picture, seed=seed).tobytes() == shown.tobytes()


def test_seed_and_key_decide_the_draw():
    batch = pixels(2)
    assert (noisy(batch, seed=1) != noisy(batch, seed=2)).any()
    twice = np.stack([batch[0], batch[0]])
    assert (noisy(twice)[0] == noisy(twice)[1]).all()  # equal pixels, equal draw
    apart = noisy(twice, key=["case 1", "case 2"])
    assert (apart[0] != apart[1]).any()
    assert (apart[1] == noisy(twice[1], key="case 2")).all()
    assert (noisy(twice, key="case 2")[0] == apart[1]).all()


def test_level_0_is_a_copy_and_strength_2_is_severity_2():
    clean = pixels()
    copy = mt.degrade(clean, "motion_blur", severity=0)
    assert (copy == clean).all() and not np.shares_memory(copy, clean)
    assert (noisy(clean, severity=None, strength=2.0) == noisy(clean)).all()


@pytest.mark.parametrize(("images", "said"), [
    (np.zeros((5, 24, 20), np.uint8), r"\(5, 24, 20\).*images\[\.\.\., None\]"),
    (np.zeros((3, 24, 20), np.uint8), "np.moveaxis"),
    (np.zeros((2, 2, 24, 20, 3), np.uint8), r"shape \(2, 2, 24, 20, 3\)"),
    (torch.zeros(24, 20, 3), r"permute\(2, 0, 1\)"),
    (torch.zeros(5, 24, 20), r"images\[:, None\]"),
    (torch.zeros(24), r"got \(24,\)"),
    (np.zeros((4, 4)).astype(int), "int64"),
    (torch.full((2, 3, 4, 4), 2.0), r"Image 0 of the batch.*from 2 to 2"),
    ([np.zeros((4, 4), np.uint8), "a.png"], "Item 1: .*Got str"),
    (None, "Got NoneType"),
])  # fmt: skip
def test_what_is_no_picture_is_refused(images, said):
    with pytest.raises(mt.UserError, match=said):
        noisy(images)


@pytest.mark.parametrize(("options", "said"), [
    ({"name": "gauss"}, "Unknown degradation 'gauss'"),
    ({"severity": 3}, "got 3"),
    ({"severity": None}, "neither"),
    ({"strength": 1.0}, "severity=2 and strength=1.0"),
    ({"seed": 1.5}, "1.5"),
    ({"modality": "CTT"}, "Unknown modality"), ({"modality": 3}, r"such as 'CT', got 3 \(int\)"),
    ({"name": "bubble", "modality": "CT"}, "not for 'CT'"),
])  # fmt: skip
def test_a_wrong_setting_is_refused_when_the_transform_is_made(options, said):
    with pytest.raises(mt.UserError, match=said):
        mt.Degrade(**{**NOISE, **options})


@pytest.mark.parametrize(("key", "said"), [
    (["a"], "1 keys for 2 images"), ([1.5, 2], "got 1.5"), ([True, 2], "True"), (1.5, "Image 0 .* got 1.5"),
])  # fmt: skip
def test_a_wrong_key_is_refused(key, said):
    with pytest.raises(mt.UserError, match=said):
        noisy(pixels(2), key=key)


def test_the_transform_can_be_read_compared_and_pickled():
    transform = mt.Degrade("sparse_view", severity=1, seed="a", modality="CT")
    assert repr(transform) == "Degrade('sparse_view', severity=1, seed='a', modality='CT')"
    assert eval(repr(transform), {"Degrade": mt.Degrade}) == transform == pickle.loads(pickle.dumps(transform))
    with pytest.raises(mt.UserError, match=r"new one: dataclasses.replace\(…, seed=…\)"):
        transform.seed = 1
    with pytest.raises(TypeError):
        transform(pixels(), "label")  # what a Compose of several inputs would hand over


def test_workers_of_a_data_loader_give_what_is_given_alone():
    """The transform collates: it is what a worker is sent. The workers are new processes."""
    pictures = [torch.from_numpy(each).permute(2, 0, 1) for each in pixels(4)]
    transform = mt.Degrade(**NOISE, seed=3)
    alone = [transform(each) for each in pictures]
    own = DataLoader(pictures, batch_size=2, collate_fn=transform)
    spawned = DataLoader(pictures, batch_size=2, collate_fn=transform, num_workers=2, multiprocessing_context="spawn")
    shuffled = DataLoader(pictures, sampler=[3, 1, 0, 2], batch_size=1, collate_fn=transform)
    for loader, order in ((own, (0, 1, 2, 3)), (spawned, (0, 1, 2, 3)), (shuffled, (3, 1, 0, 2))):
        found = [each for batch in loader for each in batch]
        assert all(torch.equal(one, alone[place]) for one, place in zip(found, order, strict=True))


def test_generators_of_the_process_are_left_alone():
    before = np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    noisy(pixels(2))
    after = np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    assert after[0] == before[0] and torch.equal(after[1], before[1])


def test_a_modality_of_a_file_stands_wherever_one_of_ours_does_also_in_a_pickled_transform(tmp_path, monkeypatch):
    monkeypatch.setattr(own_modalities, "_GIVEN", {})
    rows = "OCT:\n  levels:\n    gaussian_noise: {1: {sigma: 0.5}, 2: {sigma: 2.5}}\n"
    (tmp_path / "modalities.yml").write_text(rows, "utf-8")
    reference = f"{tmp_path / 'modalities.yml'}:OCT"
    transform = mt.Degrade("gaussian_noise", severity=2, modality=reference)
    clean = pixels(shape=(24, 20))
    found = pickle.loads(pickle.dumps(transform))(clean)
    assert (found == mt.degrade(clean, "gaussian_noise", severity=2, modality=reference)).all()
    assert (found != mt.degrade(clean, "gaussian_noise", severity=2)).any()
    assert "gaussian_noise" in mt.list_degradations(reference).name.tolist()
    with pytest.raises(mt.UserError, match="there is no file|There is no file"):
        mt.Degrade("gaussian_noise", severity=2, modality="nowhere/modalities.yml:OCT")
