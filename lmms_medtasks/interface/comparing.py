"""Two runs on the same questions, as an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lmms_medtasks.board.comparison import compared_entries, comparison_document, measure_comparison
from lmms_medtasks.board.comparison.measure_comparison import TELLING, Compared
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.run_report import RunReport
from lmms_medtasks.samples.runs import RunPaths, paths_of
from lmms_medtasks.statistics.confidence import DEFAULT, at
from lmms_medtasks.suites import registry


class RunComparison(RunReport):
    """The comparison of two models, as ``lmms-medtasks compare`` writes it. A notebook shows it as its page.

    Attributes:
        compared: The numbers, a comparison a task and measure.
    """

    def __init__(self, compared: Compared) -> None:
        super().__init__(comparison_document.document(compared))
        self.compared = compared

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it: what ``lmms-medtasks compare --format json`` prints."""
        with at(self.confidence):
            return comparison_document.to_json(self.compared)


def compare(
    first: RunPaths,
    second: RunPaths,
    *,
    tasks: Sequence[str] = (),
    questions: int = TELLING,
    confidence: float = DEFAULT,
    include_path: RunPaths = (),
) -> RunComparison:
    """Two models compared question by question, on each task that both were run on.

    Differences are the second less the first over the same questions, with intervals and tests over images,
    Holm-corrected over all rows: what ``lmms-medtasks compare`` prints.

    Args:
        first, second: The result folder, ``*_results.json`` or pack of one model each, or what :func:`evaluate` gave.
        tasks: Only these tasks.
        questions: Questions shown of each task, at most: those on which the two differ most.
        confidence: The probability with which an interval holds the true difference, 0.5 to 0.9999; 1 less it is the
            level of the tests.
        include_path: Folders of benchmarks that are not installed and declare measures of their own.

    Returns:
        A :class:`~lmms_medtasks.interface.comparing.RunComparison` with ``tables``, ``html``, ``markdown``,
        ``to_dict()`` and ``save(path)``. A notebook shows the page.

    Raises:
        UserError: A confidence that is none; a side that is not there, has nothing that can be compared, or several
            entries on a task; no task in common; a task that a side has no result of.

    Example:
        >>> compare("runs/base", "runs/tuned").tables["differences"]  # doctest: +SKIP
    """
    registry.give(paths_of(include_path))
    wanted = [tasks] if isinstance(tasks, str) else list(tasks)
    with at(confidence):
        sides = []
        for paths in map(paths_of, (first, second)):
            if len(paths) != 1:
                raise UserError(f"A side of a comparison is one folder or file, got {len(paths)}.")
            sides.append(compared_entries.read(paths[0], tasks=wanted))
        return RunComparison(measure_comparison.compare(*sides, telling=questions))
