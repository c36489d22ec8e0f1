"""Drawing a blind rating sheet: which answers, in what order, under which codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lmms_medtasks.agreement import spreadsheet
from lmms_medtasks.agreement.judged_answers import Answer, Judged
from lmms_medtasks.agreement.ratings import COMMENT, IMAGES, KEY_COLUMNS, text_column
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges import anchors, prompts
from lmms_medtasks.judges.protocol import Dimension, Protocol
from lmms_medtasks.seeding import generator

_LETTERS = "ABCDEFGHJKLMNPQRTUVWXYZ2346789"
"""No two of them look alike."""
_CODE_LENGTH = 5


@dataclass(frozen=True)
class Drawn:
    """An answer on the sheet, and the code that stands for it there."""

    code: str
    answer: Answer


def draw(
    judged: Judged, questions: int, *, seed: int = 0, by: Sequence[str] = (), settled: bool = False
) -> tuple[Drawn, ...]:
    """The answers of all models to ``questions`` questions drawn at random, in random order.

    A question can be drawn when a judge is needed for one of its answers at least, or, with ``settled``, any. Of
    several replies to it one is taken, the same of every model. ``by``: tags in whose groups as many are drawn as the
    groups have of all (largest remainders). All questions if there are no more than asked for. The same runs and seed
    give the same sheet.

    Raises UserError when the log withholds the texts, a tag is unknown, or no question can be drawn.
    """
    withheld = next((answer for answer in judged.answers if answer.withheld), None)
    if withheld:
        raise UserError(
            f"The texts of {withheld.task!r} are not in the log and must not be given to others. The data's terms: "
            f"{judged.protocol.terms}"
        )
    for tag in by:
        if tag not in judged.tags:
            raise unknown("tag", tag, judged.tags, "--by")
    by_question = _by_question(judged, settled)
    if not by_question:
        more = "" if settled else ", or all were settled by a rule (--settled draws those, too)"
        raise UserError(f"There is no answer to rate in these runs: all requests failed{more}.")
    chosen = _chosen(by_question, questions, seed, by)
    answers = [answer for id in chosen for answer in _of_one_trial(by_question[id], seed)]
    order = generator("rating sheet order", seed).permutation(len(answers))
    return _coded([answers[place] for place in order.tolist()], seed)


def sheet_csv(
    drawn: Sequence[Drawn], protocol: Protocol, pictures: Callable[[Drawn], Sequence[str]] = lambda drawn: ()
) -> str:
    """The sheet as CSV: a row an answer with its code, the files of its pictures, its texts, and empty columns for
    rater, ratings and a comment. ``pictures``: their names in the folder ``images`` beside the sheet; without any there
    is no such column."""
    shown = {each.code: " ".join(f"images/{name}" for name in pictures(each)) for each in drawn}
    images = [IMAGES] if any(shown.values()) else []
    rated = [*(each.name for each in protocol.dimensions), COMMENT]
    columns = ["id", "rater", *images, *(text_column(field, protocol) for field in protocol.fields), *rated]
    rows = []
    for each in drawn:
        texts = [_text(each.answer, field) for field in protocol.fields]
        rows.append([each.code, "", *(shown[each.code] for _ in images), *texts, *("" for _ in rated)])
    return spreadsheet.csv_text(columns, rows)


def key_csv(drawn: Sequence[Drawn]) -> str:
    """Which answer each code stands for: what a rater must not see, and the ratings are read with."""
    rows = []
    for each in sorted(drawn, key=lambda drawn: drawn.code):
        model, id, trial = each.answer.key
        rows.append([each.code, model, id, str(trial), each.answer.task, each.answer.run])
    return spreadsheet.csv_text(KEY_COLUMNS, rows)


def instructions(protocol: Protocol) -> str:
    """For who rates in the CSV: what to write where."""
    known = anchors.of(protocol)
    scales = "\n".join(_scale(each, known.get(each.name, {})) for each in protocol.dimensions)
    scales += "".join(f"\n  ({said})" for said in alike(protocol))
    return (
        "Rate each answer by itself, in any order. Write your name into the column rater, and one of these into the\n"
        f"columns of ratings (from worst to best):\n\n{scales}\n\n"
        "Leave a cell empty where you can't tell. The column comment is yours. Change nothing else, and save as CSV\n"
        "UTF-8. The column images names the files of the images that the question is about, in the folder images.\n"
        "sheet.html is the same sheet for a browser: it shows them, keeps what you rate, and exports the CSV.\n\n"
        f"All that the judge was told, by whose scales you rate:\n\n{prompts.text_of(protocol.prompt)}\n"
    )


def _scale(dimension: Dimension, known: Mapping[str, str]) -> str:
    labels = ascending(dimension.labels)
    if not known:
        return f"  {dimension.name}: {', '.join(labels)}"
    return f"  {dimension.name}\n" + "\n".join(f"    {name}: {known[name]}" for name in labels)


def ascending(labels: Mapping[str, float]) -> list[str]:
    """A scale's labels from worst to best."""
    return sorted(labels, key=lambda label: labels[label])


def alike(protocol: Protocol) -> list[str]:
    """Which labels score alike and so are one category for every coefficient, a sentence for each such score."""
    found = []
    for each in protocol.dimensions:
        for number in sorted(set(each.labels.values())):
            names = [label for label, own in each.labels.items() if own == number]
            if len(names) > 1:
                found.append(f"{each.name}: {', '.join(names)} score alike and count as one.")
    return found


def _text(answer: Answer, field: str) -> str:
    return (answer.fields or {}).get(field, "")


def _by_question(judged: Judged, settled: bool) -> dict[str, list[Answer]]:
    """The answers that have texts, by question; questions that a rule settled for all models only if ``settled``."""
    found: dict[str, list[Answer]] = {}
    for answer in judged.by_key().values():
        if answer.fields is not None:
            found.setdefault(answer.key.id, []).append(answer)
    if settled:
        return found
    return {id: answers for id, answers in found.items() if not all(answer.settled for answer in answers)}


def _chosen(by_question: Mapping[str, Sequence[Answer]], count: int, seed: int, by: Sequence[str]) -> list[str]:
    """The ids of ``count`` questions, from each stratum its share."""
    strata: dict[tuple[str, ...], list[str]] = {}
    for id in sorted(by_question):
        stratum = tuple(str(by_question[id][0].tags.get(tag, "")) for tag in by)
        strata.setdefault(stratum, []).append(id)
    names = sorted(strata)
    shares = _shares([len(strata[name]) for name in names], min(count, len(by_question)))
    chosen = []
    for name, share in zip(names, shares, strict=True):
        order = generator("rating sheet questions", seed, *name).permutation(len(strata[name]))
        chosen += [strata[name][place] for place in order[:share].tolist()]
    return chosen


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """``count`` divided in proportion to ``sizes``, whole numbers: the largest remainders are rounded up."""
    total = sum(sizes)
    shares = [size * count // total for size in sizes]
    remainders = [size * count % total for size in sizes]
    for place in sorted(range(len(sizes)), key=lambda place: (-remainders[place], place))[: count - sum(shares)]:
        shares[place] += 1
    return shares


def _of_one_trial(answers: Sequence[Answer], seed: int) -> list[Answer]:
    """The answers of one trial, one that most models have an answer in."""
    counts: dict[int, int] = {}
    for answer in answers:
        counts[answer.key.trial] = counts.get(answer.key.trial, 0) + 1
    most = sorted(trial for trial, count in counts.items() if count == max(counts.values()))
    chosen = most[int(generator("rating sheet trial", seed, answers[0].key.id).integers(len(most)))]
    return [answer for answer in answers if answer.key.trial == chosen]


def _coded(answers: Sequence[Answer], seed: int) -> tuple[Drawn, ...]:
    rng = generator("rating sheet codes", seed)
    codes: dict[str, Answer] = {}
    for answer in answers:
        code = ""
        while not code or code in codes:
            code = "".join(_LETTERS[place] for place in rng.integers(len(_LETTERS), size=_CODE_LENGTH).tolist())
        codes[code] = answer
    return tuple(Drawn(code, answer) for code, answer in codes.items())
