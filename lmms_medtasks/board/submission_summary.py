"""What becomes of a submission's entries, for a terminal and a pull request's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Document, Frame, FrameRow, Part, Section
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.short_texts import first_named

_NAMED = 5


@dataclass(frozen=True)
class Place:
    """Where a new entry would stand on one measure.

    Attributes:
        model, task, level, measure: names, as on the board. score: the mean and its interval. rank: its rank, the
            ranks that chance leaves open and the number of models; or why there is none. ahead, behind: models of a
            better and of a lower rank, the best first. by_words: whether the judge that compares words gave the score.
    """

    model: str
    task: str
    level: str
    measure: str
    score: str
    rank: str
    ahead: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    by_words: bool = False

    @property
    def against(self) -> str:
        """The models that it is ranked against; "" where it has no rank, or shares it with all."""
        sides = (("behind", self.ahead), ("ahead of", self.behind))
        return "; ".join(f"{word} {first_named(names, _NAMED)}" for word, names in sides if names)


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

    def document(self) -> Document:
        """What it is first, then why it is refused, and where its entries would stand."""
        said = (
            Section("files", "", items=tuple(f"{what}: {file}" for what, file in self.files)),
            Section("refused", "Refused", items=self.wrong),
            Section("moves", "Rankings that move", items=self.moves),
            *(_placed(title, places) for title, places in _grouped(self.places).items()),
            *(Section(title, title, items=reasons) for title, reasons in self._remarks()),
        )
        sections = tuple(each for each in said if each.items or each.tables)
        title = "refused" if self.wrong else self._holds()
        return Document(f"Submission: {title}", (Part("submission", "", (), (), sections),))

    def _holds(self) -> str:
        """That it may be merged, and how much of what it brings is ranked: a check that holds is no rank."""
        return f"holds; ranked: {self.ranked} of {self.results} results" if self.results else "holds"

    def _remarks(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each reason with the tasks that it is of, so that it is said once."""
        for title, ranked in (("Not ranked", False), ("Ranked, with a remark", True)):
            found: dict[str, dict[str, list[str]]] = {}
            for each in self.remarks:
                if each.ranked is ranked:
                    found.setdefault(each.reason, {}).setdefault(each.model, []).append(each.task)
            yield title, tuple(f"{reason} ({_tasks(models)})" for reason, models in found.items())


def _placed(title: str, places: Iterable[Place]) -> Section:
    rows = tuple(
        FrameRow((
            Cell(each.task), Cell(each.measure), Cell(each.score, mark=LEXICAL * each.by_words), Cell(each.rank),
            Cell(each.against),
        ))
        for each in places
    )  # fmt: skip
    columns = tuple(map(label, ("task", "measure", "score", "rank", "against")))
    return Section(title, title, tables=(Frame(title, "", columns, rows, marks={LEXICAL: MEANINGS[LEXICAL]}),))


def _tasks(models: Mapping[str, Iterable[str]]) -> str:
    return "; ".join(f"{model}: {first_named(list(dict.fromkeys(tasks)), _NAMED)}" for model, tasks in models.items())


def _grouped(places: Iterable[Place]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for each in places:
        found.setdefault(f"{each.model}, {each.level}", []).append(each)
    return found
