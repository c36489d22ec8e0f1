"""What a judge's prompt says of each label of a scale, for people who rate by the same rubric."""

from __future__ import annotations

import re

from lmms_medtasks.judges import prompts
from lmms_medtasks.judges.protocol import Dimension, Protocol


def of(protocol: Protocol) -> dict[str, dict[str, str]]:
    """Dimension -> label -> its anchor: the prompt's line ``LABEL - anchor`` or ``LABEL: anchor``.

    Where there are several dimensions, a dimension's lines are those below a line that begins with its name. A
    dimension of which the prompt has not exactly one line for each label is left out: nothing is guessed.
    """
    lines = prompts.text_of(protocol.prompt).splitlines()
    names = [each.name for each in protocol.dimensions]
    sections: dict[str, list[str]] = {name: [] for name in names}
    current = names[0] if len(names) == 1 else None
    for line in lines:
        current = next((name for name in names if re.match(rf"{re.escape(name)}\b", line)), current)
        if current:
            sections[current].append(line)
    found = {each.name: _of_section(each, sections[each.name]) for each in protocol.dimensions}
    return {name: anchors for name, anchors in found.items() if anchors}


def _of_section(dimension: Dimension, lines: list[str]) -> dict[str, str] | None:
    found: dict[str, list[str]] = {label: [] for label in dimension.labels}
    for line in lines:
        for label in dimension.labels:
            if match := re.match(rf"{re.escape(label)}\s*[-:\u2013]\s+(?P<anchor>\S.*)", line):
                found[label].append(match["anchor"])
    if any(len(anchors) != 1 for anchors in found.values()):
        return None
    return {label: anchors[0] for label, anchors in found.items()}
