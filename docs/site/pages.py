"""The pages that are made of data files: of templates, settings and degradations."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.suites import templates
from lmms_medtasks.suites.templates.parsers import PARSERS
from lmms_medtasks.task_yaml import settings as schema
from lmms_medtasks.task_yaml.strict_model import allowed_values

ROOT = Path(__file__).resolve().parents[2]
MOST_ALLOWED = 12
"""Names that the page on settings lists of one setting; more are not listed."""


def settings_page() -> str:
    """docs/contributing/settings.md."""
    lines = [
        "# What a YAML may say",
        "",
        "The keys under `lmms_eval_specific_kwargs: default` of a task on a template. This page is made from",
        "[settings.py](../../lmms_medtasks/task_yaml/settings.py). A wrong value is answered with what is allowed.",
        "",
    ]
    for name, field in schema.TaskSettings.model_fields.items():
        allowed = allowed_values(field)
        shown = ", ".join(f"`{each}`" for each in allowed) if len(allowed) <= MOST_ALLOWED else ""
        about = [_type(field.annotation), *([shown] if shown else [])]
        about += [f"default `{json.dumps(field.default)}`"] if field.default is not None else []
        lines += [f"- **`{name}: {_inline((field.examples or [''])[0])}`** ({'; '.join(about)}). {field.description}"]
    lines += [""]
    lines += ["## Parsers", "", "| `parser` | What it reads |", "|---|---|"]
    lines += [f"| `{name}` | {parser.about} |" for name, parser in PARSERS.items()]
    return "\n".join(lines) + "\n"


def _type(annotation: Any) -> str:
    words = {str: "a text", int: "a whole number", bool: "true or false", str | list[str]: "a text or a list of texts",
             str | dict[str, str]: "a text, or a mapping of texts"}  # fmt: skip
    return words[annotation] if annotation in words else f"a mapping with {', '.join(annotation.model_fields)}"


def templates_page() -> str:
    """docs/contributing/templates.md."""
    lines = [
        "# Templates",
        "",
        "`lmms-medtasks new NAME --template TEMPLATE --dataset TABLE` writes a template's lines into the folder, as",
        "`_template_yaml`, which the task's YAML includes. [Settings](settings.md) says what the settings mean. This",
        "page is made from [templates.yml](../../lmms_medtasks/suites/templates/templates.yml).",
        "",
    ]
    declared = [templates.get(name) for name in templates.names()]
    shared = [each for each in declared[0].metrics if all(each in other.metrics for other in declared)]
    lines += [f"All have the metrics {_named(shared)} and, but the last, a variant `NAME_noimage`.", ""]
    lines += ["| Template | What it is | Columns | Settings | Further metrics |", "|---|---|---|---|---|"]
    for name, template in zip(templates.names(), declared, strict=True):
        stated = ", ".join(f"`{key}: {_inline(value)}`" for key, value in template.settings.items())
        variants = [f"`NAME_{each}`" for each in template.variants if each != "noimage"]
        about = " ".join(template.about.split()) + (f" Variants: {', '.join(variants)}." if variants else "")
        further = [each for each in template.metrics if each not in shared]
        lines += [f"| `{name}` | {about} | {_named(template.columns)} | {stated} | {_named(further)} |"]
    return "\n".join(lines) + "\n"


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)


def _inline(value: Any) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[\w./-]+", value) else json.dumps(value)


def degradation_pages() -> dict[str, str]:
    """File name -> page, one for each degradation, and an index of them; each shows NAME.png."""
    pages = {f"{name}.md": _degradation_page(name) for name in degradations.names()}
    lines = ["# Degradations", "", "| Degradation | Category | For |", "|---|---|---|"]
    for name in degradations.names():
        modalities = degradations.modalities_of(name)
        shown = "all" if modalities == degradations.modalities() else ", ".join(modalities)
        lines.append(f"| [{name}]({name}.md) | {degradations.category(name)} | {shown} |")
    return {"index.md": "\n".join(lines) + "\n", **pages}


def _degradation_page(name: str) -> str:
    lines = [
        f"# {name}",
        "",
        f"Category: {degradations.category(name)}. For: {', '.join(degradations.modalities_of(name))}.",
        "",
    ]
    lines += [f"![{name} at levels 0, 1 and 2, on drawn phantoms]({name}.png)", ""]
    sections = [each for each in registry.load_sections() if each.split("@")[0] == name]
    for section in sections:
        row = registry.load_sections()[section]
        modality = section.partition("@")[2] or None
        degradation = degradations.get(name, modality)
        lines += [
            f"## {'On ' + modality if modality else 'What it does'}",
            "",
            " ".join(str(row["source"]).split()),
            "",
        ]
        lines += [
            "```text",
            inspect.getdoc(degradation.apply) or "",
            "",
            inspect.getdoc(degradation.record) or "",
            "```",
            "",
        ]
        lines += ["| Parameter | Unit | From | Note |", "|---|---|---|---|"]
        for parameter, about in row["parameters"].items():
            cells = (parameter, about["unit"], about["from"], about.get("note", ""))
            lines.append("| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |")
        lines += ["", "| Modality | Level 1 | Level 2 |", "|---|---|---|"]
        for modality_row, levels in row["levels"].items():
            lines.append(f"| {modality_row} | {_numbers(levels[1])} | {_numbers(levels[2])} |")
        shared = row.get("shared")
        lines += ["", f"At both levels: {_numbers(shared)}." if shared else "", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _numbers(values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{key}` {value}" for key, value in values.items()).replace("|", "\\|")
