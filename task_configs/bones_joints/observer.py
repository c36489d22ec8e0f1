"""The observer for the bone phantoms: templates of every site and finding, correlated with the picture.

A picture is filtered to its edges and compared with the noiseless phantom of each site, finding, view and side at every
small shift (normalised cross-correlation); the best fit over views and sides is a site's and finding's score, summed
over a case's pictures. It knows where a finding lies at a site and what it is called, as a reader of a textbook does;
of a case's text it takes the site's name only. Where the pictures show another site it says so.
"""

from __future__ import annotations

import functools
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
    found: dict[str, Any] = read_yaml(Path(__file__).with_name("phantom_texts.yml"))
    return found


def observer_diagnosis(site: str, finding: str) -> str:
    """The experts' diagnosis of a finding: "Fracture at the knee"."""
    disease = str(phantom_texts()["diseases"][finding])
    return str(phantom_texts()["diagnosis"]).format(Disease=disease[:1].upper() + disease[1:], site=site)


@functools.cache
def reference_templates() -> Templates:
    """The noiseless phantoms of all sites, findings, views and sides."""
    grid, keys, planes = canvas.make_grid(bone.SIZE), [], []
    for site in bone.SITES:
        for finding in bone.FINDINGS:
            for view in bone.VIEWS:
                for side in bone.SIDES:
                    facts = {"site": site, "finding": finding, "view": view, "side": side}
                    keys.append((site, finding))
                    planes.append(np.conj(np.fft.rfft2(_edge_detail(bone.render_phantom(facts, grid)))))
    return Templates(tuple(keys), np.stack(planes))


def _edge_detail(picture: Plane) -> Plane:
    """What two pictures are compared by: (SIDE, SIDE), detail of middle size, mean 0 and norm 1."""
    small = ndimage.zoom(
        ndimage.gaussian_filter(picture, 0.5 * picture.shape[0] / SIDE), SIDE / picture.shape[0], order=1
    )
    detail = small - ndimage.gaussian_filter(small, 6.0)
    detail -= detail.mean()
    return detail / max(float(np.linalg.norm(detail)), 1e-9)


def finding_scores(pictures: Sequence[Image.Image]) -> dict[tuple[str, str], float]:
    """(site, finding) -> how well it explains the pictures: the mean over them of the best correlation, -1 to 1."""
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
    """The answer to a prompt of the bone phantoms' questions, from its pictures; None for any other prompt."""
    asked = read_prompt(prompt)
    findings = {disease: finding for finding, disease in phantom_texts()["diseases"].items()}
    if asked.options and set(asked.options.values()) <= set(findings):
        found = finding_scores(pictures)
        by_letter = {
            letter: max(found[site, findings[text]] for site in bone.SITES) for letter, text in asked.options.items()
        }
        return max(by_letter, key=lambda letter: by_letter[letter])
    text = _case_text(prompt)
    named = [site for site in bone.SITES if re.search(rf"\b{site}\b", text)]
    return None if asked.options or len(named) != 1 else _open_reply(finding_scores(pictures), named[0], prompt)


def _case_text(prompt: str) -> str:
    """The lines of a case: those that begin with one of its headings; "" where there is none."""
    lines = (line for line in prompt.splitlines() if line.startswith(tuple(f"{each}: " for each in HEADINGS.values())))
    return "\n".join(lines)


def _open_reply(found: Mapping[tuple[str, str], float], named: str, prompt: str) -> str:
    site, finding = max(found, key=lambda key: found[key])
    if site != named:
        return f"The images show the {site}, but the text is about the {named}: they do not belong together."
    known = phantom_texts()["cases"][finding]
    asked = prompt.splitlines()[-1]
    seen = " ".join(known["chain"][number - 1].format(site=site) + "." for number in known["image_steps"])
    named_so = observer_diagnosis(site, finding)
    if "treatment" in asked:
        return f"{seen} Treatment: {known['treatment']}." if "step by step" in asked else known["treatment"] + "."
    return f"{seen} Diagnosis: {named_so}." if "step by step" in asked else f"{named_so}."
