"""What the observer knows about its filters: responses to training phantoms, summed up in observer.json.

``python -m tools.observer_training OUT.json`` draws the training phantoms (another set than the mini
data's, so no picture of the benchmark is among them) and writes the file anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks.baselines.observer import FEATURES
from lmms_medtasks.baselines.observer_view import View
from lmms_medtasks.seeding import generator
from tools.mini import phantoms

PICTURES = 240
"""Training phantoms of each modality."""

NOISE = 20.0
"""Standard deviation, in levels, of the white noise that shows how filters respond to noise."""


def training_pictures(modality: str, count: int = PICTURES) -> Iterator[tuple[dict[str, str], NDArray[np.uint8]]]:
    """Phantoms with independently drawn facts, the fact "modality" included, and their pixels."""
    for number in range(count):
        rng = generator("observer training", modality, number)
        facts = {name: str(rng.choice(values)) for name, values in phantoms.facts_of(modality).items()}
        yield {**facts, "modality": modality}, phantoms.draw(modality, facts, rng)


def train(modalities: Iterable[str] = phantoms.MODALITIES, count: int = PICTURES) -> dict[str, Any]:
    """The knowledge of the observer: for "modality/fact" the mean responses of each value and their spread.

    ``means``: value -> mean response of each filter. ``within``: the covariance of responses within a value, pooled
    over values. ``noise``: mean squared change of each response for white noise of one level. ``texture``: modality ->
    the noise level that clean pictures seem to have.
    """
    responses: dict[tuple[str, str], list[tuple[str, NDArray[Any], NDArray[Any]]]] = defaultdict(list)
    texture: dict[str, float] = {}
    for modality in modalities:
        levels = []
        for number, (facts, pixels) in enumerate(training_pictures(modality, count)):
            image = Image.fromarray(pixels)
            clean = View(image)
            noisy = View(image, NOISE, generator("observer training noise", modality, number))
            levels.append(clean.noise_level())
            for (owner, fact), filters in FEATURES.items():
                unmarked = fact == "mark" and facts[fact] == "none"
                if owner in (modality, "any") and not unmarked:
                    responses[owner, fact].append((facts[fact], filters(clean), filters(noisy)))
        texture[modality] = _short(np.mean(levels))
    facts_known = {f"{owner}/{fact}": _summary(rows) for (owner, fact), rows in responses.items()}
    return {"texture": texture, "facts": facts_known}


def _summary(rows: list[tuple[str, NDArray[Any], NDArray[Any]]]) -> dict[str, Any]:
    values = sorted({value for value, _, _ in rows})
    clean = {value: np.array([c for v, c, _ in rows if v == value]) for value in values}
    deviations = np.concatenate([clean[value] - clean[value].mean(axis=0) for value in values])
    change = np.array([(noisy - c) ** 2 for _, c, noisy in rows]).mean(axis=0) / NOISE**2
    return {
        "means": {value: _short(clean[value].mean(axis=0)) for value in values},
        "within": _short(deviations.T @ deviations / max(len(rows) - len(values), 1)),
        "noise": _short(change),
    }


def _short(numbers: Any) -> Any:
    """Plain numbers with five significant digits."""
    if np.ndim(numbers):
        return [_short(number) for number in numbers]
    return float(f"{float(numbers):.5g}")


def write(path: Path, knowledge: dict[str, Any]) -> None:
    """Write ``knowledge`` as JSON, one fact a line."""
    lines = [f'    "{name}": {json.dumps(entry, sort_keys=True)}' for name, entry in sorted(knowledge["facts"].items())]
    text = '{\n  "texture": ' + json.dumps(knowledge["texture"], sort_keys=True)
    text += ',\n  "facts": {\n' + ",\n".join(lines) + "\n  }\n}\n"
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def main(arguments: list[str]) -> int:
    """The command line: one argument, the file to write."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m tools.observer_training OUT.json", file=sys.stderr)
        return 2
    write(Path(arguments[0]), train())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
