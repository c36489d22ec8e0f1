"""Speed of all degradations, side by side with public peers, through the public interface.

    OMP_NUM_THREADS=2 python benchmarks/degradations.py [--size 512] [--repeats 7] [--name NAME]... [--json FILE]

Every number is the shortest of the repeats after one run to warm up, in milliseconds, for one image; the first call,
with imports and compilation, stands apart. Peers are those of benchmarks/requirements.txt that are installed; missing
ones are named. A peer is timed with the numbers of our level 2 where it takes them, on the same image, in this process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keeping
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.seeding import seeded_generator

Pixels = NDArray[np.uint8]
Call = Callable[[], Any]

CT = ("limited_angle", "sparse_view", "low_dose")

# A modality in which each is at home; general ones on X-ray, the largest images.
HOME = {"CT": "CT", "MRI": "MRI", "Histopathology": "Histopathology"}


@dataclass(frozen=True)
class Peer:
    """Another library doing the same as ``name`` at level 2; ``prepare`` raises ImportError where it is missing."""

    label: str
    name: str
    prepare: Callable[[Pixels, Pixels], Call]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    options = parser.parse_args()
    grey = phantom(options.size)
    colour = np.stack([grey, np.roll(grey, 7, 0), np.roll(grey, 7, 1)], axis=2)
    names = [name for name in degradations.names() if not options.name or name in options.name]
    ours = _ours(names, grey, colour, options.repeats)
    peers = _peers(names, ours, grey, colour, options.repeats)
    if options.json:
        options.json.write_text(json.dumps({"size": options.size, "ours": ours, "peers": peers}, indent=2))
    return 0


def phantom(size: int) -> Pixels:
    """A body with organs, edges, texture and a dark background, (size, size), 8 bits."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    image = np.zeros((size, size))
    for value, cy, cx, ry, rx in (
        (120, 0, 0, 0.8, 0.6), (60, -0.2, -0.25, 0.4, 0.2), (60, -0.2, 0.25, 0.4, 0.2),
        (200, 0.5, 0, 0.12, 0.12), (160, 0.1, 0.05, 0.1, 0.15),
    ):  # fmt: skip
        image[((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1] = value
    image += (image > 0) * seeded_generator("benchmark phantom").normal(0, 6, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def _best(call: Call, repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def _ours(names: list[str], grey: Pixels, colour: Pixels, repeats: int) -> list[dict[str, Any]]:
    print(f"milliseconds for {grey.shape[0]} x {grey.shape[1]} pixels")
    print(f"{'ours':26}{'modality':16}{'L1 grey':>9}{'L2 grey':>9}{'L2 RGB':>9}{'first':>9}")
    rows = []
    for name in names:
        for modality in _modalities(name):
            start = time.perf_counter()
            _call(grey, name, 2, modality)()
            first = 1000 * (time.perf_counter() - start)
            row: dict[str, Any] = {"name": name, "modality": modality, "first": first}
            row["L1"], row["L2"] = (_best(_call(grey, name, level, modality), repeats) for level in (1, 2))
            row["L2_rgb"] = _best(_call(colour, name, 2, modality), repeats)
            cells = "".join(f"{row[key]:9.1f}" for key in ("L1", "L2", "L2_rgb", "first"))
            print(f"{name:26}{modality:16}{cells}", flush=True)
            rows.append(row)
    if rows:
        means = (statistics.mean(row[key] for row in rows) for key in ("L1", "L2", "L2_rgb"))
        print(f"{'mean':42}{''.join(f'{mean:9.1f}' for mean in means)}")
    return rows


def _modalities(name: str) -> list[str]:
    """Where ``name`` is timed: its own modality, or X-ray and one that has other numbers or another operator."""
    allowed = degradations.modalities_of(name)
    if len(allowed) == 1:
        return [HOME[allowed[0]]]
    return ["X-ray", "MRI"] if name in ("object_movement", "motion_blur", "low_resolution") else ["X-ray"]


def _call(image: Pixels, name: str, level: int, modality: str) -> Call:
    return lambda: degradations.apply(image, name, severity=level, seed=0, modality=modality)


def _peers(
    names: list[str], ours: list[dict[str, Any]], grey: Pixels, colour: Pixels, repeats: int
) -> list[dict[str, Any]]:
    print(f"\n{'peer':38}{'of':24}{'peer':>9}{'ours':>9}{'times faster':>14}")
    rows: list[dict[str, Any]] = []
    for peer in (p for p in PEERS if p.name in names):
        try:
            theirs = _best(peer.prepare(grey, colour), repeats)
        except ImportError as error:
            print(f"{peer.label:38}{peer.name:24}  not installed ({str(error).splitlines()[0]})")
            continue
        except Exception as error:  # another project's code with other versions of its libraries
            print(f"{peer.label:38}{peer.name:24}  does not run ({type(error).__name__}: {error})")
            continue
        key = "L2_rgb" if "RGB" in peer.label else "L2"
        # MRI's own movement is TorchIO's counterpart; every other peer's is the first row.
        matching = [row for row in ours if row["name"] == peer.name]
        mine = (matching[-1] if peer.name == "object_movement" else matching[0])[key]
        rows.append({"peer": peer.label, "of": peer.name, "theirs": theirs, "ours": mine, "ratio": theirs / mine})
        print(f"{peer.label:38}{peer.name:24}{theirs:9.1f}{mine:9.1f}{theirs / mine:13.1f}x", flush=True)
    return rows


def _angles(name: str) -> NDArray[np.float64]:
    """As many angles as our level 2 has, over the half turn that a parallel beam needs."""
    views = degradations.sample(name, severity=2, seed=0, size=(512, 512), modality="CT").to_json()["views"]
    return np.arange(views) * 180.0 / views


def _fbp_skimage(name: str) -> Callable[[Pixels, Pixels], Call]:
    def prepare(grey: Pixels, _: Pixels) -> Call:
        from skimage.transform import iradon, radon

        angles = _angles(name)
        image = grey / 255.0
        return lambda: iradon(radon(image, angles, circle=False), angles, circle=False, output_size=len(image))

    return prepare


def _fbp_astra(name: str) -> Callable[[Pixels, Pixels], Call]:
    def prepare(grey: Pixels, _: Pixels) -> Call:
        import astra

        size = len(grey)
        angles = np.deg2rad(_angles(name))
        volume = astra.create_vol_geom(size, size)
        projection = astra.create_proj_geom("parallel", 1.0, int(1.5 * size), angles)
        projector = astra.create_projector("linear", projection, volume)
        image = grey / np.float32(255)

        def call() -> Any:
            sinogram_id, sinogram = astra.create_sino(image, projector)
            result_id = astra.data2d.create("-vol", volume)
            config = astra.astra_dict("FBP")
            config.update(ReconstructionDataId=result_id, ProjectionDataId=sinogram_id, ProjectorId=projector)
            algorithm = astra.algorithm.create(config)
            astra.algorithm.run(algorithm)
            result = astra.data2d.get(result_id)
            astra.algorithm.delete(algorithm)
            astra.data2d.delete([sinogram_id, result_id])
            return result

        return call

    return prepare


def _torchio(build: Callable[[Any], Any]) -> Callable[[Pixels, Pixels], Call]:
    def prepare(grey: Pixels, _: Pixels) -> Call:
        import torch
        import torchio

        transform = build(torchio)
        volume = torchio.ScalarImage(tensor=torch.from_numpy(grey.astype(np.float32) / 255)[None, :, :, None])
        return lambda: transform(volume)

    return prepare


def _skimage_gaussian(_: Pixels, colour: Pixels) -> Call:
    from skimage.filters import gaussian

    return lambda: (gaussian(colour / 255.0, sigma=7, channel_axis=2) * 255).astype(np.uint8)


def _medmnistc(module: str, kind: str, strength: Any) -> Callable[[Pixels, Pixels], Call]:
    def prepare(_: Pixels, colour: Pixels) -> Call:
        import importlib

        # One module, not the package: the package wants a data set library of its own.
        corruption = getattr(importlib.import_module(f"medmnistc.corruptions.{module}"), kind)([strength])
        picture = Image.fromarray(colour)
        return lambda: corruption.apply(picture, 0)

    return prepare


PEERS = (
    *(Peer("scikit-image radon+iradon", name, _fbp_skimage(name)) for name in CT),
    *(Peer("ASTRA CPU projector+FBP", name, _fbp_astra(name)) for name in CT),
    Peer("TorchIO RandomBiasField", "bias_field_artifact", _torchio(lambda t: t.RandomBiasField())),
    Peer("TorchIO RandomGhosting", "ghosting_artifact", _torchio(lambda t: t.RandomGhosting(num_ghosts=6))),
    Peer("TorchIO RandomMotion", "object_movement", _torchio(lambda t: t.RandomMotion(num_transforms=4))),
    Peer("MedMNIST-C GaussianNoise, RGB", "gaussian_noise", _medmnistc("noise", "GaussianNoise", 0.2)),
    Peer("scikit-image gaussian, RGB", "gaussian_blur", _skimage_gaussian),
    Peer("MedMNIST-C GaussianBlur, RGB", "gaussian_blur", _medmnistc("filter", "GaussianBlur", 25)),
    Peer("MedMNIST-C MotionBlur, RGB", "motion_blur", _medmnistc("filter", "MotionBlur", (10, 3))),
)


if __name__ == "__main__":
    sys.exit(keeping.run(main))
