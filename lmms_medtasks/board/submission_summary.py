"""What becomes of a submission's entries, for a terminal and as Markdown for a pull request's page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.word_verdicts import LEGEND
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.report.markdown import escaped
from lmms_medtasks.samples.runs import printable

_WIDTH = 100
_NAMED = 5
_MOVES = "Rankings that move"


@dataclass(frozen=True)
class Place:
    """Where a new entry would stand on one measure.

    Attributes:
        model, task, level, measure: names, as on the board. score: the mean with its sign and its interval. rank: its
            rank, the ranks that chance leaves open and the number of models; or why there is none. ahead, behind:
            models of a better and of a lower rank, the best first.
    """

    model: str
    task: str
    level: str
    measure: str
    score: str
    rank: str
    ahead: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    @property
    def against(self) -> str:
        """The models that it is ranked against; "" where it has no rank, or shares it with all."""
        sides = (("behind", self.ahead), ("ahead of", self.behind))
        return "; ".join(f"{word} {_first(names)}" for word, names in sides if names)


@dataclass(frozen=True)
class Remark:
    """What is said of a new entry on one task. ``ranked``: whether it stands in the ranking all the same."""

    model: str
    task: str
    level: str
    reason: str
    ranked: bool


@dataclass(frozen=True)
class Checked:
    """What a submission is.

    Attributes:
        added, changed, removed: files, as seen from the folder of entries. wrong: why it may not be merged, a
            sentence each. places: where its entries would stand. remarks: what is said of them beside. results: its
            entries, one model on one task each; ranked: how many of them would be. moves: rankings that would be of
            another version or data, a sentence each.
    """

    added: tuple[Path, ...]
    changed: tuple[Path, ...]
    removed: tuple[Path, ...]
    wrong: tuple[str, ...]
    places: tuple[Place, ...]
    remarks: tuple[Remark, ...]
    results: int = 0
    ranked: int = 0
    moves: tuple[str, ...] = ()

    @property
    def files(self) -> Iterator[tuple[str, Path]]:
        """What was done to each file."""
        for what, files in (("added", self.added), ("changed", self.changed), ("removed", self.removed)):
            yield from ((what, file) for file in files)

    def markdown(self) -> str:
        """For the summary of a pull request."""
        said = ["## Submission: " + ("**refused**" if self.wrong else self._holds()), ""]
        said += [f"- {what}: {escaped(str(file))}" for what, file in self.files]
        said += ["", "### Refused", "", *(f"- {escaped(text)}" for text in self.wrong)] if self.wrong else []
        said += ["", f"### {_MOVES}", "", *(f"- {escaped(text)}" for text in self.moves)] if self.moves else []
        for title, places in _grouped(self.places).items():
            said += [
                "",
                f"### {escaped(title)}",
                "",
                "| Task | Measure | Score | Rank | Against |",
                "|---|---|---:|---|---|",
            ]
            said += [
                "| " + " | ".join(map(escaped, (each.task, each.measure, each.score, each.rank, each.against))) + " |"
                for each in places
            ]
        said += ["", LEGEND] if self._is_signed else []
        for title, reasons in self._remarks():
            said += ["", f"### {title}", ""]
            said += [f"- {escaped(reason)} {escaped(tasks)}" for reason, tasks in reasons.items()]
        return "\n".join(said) + "\n"

    def lines(self) -> Iterator[str]:
        """For a terminal, at most 100 columns wide."""
        yield "Submission: " + ("refused" if self.wrong else self._holds())
        for what, file in self.files:
            yield from _filled(f"  {what}: {file}")
        if self.wrong:
            yield from ("", "Refused:")
        for text in self.wrong:
            yield from _filled(f"  {text}")
        yield from ("", f"{_MOVES}:") if self.moves else ()
        for text in self.moves:
            yield from _filled(f"  {text}")
        for title, places in _grouped(self.places).items():
            yield from ("", *_filled(title))
            for each in places:
                said = (f"{each.task}, {each.measure}: {each.score}", each.rank, each.against)
                yield from _filled("  " + ", ".join(text for text in said if text))
        yield from ("", LEGEND) if self._is_signed else ()
        for title, reasons in self._remarks():
            yield from ("", f"{title}:")
            for reason, tasks in reasons.items():
                yield from _filled(f"  {reason} {tasks}")

    @property
    def _is_signed(self) -> bool:
        """Whether a score has the sign of the judge that compares words."""
        return any(LEXICAL in each.score for each in self.places)

    def _holds(self) -> str:
        """That it may be merged, and how much of what it brings is ranked: a check that holds is no rank."""
        return f"holds; ranked: {self.ranked} of {self.results} results" if self.results else "holds"

    def _remarks(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Each reason with the tasks that it is of, so that it is said once."""
        for title, ranked in (("Not ranked", False), ("Ranked, with a remark", True)):
            found: dict[str, dict[str, list[str]]] = {}
            for each in self.remarks:
                if each.ranked is ranked:
                    found.setdefault(each.reason, {}).setdefault(each.model, []).append(each.task)
            if found:
                yield title, {reason: f"({_tasks(models)})" for reason, models in found.items()}


def _tasks(models: Mapping[str, Iterable[str]]) -> str:
    return "; ".join(f"{model}: {_first(dict.fromkeys(tasks))}" for model, tasks in models.items())


def _grouped(places: Iterable[Place]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for each in places:
        found.setdefault(f"{each.model}, {each.level}", []).append(each)
    return found


def _first(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _filled(text: str) -> Iterator[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    yield from textwrap.wrap(
        printable(text.strip()), _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )
