"""Descriptions of a task's custom parts in result files and leaderboard entries: writing and reading them.

The description stands in the task's metadata under ``own_parts``. It names no folder of a machine. Means, contrasts and
macro means are described as data: a report makes them without the code. Of other estimates it says where the code was.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError
from lmms_medtasks.extensions import OWN_PARTS, Extension, is_reference, resolve_extension_path
from lmms_medtasks.judges import own_scales
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites import own_metrics
from lmms_medtasks.suites.estimates import Contrast, Estimate, Macro, MacroContrast, Mean
from lmms_medtasks.suites.own_metrics import CustomMetric
from lmms_medtasks.suites.suite import Measure, Metric

KEY = OWN_PARTS
"""The key of a task's metadata."""

_AS_DATA: Mapping[str, type[Estimate]] = {kind.__name__: kind for kind in (Mean, Macro, MacroContrast, Contrast)}
_NOT_DECLARED = ("origin", "digest", "reference")
"""Keys that tell where a part was, but do not affect its numbers."""


@dataclass(frozen=True)
class MissingEstimate(Estimate):
    """An estimate whose code is not available: only the printed value is known. ``reason``: why, and the way out."""

    reason: str = ""

    def of(self, rows: QuestionTable, with_intervals: bool = True) -> Mapping[str, IntervalEstimate]:
        """Nothing."""
        return {}


# --- What a task says -------------------------------------------------------------------------------------------------


def describe_custom_parts(
    metrics: Sequence[CustomMetric], protocol: JudgeProtocol | None, parser: tuple[str, Extension] | None
) -> dict[str, Any]:
    """Describe a task's custom parts, JSON-safe. ``parser``: its reference in the YAML, and the function it names."""
    description: dict[str, Any] = {}
    if parser:
        description["parser"] = {"reference": parser[0], **_describe_origin(parser[1])}
    if metrics:
        description["metrics"] = [_describe_metric(metric) for metric in metrics]
    if protocol is not None and protocol.reference:
        description["judge"] = {
            "name": protocol.name,
            "reference": own_scales.hide_folder(protocol.reference),
            "scale": own_scales.scale_of(protocol),
        }
    return description


def _describe_origin(part: Extension) -> dict[str, str]:
    return {"origin": part.origin, "digest": custom_code_digest(part.file)}


def custom_code_digest(file: Path | None) -> str:
    """Digest of a file beside a YAML, or of all modules of its package; "" if the source is not available."""
    if file is None or file.suffix != ".py":
        return ""
    is_package = (file.parent / "__init__.py").is_file()
    return digests.of_files(sorted(file.parent.glob("*.py")) if is_package else [file])


def _describe_metric(custom: CustomMetric) -> dict[str, Any]:
    metric = custom.metric
    description: dict[str, Any] = {
        "name": metric.name,
        "reference": own_scales.hide_folder(custom.part.reference),
        **_describe_origin(custom.part),
        "about": metric.about,
        "higher_is_better": metric.higher_is_better,
        "main": metric.main,
        "unit": metric.unit,
    }
    if custom.measure is not None:
        description["measure"] = asdict(custom.measure)
    if type(metric.estimate) in _AS_DATA.values():
        description["estimate"] = _describe_estimate(metric.estimate)
    return description


def _describe_estimate(estimate: Estimate) -> dict[str, Any]:
    changed = {}
    for attribute in fields(estimate):
        value = getattr(estimate, attribute.name)
        default = attribute.default_factory() if attribute.default_factory is not MISSING else attribute.default
        if value != default:
            changed[attribute.name] = value
    description: dict[str, Any] = json.loads(json.dumps({"kind": type(estimate).__name__, **changed}, default=str))
    return description


def serialize_declaration(metadata: object) -> str:
    """The custom parts that determine a task's declaration, as JSON; "" without a custom metric or protocol.

    The same for two versions of the code that declare the same.
    """
    described = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if isinstance(described, str):
        return described  # of a leaderboard's entry
    if not isinstance(described, Mapping):
        return ""
    metrics = [
        {
            key: value
            for key, value in metric.items()
            # The reference of a metric that is not described as data leads to its code.
            if key not in _NOT_DECLARED or (key == "reference" and "estimate" not in metric)
        }
        for metric in described.get("metrics") or []
    ]
    judge = {key: value for key, value in (described.get("judge") or {}).items() if key not in _NOT_DECLARED}
    declaration = {name: value for name, value in (("metrics", metrics), ("judge", judge)) if value}
    return json.dumps(declaration, sort_keys=False) if declaration else ""


# --- What is read from it ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CustomDeclaration:
    """Custom measures and metrics, and the judge's protocol if it is custom; see :func:`serialize_declaration`."""

    measures: tuple[Measure, ...] = ()
    metrics: tuple[Metric, ...] = ()
    protocol: JudgeProtocol | None = None


@functools.cache
def restore_declaration(text: str, folder: Path | None) -> CustomDeclaration:
    """Make the declaration from its JSON. ``folder``: the benchmark's, None if unknown.

    Raises:
        UserError: if it is not as :func:`serialize_declaration` wrote it.
    """
    try:
        content = json.loads(text) if text else {}
        described = content.get("metrics") or []
        metrics = [_metric_from_json(metric, folder) for metric in described]
        measures = tuple(Measure(**metric["measure"]) for metric in described if metric.get("measure"))
        judge = content.get("judge")
        protocol = own_scales.protocol_from_scale(judge["name"], judge["scale"]) if judge else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"What a run says of its own metrics can't be read ({error!r:.100}). Was it edited?") from error
    return CustomDeclaration(measures, tuple(metrics), protocol)


def _metric_from_json(described_metric: Mapping[str, Any], folder: Path | None) -> Metric:
    name, stated = str(described_metric["name"]), described_metric.get("estimate")
    estimate: Estimate
    if stated is not None:
        kind = _AS_DATA[stated["kind"]]
        values = {key: _lists_to_tuples(value) for key, value in stated.items() if key != "kind"}
        estimate = kind(**values)
    else:
        estimate = _load_estimate(name, str(described_metric["reference"]), folder)
    return Metric(
        name,
        estimate,
        described_metric.get("higher_is_better"),
        str(described_metric.get("about") or ""),
        bool(described_metric.get("main")),
        unit=described_metric.get("unit"),
    )


def _load_estimate(name: str, reference: str, folder: Path | None) -> Estimate:
    if is_reference(reference) and not (folder and _is_named_by(folder, reference)):
        return MissingEstimate(reason=f"{reference} is not here. Give its folder with --include_path.")
    try:
        custom = own_metrics.get(resolve_extension_path(reference, folder))
    except UserError as error:
        return MissingEstimate(reason=str(error))
    if custom.metric.name != name:
        return MissingEstimate(reason=f"{reference} is called {custom.metric.name!r} now.")
    return custom.metric.estimate


def _is_named_by(folder: Path, reference: str) -> bool:
    """Whether a benchmark's folder has the file, or its YAML names the module: what a log alone names is not run."""
    file = reference.rpartition(":")[0]
    if file.endswith(".py"):
        return (folder / file).resolve().is_relative_to(folder.resolve())
    whole = re.compile(rf"(?<![\w.]){re.escape(reference)}(?!\w)")
    return any(whole.search(path.read_text("utf-8", errors="replace")) for path in folder.glob("*yaml"))


def _lists_to_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_lists_to_tuples, value))
    return {key: _lists_to_tuples(each) for key, each in value.items()} if isinstance(value, dict) else value
