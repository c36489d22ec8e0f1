"""The observer for the bone phantoms: templates of every site and finding, correlated with the image.

An image is filtered to its edges and compared with the noiseless phantom of each site, finding, view and side at every
small shift (normalised cross-correlation); the best fit over views and sides is the score of a site and finding, summed
over a case's images. The observer knows the place and name of each finding, as a reader of a textbook does; from a
case's text it reads the site's name only. If the images show another site, it says so.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines.read_prompts import read_prompt
from lmms_medtasks.folders import read_yaml
from lmms_medtasks.task_configs.bones_joints import phantom as bone
from lmms_medtasks.task_configs.bones_joints.source_rows import HEADINGS

SIDE = 72
"""Pixels across the pictures that are compared."""
REACH = 6
"""Pixels that a picture may be shifted by."""

Plane = NDArray[np.float64]


@dataclass(frozen=True)
class Templates:
    """``keys``: site and finding of each; ``spectra``: their Fourier transforms, (n, SIDE, SIDE // 2 + 1)."""

    keys: tuple[tuple[str, str], ...]
    spectra: NDArray[np.complex128]


def phantom_texts() -> Mapping[str, Any]:
    """The texts of ``phantom_texts.yml``."""
    texts: dict[str, Any] = read_yaml(Path(__file__).with_name("phantom_texts.yml"))
    return texts


def observer_diagnosis(site: str, finding: str) -> str:
    """The experts' diagnosis of a finding: "Fracture at the knee"."""
    disease = str(phantom_texts()["diseases"][finding])
    return str(phantom_texts()["diagnosis"]).format(Disease=disease[:1].upper() + disease[1:], site=site)


@functools.cache
def reference_templates() -> Templates:
    """The noiseless phantoms of all sites, findings, views and sides."""
    grid = canvas.make_grid(bone.SIZE)
    phantoms = [dict(zip(bone.FACTS, values, strict=True)) for values in itertools.product(*bone.FACTS.values())]
    spectra = [np.conj(np.fft.rfft2(_edge_detail(bone.render_phantom(facts, grid)))) for facts in phantoms]
    return Templates(tuple((facts["site"], facts["finding"]) for facts in phantoms), np.stack(spectra))


def _edge_detail(picture: Plane) -> Plane:
    """The detail of middle size by which images are compared: (SIDE, SIDE), mean 0, norm 1."""
    size = picture.shape[0]
    small = ndimage.zoom(ndimage.gaussian_filter(picture, 0.5 * size / SIDE), SIDE / size, order=1)
    detail = small - ndimage.gaussian_filter(small, 6.0)
    detail -= detail.mean()
    return detail / max(float(np.linalg.norm(detail)), 1e-9)


def finding_scores(pictures: Sequence[Image.Image]) -> dict[tuple[str, str], float]:
    """(site, finding) -> the mean over the images of the best correlation, -1 to 1."""
    total: dict[tuple[str, str], float] = {}
    for picture in pictures:
        for key, value in _scores_of(picture.convert("L").resize((bone.SIZE, bone.SIZE)).tobytes()):
            total[key] = total.get(key, 0.0) + value / len(pictures)
    return total


@functools.lru_cache(maxsize=256)
def _scores_of(pixels: bytes) -> tuple[tuple[tuple[str, str], float], ...]:
    picture = np.frombuffer(pixels, dtype=np.uint8).reshape(bone.SIZE, bone.SIZE).astype(float)
    known = reference_templates()
    maps = np.fft.irfft2(np.fft.rfft2(_edge_detail(picture)) * known.spectra, s=(SIDE, SIDE))
    near = np.roll(maps, (REACH, REACH), axis=(1, 2))[:, : 2 * REACH + 1, : 2 * REACH + 1]
    best: dict[tuple[str, str], float] = {}
    for key, value in zip(known.keys, near.max(axis=(1, 2)).tolist(), strict=True):
        best[key] = max(best.get(key, -1.0), value)
    return tuple(best.items())


def observer_reply(pictures: Sequence[Image.Image], prompt: str) -> str | None:
    """The answer to a prompt of the bone phantoms' questions, from its images; None for any other prompt."""
    options = read_prompt(prompt).options
    findings = {disease: finding for finding, disease in phantom_texts()["diseases"].items()}
    if options and set(options.values()) <= set(findings):
        scores = finding_scores(pictures)
        by_letter = {
            letter: max(scores[site, findings[text]] for site in bone.SITES) for letter, text in options.items()
        }
        return max(by_letter, key=lambda letter: by_letter[letter])
    headings = tuple(f"{heading}: " for heading in HEADINGS.values())
    case = "\n".join(line for line in prompt.splitlines() if line.startswith(headings))
    sites = [site for site in bone.SITES if re.search(rf"\b{site}\b", case)]
    return None if options or len(sites) != 1 else _open_reply(finding_scores(pictures), sites[0], prompt)


def _open_reply(scores: Mapping[tuple[str, str], float], text_site: str, prompt: str) -> str:
    site, finding = max(scores, key=lambda key: scores[key])
    if site != text_site:
        return f"The images show the {site}, but the text is about the {text_site}: they do not belong together."
    case, instruction = phantom_texts()["cases"][finding], prompt.splitlines()[-1]
    short, label = observer_diagnosis(site, finding), "Diagnosis"
    if "treatment" in instruction:
        short, label = case["treatment"], "Treatment"
    if "step by step" not in instruction:
        return f"{short}."
    seen = " ".join(case["chain"][number - 1].format(site=site) + "." for number in case["image_steps"])
    return f"{seen} {label}: {short}."
