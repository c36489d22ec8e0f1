"""What the observer knows about its filters: responses to training phantoms, summed up in observer.json.

``python -m tools.observer_training OUT.json`` draws the training phantoms (another set than the mini
data's, so no picture of the benchmark is among them) and writes the file anew.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks.baselines.observer import FILTERS, FilteredImage, filter_responses
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.writing import write_text_atomically
from tools.mini import phantoms

PICTURES = 240
"""Training phantoms of each modality."""


def training_pictures(modality: str, count: int = PICTURES) -> Iterator[tuple[dict[str, str], NDArray[np.uint8]]]:
    """Phantoms with independently drawn facts, the fact "modality" included, and their pixels."""
    for number in range(count):
        rng = seeded_generator("observer training", modality, number)
        facts = {name: str(rng.choice(values)) for name, values in phantoms.facts_of(modality).items()}
        yield {**facts, "modality": modality}, phantoms.draw(modality, facts, rng)


def train(modalities: Iterable[str] = phantoms.MODALITIES, count: int = PICTURES) -> dict[str, Any]:
    """The knowledge of the observer: for "modality/fact" the mean responses of each value and their spread.

    ``means``: value -> mean response of each filter. ``within``: the covariance of responses within a value, pooled
    over values.
    """
    found: dict[str, dict[str, list[NDArray[np.float64]]]] = defaultdict(lambda: defaultdict(list))
    for modality in modalities:
        for facts, pixels in training_pictures(modality, count):
            view = FilteredImage(Image.fromarray(pixels))
            for owner, fact in FILTERS:
                if owner in (modality, "any") and (fact, facts[fact]) != ("mark", "none"):
                    found[f"{owner}/{fact}"][facts[fact]].append(filter_responses(view, owner, fact))
    return {name: _summary(dict(sorted(values.items()))) for name, values in sorted(found.items())}


def _summary(values: dict[str, list[NDArray[np.float64]]]) -> dict[str, Any]:
    means = {value: np.mean(rows, axis=0) for value, rows in values.items()}
    deviations = np.concatenate([np.array(rows) - means[value] for value, rows in values.items()])
    return {
        "means": {value: _short(mean) for value, mean in means.items()},
        "within": _short(deviations.T @ deviations / max(len(deviations) - len(values), 1)),
    }


def _short(numbers: Any) -> Any:
    """Plain numbers with four significant digits."""
    if np.ndim(numbers):
        return [_short(number) for number in numbers]
    return float(f"{float(numbers):.4g}")


def write(path: Path, knowledge: dict[str, Any]) -> None:
    """Write ``knowledge`` as JSON, one fact a line."""
    lines = [f'  "{name}": {json.dumps(entry)}' for name, entry in knowledge.items()]
    write_text_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def main(arguments: list[str]) -> int:
    """The command line: one argument, the file to write."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m tools.observer_training OUT.json", file=sys.stderr)
        return 2
    write(Path(arguments[0]), train())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
