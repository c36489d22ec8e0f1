"""How many questions MedObvious has of each tier, format and sign, by its paper and in a release."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from lmms_medtasks.data.progress import say


@functools.cache
def paper() -> Mapping[str, Any]:
    """The paper's counts of tasks: ``tasks``, ``items``, and by ``tier``, ``format`` and ``sign``."""
    text = resources.files("lmms_medtasks.data").joinpath("medobvious.yml").read_text(encoding="utf-8")
    counts: dict[str, Any] = yaml.safe_load(text)
    return counts


def counted(rows: Sequence[Mapping[str, Any]], pattern: re.Pattern[str]) -> dict[str, Any]:
    """The numbers of questions by tier, format and sign, and where they differ from the paper's, which is said too.

    ``pattern`` matches an id whole; its groups are tier, kind, number and form.
    """
    ids = [match for row in rows if (match := pattern.fullmatch(str(row.get("id") or "")))]
    counts: dict[str, Any] = {
        "tasks": len(rows),
        "items": len({(match[1], match[2], match[3]) for match in ids}),
        "tier": dict(sorted(Counter(int(match[1]) for match in ids).items())),
        "format": dict(sorted(Counter(str(row.get("task_type")) for row in rows).items())),
        "sign": dict(Counter("negative" if row.get("is_negative") else "positive" for row in rows)),
    }
    differences = [f"{what}: {counts[what]:,}, the paper has {paper()[what]:,}" for what in ("tasks", "items")
                   if counts[what] != paper()[what]]  # fmt: skip
    for what in ("tier", "format", "sign"):
        for key in sorted({*counts[what], *paper()[what]}, key=str):
            found, wanted = counts[what].get(key, 0), paper()[what].get(key, 0)
            if found != wanted:
                differences.append(f"{what} {key}: {found:,}, the paper has {wanted:,}")
    if differences:
        more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
        say(f"MedObvious: other counts than the paper's: {'; '.join(differences[:3])}{more} (all are in the manifest)")
    # The keys of a manifest are texts.
    counts["tier"] = {f"T{tier}": count for tier, count in counts["tier"].items()}
    return {"counts": counts, "differences_from_paper": differences}
