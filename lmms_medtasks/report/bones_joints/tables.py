"""The tables of one model's part."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.report.bones_joints.analysis import OPEN, Analysis, Result
from lmms_medtasks.report.bones_joints.reading import MAIN, Asked
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.judged import Judging
from lmms_medtasks.report.marks import INCOMPLETE, LEXICAL, OTHER, marks, meanings
from lmms_medtasks.statistics.shares import Share
from lmms_medtasks.task_configs.bones_joints.forms import disease_count, paper_share, sites

MEANINGS = {
    LEXICAL: "By a judge that compares words, no LLM: a smoke test, no score.",
    OTHER: "By another judge than the paper's: does not compare with the paper's numbers.",
    INCOMPLETE: "Judgements are missing: the mean is over those that were had.",
}
_INTERVALS = (
    "In brackets: 95 % intervals, Wilson's where each question has one answer that is right or wrong, else by "
    "bootstrap over the images of cases."
)
_MOST_EXAMPLES = 12


def cell(found: Share | None, judging: Judging | None = None, *, bare: bool = False) -> Cell:
    """A share in percent with its interval."""
    if found is None or found.estimate is None:
        return NONE
    if bare or found.low is None or found.high is None:
        return Cell(100 * found.estimate, mark=marks(judging))
    return Cell(100 * found.estimate, 100 * found.low, 100 * found.high, marks(judging))


def _name(asked: Asked) -> str:
    return f"{asked.label}: {asked.task.name}"


def tasks(analysis: Analysis) -> Table:
    """Accuracy of every task, and how it was judged."""
    rows = []
    for each in analysis.results:
        judged = each.asked.judging is not None
        cells = (
            Cell(_name(each.asked)),
            Cell(len(each.asked.records)),
            cell(each.overall, each.asked.judging),
            percent_of(each.unclear),
            percent_of(each.unanimous),
            percent_of(each.steps),
            Cell(each.judgements) if judged else NONE,
            Cell(each.wanted) if judged else NONE,
            percent_of(each.worst),
            percent_of(each.best),
            NONE if judged else Cell(each.unreadable),
        )
        rows.append(Row(cells))
    columns = (
        label("task"), count("questions"), share("accuracy"), share("Unclear"), share("all judgements agree"),
        share("steps found"), count("n judged"), count("n"), share("missing as wrong"), share("missing as right"),
        count("unreadable"),
    )  # fmt: skip
    notes = (
        _INTERVALS,
        "Open answers: mean over three judgements, Correct 1, Incorrect and Unclear 0. Task VIII: 1 where the answer "
        "names the contradiction. Steps found: of the experts' chain, Tasks V and VII.",
        "Unreadable: multiple choice without one option that can be read; counts as wrong.",
    )
    return Table("tasks", "Accuracy by task", columns, tuple(rows), notes, marks=meanings(rows, MEANINGS))


def gaps(analysis: Analysis) -> Table:
    """Structured against open questions."""
    rows = []
    for each in analysis.gaps:
        second = (analysis.of(task, each.imaging) for task in OPEN)
        name = Cell(each.name, mark=marks(*(found.asked.judging for found in second if found)))
        rows.append(Row((name, Cell(each.imaging), *map(percent, (each.first, each.second, each.gap)))))
    points = Column("gap", digits=1, signed=True, unit="points")
    columns = (label("gap"), label("imaging in IV to VII"), share("multiple choice"), share("open answers"), points)
    notes = (
        "Each side is the mean of its tasks' accuracies, all tasks weighing alike. In brackets: 95 % bootstrap over "
        "the images of cases, which Tasks III to VII share. The paper: above 90 % on multiple choice in text, "
        "below 60 % on open questions.",
    )
    return Table(
        "gap", "Multiple choice against open answers", columns, tuple(rows), notes, marks=meanings(rows, MEANINGS)
    )


def by_site(analysis: Analysis) -> Table:
    """Accuracy of each task by anatomical site."""
    others = sorted({site for each in analysis.results for site in each.sites} - set(sites()))
    rows = [
        Row((Cell(site), Cell(paper_share(site) if site in sites() else None), *_of(analysis, site)))
        for site in (*sites(), *others)
    ]
    heads = (share(each.asked.label) for each in analysis.results)
    columns = (label("site"), share("of the paper's questions"), *heads)
    notes = (_INTERVALS, "Task VIII is by the site of the text. The number of questions is in the next table.")
    return Table("sites", "Accuracy by site", columns, tuple(rows), notes, marks=meanings(rows, MEANINGS))


def _of(analysis: Analysis, site: str) -> list[Cell]:
    return [cell(each.sites.get(site), each.asked.judging) for each in analysis.results]


def site_counts(analysis: Analysis) -> Table:
    """Questions of each site that have a score."""
    names = dict.fromkeys((*sites(), *(site for each in analysis.results for site in each.sites)))
    rows = [
        Row(
            (Cell(site), *(Cell(each.sites[site].n if site in each.sites else 0) for each in analysis.results)),
            "counts",
        )
        for site in names
    ]
    columns = (label("site"), *(count(each.asked.label) for each in analysis.results))
    return Table("site_counts", "Scored questions by site", columns, tuple(rows), folded=True)


def by_disease(analysis: Analysis) -> Table | None:
    """Accuracy of each task by disease; None where no record names one."""
    keys = dict.fromkeys(key for each in analysis.results for key in each.diseases)
    if not keys:
        return None
    sizes = {key: max(each.diseases[key].n for each in analysis.results if key in each.diseases) for key in keys}
    rows = []
    for key in sorted(keys, key=lambda key: (-sizes[key], key)):
        cells = (cell(each.diseases.get(key), each.asked.judging) for each in analysis.results)
        rows.append(Row((Cell(key[0]), Cell(key[1] or "not given"), Cell(sizes[key]), *cells)))
    heads = (share(each.asked.label) for each in analysis.results)
    columns = (label("disease"), label("in the paper's list"), count("cases"), *heads)
    notes = (
        _INTERVALS,
        f"The paper counts {disease_count()} diseases and does not list them: 'listed' are those that its text names, "
        "all others are 'unlisted'.",
    )
    return Table(
        "diseases", "Accuracy by disease", columns, tuple(rows), notes, marks=meanings(rows, MEANINGS), long=True
    )


def shortcuts(analysis: Analysis) -> Table | None:
    """The text-shortcut rate; None unless Task III was asked with its images and otherwise."""
    if not analysis.shortcuts:
        return None
    rows = [
        Row((Cell(said), Cell(each.n), percent(each.rate), percent(each.stayed_right), percent_of(each.chance),
             Cell(each.unread), Cell(each.failed), Cell(each.only_one)))
        for said, each in analysis.shortcuts.items()
    ]  # fmt: skip
    columns = (
        label("images"), count("questions"), share("same answer"), share("same answer, of the right ones"),
        share("by chance"), count("unreadable"), count("failed"), count("asked only once"),
    )  # fmt: skip
    notes = (
        "Task III with its images against the same questions with the images taken away, or swapped for another "
        "case's. 100 % is a model that does not look. By chance: what two independent series of answers with these "
        "frequencies would give. The measure is ours; the paper describes the tendency.",
    )
    return Table("shortcut", "Text-shortcut rate", columns, tuple(rows), notes)


def labels(found: Result) -> Table:
    """What the judge said of the answers to Task VIII."""
    total = found.labels.total()
    rows = [Row((Cell(name), Cell(number), percent_of(number / total))) for name, number in found.labels.most_common()]
    columns = (label("verdict"), count("judgements"), share("share"))
    key = "contradiction" if found.asked.condition in MAIN else f"contradiction_{found.asked.condition}"
    return Table(key, f"What became of contradictions (Task {found.asked.label})", columns, tuple(rows))


def examples(found: Result) -> Table | None:
    """Answers to Task VIII side by side with what they contradict, failures first; None without judged ones."""
    shown = [record for record in found.asked.records if record["example"] and record["labels"]]
    if not shown:
        return None
    shown.sort(key=lambda record: (record["score"], record["id"]))
    rows = [
        Row((Cell(record["id"]), Cell(record["example"]["text_site"]), Cell(record["example"]["image_site"]),
             Cell(record["image_case"] or None), Cell(record["example"]["question"]), Cell(record["example"]["answer"]),
             Cell(_verdicts(record))))
        for record in shown[:_MOST_EXAMPLES]
    ]  # fmt: skip
    columns = tuple(map(label, ("question", "text is about", "images show", "images of", "text", "answer", "verdicts")))
    rest = f" The first {_MOST_EXAMPLES} of {len(shown)}; the log has all." if len(shown) > _MOST_EXAMPLES else ""
    notes = (f"The answers with the lowest scores first.{rest}",)
    key = "examples" if found.asked.condition in MAIN else f"examples_{found.asked.condition}"
    return Table(key, f"Text, images and answer (Task {found.asked.label})", columns, tuple(rows), notes, long=True)


def _verdicts(record: Mapping[str, object]) -> str:
    given = list(record["labels"])  # type: ignore[call-overload]
    return ", ".join(f"{name} ({given.count(name)})" if len(set(given)) > 1 else name for name in dict.fromkeys(given))
