"""One degradation for several trials, in memory and on disk."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import picture_cache
from lmms_medtasks.degradations.picture_cache import DegradedImageCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator


def picture(mode="RGB", seed=0):
    image = Image.fromarray(seeded_generator("cache", seed).integers(0, 256, (20, 30, 3), dtype=np.uint8))
    if mode in ("I;16", "F"):
        grey = np.asarray(image.convert("L"))
        return Image.fromarray(grey.astype(np.uint16) * 257 if mode == "I;16" else grey.astype(np.float32) / 255)
    return image.quantize(16) if mode == "P" else image.convert(mode)


@pytest.fixture
def counted(monkeypatch):
    """How often a degradation was really computed."""
    calls = []
    compute = degradations.apply
    monkeypatch.setattr(degradations, "apply", lambda *a, **k: calls.append(k) or compute(*a, **k))
    return calls


def test_trials_cost_one_degradation(counted):
    kept = DegradedImageCache(10_000_000)
    results = [picture_cache.apply(picture(), "gaussian_noise", severity=1, seed="q", cache=kept) for _ in range(5)]
    assert len(counted) == 1
    assert len({result.tobytes() for result in results}) == 1
    results[0].paste(0, (0, 0, 30, 20))  # what is given out is one's own
    assert (
        picture_cache.apply(picture(), "gaussian_noise", severity=1, seed="q", cache=kept).tobytes()
        == results[1].tobytes()
    )


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"seed": "0"},
        {"severity": 2},
        {"modality": "X-ray"},
        {"name": "motion_blur"},
        {"image": picture(seed=1)},
    ],
)
def test_whatever_differs_is_computed_anew(counted, other):
    kept = DegradedImageCache(10_000_000)
    asked = {"image": picture(), "name": "gaussian_noise", "severity": 1, "seed": 0, "modality": None}
    for each in (asked, asked | other):
        each = dict(each)
        picture_cache.apply(each.pop("image"), each.pop("name"), **each, cache=kept)
    assert len(counted) == 2


def test_memory_is_bounded_and_the_latest_used_stay(counted):
    one = np.zeros((100, 100), np.uint8)
    kept = DegradedImageCache(25_000)  # two results of 10,000 bytes
    for seed in (0, 1, 0, 2, 0, 1):
        picture_cache.apply(one, "gaussian_noise", severity=1, seed=seed, cache=kept)
        assert kept._bytes <= 25_000
    # 0, 1 computed; 0 kept; 2 computed, 1 forgotten; 0 kept; 1 computed.
    assert [call["seed"] for call in counted] == [0, 1, 2, 1]


def test_an_image_larger_than_the_bound_is_not_kept():
    kept = DegradedImageCache(100)
    picture_cache.apply(np.zeros((100, 100), np.uint8), "exposure", severity=1, cache=kept)
    assert kept._bytes == 0


def test_threads_share_one_computation(counted):
    kept = DegradedImageCache(10_000_000)
    start = threading.Barrier(8)

    def ask(_):
        start.wait()
        return picture_cache.apply(picture(), "gaussian_blur", severity=2, cache=kept).tobytes()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert len(counted) == 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_disk_gives_back_every_mode(tmp_path, counted, mode):
    image = picture(mode)
    if mode == "P":
        image.info["transparency"] = bytes([0] + [255] * 15)
    first = picture_cache.apply(image, "motion_blur", severity=1, cache=DegradedImageCache(0, tmp_path))
    again = picture_cache.apply(image, "motion_blur", severity=1, cache=DegradedImageCache(0, tmp_path))
    assert len(counted) == 1
    assert (again.mode, again.size, again.tobytes()) == (first.mode, first.size, first.tobytes())
    assert again.getpalette() == first.getpalette()
    assert again.info == first.info


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.float32])
def test_disk_gives_back_arrays(tmp_path, counted, dtype):
    image = seeded_generator("cache").random((9, 8, 3)) > 0.5 if dtype is bool else np.ones((9, 8, 3), dtype)
    results = [
        picture_cache.apply(image, "exposure", severity=1, cache=DegradedImageCache(0, tmp_path)) for _ in range(2)
    ]
    assert len(counted) == 1
    assert np.array_equal(*results) and results[0].dtype == results[1].dtype == np.dtype(dtype)
    results[1][0] = 0  # may be written to


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: b"", lambda data: data[:-1] + b"\0", lambda data: b"x" + data]
)
def test_a_damaged_file_is_made_anew(tmp_path, counted, damage):
    expected = picture_cache.apply(picture(), "motion_blur", severity=1, cache=DegradedImageCache(0, tmp_path))
    (file,) = tmp_path.rglob("*.image")
    file.write_bytes(damage(file.read_bytes()))
    for _ in range(2):
        result = picture_cache.apply(picture(), "motion_blur", severity=1, cache=DegradedImageCache(0, tmp_path))
        assert result.tobytes() == expected.tobytes()
    assert len(counted) == 2
    assert len(list(tmp_path.rglob("*"))) == 2  # the folder of the key and the file: nothing temporary is left


WRITE = """
import sys
import numpy as np
from lmms_medtasks.degradations import picture_cache
for seed in range(12):
    kept = picture_cache.DegradedImageCache(0, sys.argv[1])
    picture_cache.apply(np.full((50, 50), 90, np.uint8), "object_rotation", severity=1, seed=seed, cache=kept)
"""


def test_processes_may_share_a_folder(tmp_path, counted):
    running = [subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    for seed in range(12):
        picture_cache.apply(
            np.full((50, 50), 90, np.uint8),
            "object_rotation",
            severity=1,
            seed=seed,
            cache=DegradedImageCache(0, tmp_path),
        )
    assert not counted
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 12


def test_level_0_and_errors_pass_through():
    image = picture()
    assert picture_cache.apply(image, "exposure", severity=0).tobytes() == image.tobytes()
    for wrong in ({"name": "exposur"}, {"severity": 4}, {"modality": "Xry"}):
        arguments = {"name": "exposure", "severity": 1} | wrong
        with pytest.raises(UserError):
            picture_cache.apply(image, arguments.pop("name"), **arguments)
    with pytest.raises(UserError, match="only for CT"):
        picture_cache.apply(image, "sparse_view", severity=1, modality="MRI")
    with pytest.raises(UserError, match="str"):
        picture_cache.apply("x.png", "exposure", severity=1)


def test_the_default_is_set_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(picture_cache.MEMORY_VARIABLE, "3")
    monkeypatch.setenv(picture_cache.FOLDER_VARIABLE, str(tmp_path))
    picture_cache.default_cache.cache_clear()
    try:
        kept = picture_cache.default_cache()
        assert (kept.max_bytes, kept.folder) == (3_000_000, tmp_path)
        picture_cache.apply(picture(), "exposure", severity=1)
        assert list(tmp_path.rglob("*.image"))
        monkeypatch.setenv(picture_cache.MEMORY_VARIABLE, "much")
        picture_cache.default_cache.cache_clear()
        with pytest.raises(UserError, match="'much'"):
            picture_cache.default_cache()
    finally:
        picture_cache.default_cache.cache_clear()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match=picture_cache.FOLDER_VARIABLE):
        picture_cache.apply(picture(), "exposure", severity=1, cache=DegradedImageCache(0, tmp_path))


def test_a_folder_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="degradation cache"):
        picture_cache.apply(picture(), "exposure", severity=1, cache=DegradedImageCache(0, file))
