"""Bones and Joints on the first screen of a report: from reading the image to complete reasoning."""

from __future__ import annotations

from lmms_medtasks.report.findings import BY_WORDS, Bar, Finding, chance_of_options, shown, whole
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import listed
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, SUITE
from lmms_medtasks.task_configs.bones_joints.report_figures import sketch
from lmms_medtasks.task_configs.bones_joints.report_groups import TaskGroup, find_group, task_groups

TITLES = {
    "t1": "knowledge (I)", "t2": "clinical notes (II)", "t3": "reading the image (III)", "t4": "diagnosis (IV)",
    "t5": "diagnostic reasoning (V)", "t6": "treatment (VI)", "t7": "treatment reasoning (VII)",
    "t8": "finding the contradiction (VIII)",
}  # fmt: skip
_FIRST = ("t3", "t4", "t5")
"""What stands on the first screen where it was asked; else the first three that were."""


def finding(source: Source) -> Finding | None:
    """The finding over the tasks as the paper asks them; None where none of them has an accuracy."""
    groups = task_groups(source)
    found = {key: bar for key in TITLES if (bar := _bar(source, find_group(groups, key, AS_PUBLISHED)))}
    chosen = [key for key in _FIRST if key in found] or list(found)[: len(_FIRST)]
    if not chosen:
        return None
    bars = tuple(found[key] for key in chosen)
    said = listed([f"{shown(bar)} correct at {bar.title}" for bar in bars])
    stated = [bar for bar in bars if not bar.by_words] or bars
    ends = listed([f"{whole(bar)} at {bar.title.partition(' (')[0]}" for bar in dict.fromkeys((stated[0], stated[-1]))])
    ends += f", {BY_WORDS}" if stated[0].by_words else ""
    weak = [f"{bar.title}, {shown(bar)}" for key, bar in found.items() if key not in chosen and not bar.beats_chance]
    # Else a reader took the tasks that are named for the worst.
    said += f"; no better than guessing at {listed(weak)}" if weak else ""
    said += f"; open answers (IV to VIII) are {BY_WORDS}" if any(bar.by_words for bar in bars) else ""
    return Finding(
        "Bones and Joints", bars, f"{said[0].upper()}{said[1:]}.", f"correct on {ends}", "orthopedic cases",
        sketch=lambda: sketch(source),
    )  # fmt: skip


def _bar(source: Source, group: TaskGroup | None) -> Bar | None:
    cell = group.accuracy(source) if group else None
    if group is None or cell is None or cell.value is None:
        return None
    chance = None if group.judging else chance_of_options(group.rows)
    scaled = None if chance is None else 100 * chance
    printed = span(SUITE, str(group.rows.values("task")[0]), "accuracy")
    return Bar(TITLES[group.task.key], cell, chance=scaled, published=printed)
