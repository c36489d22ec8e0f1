"""The page that says how to submit a model: what to run, what to send, how long it takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmms_medtasks.board import installed
from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.references import choose_pin
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.trust.pins import QuestionPins
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import format_duration

PAGE = "submit.html"


@dataclass(frozen=True)
class PinnedTask:
    """A task that entries are ranked on: its pinned version and data, and who judges.

    ``trials``: replies to each question. ``judge``: in full; "" for a task without one, None if none is named yet.
    """

    task: str
    version: str
    data: str
    questions: int
    trials: int
    judge: str | None

    @property
    def requests(self) -> int:
        return self.questions * self.trials


@dataclass(frozen=True)
class SubmissionGuide:
    """How to submit. ``repository``: the web address of the board's repository. ``tasks``: what is ranked, by name."""

    repository: str
    tasks: Sequence[PinnedTask] = ()

    @property
    def requests(self) -> int:
        """Requests to the model for all tasks."""
        return sum(each.requests for each in self.tasks)

    @property
    def duration(self) -> str:
        """How long they take at one second each."""
        return format_duration(self.requests)

    @property
    def needs_data(self) -> bool:
        """Whether any task is of data that do not come with the package."""
        return not self.tasks or any(each.data != "mini" for each in self.tasks)

    def commands(self) -> Iterator[str]:
        """The commands that run all tasks: one for each kind of data and judge."""
        groups: dict[tuple[str, str], list[str]] = {}
        for each in self.tasks:
            judge = (each.judge or "").partition(" ")[0].rstrip(",")
            groups.setdefault((each.data, judge), []).append(each.task)
        for (data, judge), tasks in sorted(groups.items()):
            mini = "MEDTASKS_DATA=mini " if data == "mini" else ""
            judged = f"MEDTASKS_JUDGE={shlex.quote(judge)} " if judge else ""
            chosen = f"--model RUNNER --model_args pretrained=MODEL \\\n  --tasks {','.join(tasks)}"
            yield f"{mini}{judged}lmms-medtasks run {chosen} \\\n  --output_path runs/my-model"


def make_guide(repository: str, board: Leaderboard, pins: QuestionPins, rules: BoardRules) -> SubmissionGuide:
    """The guide for a board's pinned tasks. Raises UserError if ``repository`` is no https address."""
    if not re.fullmatch(r"https://[\w.:/~-]+", repository):
        raise UserError(f"--repository {repository!r}: expected an address such as https://github.com/OWNER/BOARD.")
    tasks = []
    for task in sorted({task for task, _, _ in pins.found}):
        if chosen := choose_pin(task, board.of(task=task), rules, pins):
            (version, data), pin = chosen
            installed_task = installed.find_installed_task(task)
            is_judged = bool(pin.prompts) or (installed_task is not None and installed_task.is_judged)
            judge = (rules.demanded(task, "judge") or pin.judge or None) if is_judged else ""
            tasks.append(PinnedTask(task, version, data, pin.count, pin.trials or 1, judge))
    return SubmissionGuide(repository.rstrip("/").removesuffix(".git"), tasks)


def write_submit_page(pages: PageWriter, guide: SubmissionGuide) -> None:
    """Write the page."""
    pages.page(PAGE, PAGE, "submit", guide=guide)
