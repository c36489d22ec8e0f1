"""A blind rating sheet: which answers, in what order, under which codes; as a CSV, and as a page that loads nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata, resources

from lmms_medtasks.agreement.judged_answers import JudgedAnswer, JudgedAnswers
from lmms_medtasks.agreement.ratings import COMMENT, IMAGES, KEY_COLUMNS, guard_formula, text_column
from lmms_medtasks.data import question_pictures
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import prompts
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import list_task_splits, task_settings
from lmms_medtasks.seeding import seeded_generator

_LETTERS = "ABCDEFGHJKLMNPQRTUVWXYZ2346789"
"""Of codes: no two of them look alike."""
_NUMBER = re.compile(r"[0-9]+E[0-9]+")  # to a spreadsheet, which writes 73E22 as 7.3E+23
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class SheetAnswer:
    """An answer on the sheet, and the code that stands for it there."""

    code: str
    answer: JudgedAnswer

    def shown_text(self, field: str) -> str:
        """A text that the judge was shown."""
        return (self.answer.fields or {}).get(field, "")


@dataclass(frozen=True)
class SheetImages:
    """Pictures of a sheet's questions.

    Attributes:
        files: name -> PNG. A name is a digest of the pixels and tells nothing about the question.
        of_question: question id -> names of its pictures, in order; without questions whose data is not here.
        problems: a sentence for each picture that could not be read.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    of_question: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def picture_names(self, drawn: SheetAnswer) -> tuple[str, ...]:
        return self.of_question.get(drawn.answer.key.id, ())


def draw_sheet_answers(judged: JudgedAnswers, questions: int, *, seed: int = 0) -> tuple[SheetAnswer, ...]:
    """The answers of all models to ``questions`` questions drawn at random, in random order.

    A question can be drawn if at least one of its answers needs a judge. Of several trials one is taken, the same for
    all models. The same runs and seed give the same sheet.

    Raises UserError if the log withholds the texts, or no question can be drawn.
    """
    withheld = next((answer for answer in judged.answers if answer.digest), None)
    if withheld:
        raise UserError(
            f"The texts of {withheld.task!r} are not in the log and must not be given to others. The data's terms: "
            f"{judged.protocol.terms}"
        )
    by_question: dict[str, list[JudgedAnswer]] = {}
    for answer in judged.by_key.values():
        if answer.fields is not None:
            by_question.setdefault(answer.key.id, []).append(answer)
    ids = [id for id, answers in sorted(by_question.items()) if not all(answer.settled for answer in answers)]
    if not ids:
        raise UserError("There is no answer to rate in these runs: all requests failed, or a rule settled all answers.")
    chosen = seeded_generator("rating sheet questions", seed).permutation(len(ids))[:questions]
    drawn = [answer for index in chosen.tolist() for answer in _answers_of_one_trial(by_question[ids[index]], seed)]
    order = seeded_generator("rating sheet order", seed).permutation(len(drawn))
    return _give_codes([drawn[index] for index in order.tolist()], seed)


def _answers_of_one_trial(answers: Sequence[JudgedAnswer], seed: int) -> list[JudgedAnswer]:
    """The answers of one trial, drawn among those that most models have an answer in."""
    trials = [answer.key.trial for answer in answers]
    count = max(map(trials.count, trials))
    most = sorted({trial for trial in trials if trials.count(trial) == count})
    chosen = most[int(seeded_generator("rating sheet trial", seed, answers[0].key.id).integers(len(most)))]
    return [answer for answer in answers if answer.key.trial == chosen]


def _give_codes(answers: Sequence[JudgedAnswer], seed: int) -> tuple[SheetAnswer, ...]:
    rng = seeded_generator("rating sheet codes", seed)
    codes: dict[str, JudgedAnswer] = {}
    for answer in answers:
        code = ""
        while not code or code in codes or _NUMBER.fullmatch(code):
            code = "".join(_LETTERS[index] for index in rng.integers(len(_LETTERS), size=5).tolist())
        codes[code] = answer
    return tuple(SheetAnswer(code, answer) for code, answer in codes.items())


def read_sheet_images(runs: Iterable[ResultFile], drawn: Sequence[SheetAnswer]) -> SheetImages:
    """The original, not degraded pictures of the drawn questions, from data on this machine.

    Tasks that were asked without images have none.
    """
    by_run = {str(run.path): run for run in runs}
    ids_by_split: dict[tuple[str, str, str], set[str]] = {}
    for answer in (sheet_answer.answer for sheet_answer in drawn):
        run = by_run[answer.run]
        if task_settings(run, answer.task).get("no_image"):
            continue
        data = str((run.content["configs"][answer.task].get("metadata") or {}).get("data", ""))
        for data_set, split in list_task_splits(run, answer.task):
            ids_by_split.setdefault((data_set, split, data), set()).add(answer.key.id)
    files: dict[str, bytes] = {}
    of_question: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for split_key, ids in ids_by_split.items():
        for document in question_pictures.DocumentSplit(*split_key).documents(ids):
            try:
                pngs = [question_pictures.encode_shown_png(image) for image in document.images]
            except UserError as error:
                problems.append(f"The image of question {document.id!r} is not on the sheet: {error}")
                continue
            names = [f"{hashlib.sha256(png).hexdigest()[:16]}.png" for png in pngs]
            files.update(zip(names, pngs, strict=True))
            of_question[document.id] = tuple(names)
    return SheetImages(files, of_question, tuple(problems))


def sheet_csv(drawn: Sequence[SheetAnswer], protocol: JudgeProtocol, pictures: SheetImages) -> str:
    """The sheet as CSV: a row an answer with its code, the files of its pictures in the folder ``images`` beside the
    sheet (no such column without any), its texts, and empty columns for rater, ratings and a comment."""
    images = [IMAGES] if any(map(pictures.picture_names, drawn)) else []
    rated = [*(dimension.name for dimension in protocol.dimensions), COMMENT]
    rows = [["id", "rater", *images, *(text_column(field, protocol) for field in protocol.fields), *rated]]
    for answer in drawn:
        shown = [" ".join(f"images/{name}" for name in pictures.picture_names(answer)) for _ in images]
        rows.append([answer.code, "", *shown, *map(answer.shown_text, protocol.fields), *("" for _ in rated)])
    return format_csv(rows)


def key_csv(drawn: Sequence[SheetAnswer]) -> str:
    """The key file: which answer each code stands for. Raters must not see it."""
    rows = []
    for sheet_answer in sorted(drawn, key=lambda drawn: drawn.code):
        answer, (model, id, trial) = sheet_answer.answer, sheet_answer.answer.key
        rows.append([sheet_answer.code, model, id, str(trial), answer.task, answer.run])
    return format_csv([KEY_COLUMNS, *rows])


def format_csv(rows: Iterable[Sequence[str]]) -> str:
    """A CSV (RFC 4180) with a byte-order mark, by which Excel knows UTF-8.

    Every cell is guarded, and without the character NUL, which Python 3.10 can neither write nor read.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerows([guard_formula(cell.replace("\0", "")) for cell in row] for row in rows)
    return "\ufeff" + buffer.getvalue()


def describe_equal_labels(protocol: JudgeProtocol) -> list[str]:
    """A sentence for each score that several labels have, which are one category for every coefficient."""
    sentences = []
    for dimension in protocol.dimensions:
        for number in sorted(set(dimension.labels.values())):
            names = [label for label, label_number in dimension.labels.items() if label_number == number]
            if len(names) > 1:
                sentences.append(f"{dimension.name}: {', '.join(names)} score alike and count as one.")
    return sentences


def render_sheet(drawn: Sequence[SheetAnswer], protocol: JudgeProtocol, pictures: SheetImages) -> str:
    """The sheet as a page. All texts are escaped; a content security policy lets no script run but the page's own.

    A picture is in the page once, as a style, whatever the number of its question's answers.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    script = _read_resource("sheet.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.from_string(_read_resource("sheet.html")).render(
        version=metadata.version("lmms-medtasks"),
        protocol=protocol,
        scales={dimension.name: _scale_keys(dimension) for dimension in protocol.dimensions},
        alike=describe_equal_labels(protocol),
        drawn=drawn,
        texts=[
            {name: _CONTROL.sub("\ufffd", answer.shown_text(name).replace("\r\n", "\n")) for name in protocol.fields}
            for answer in drawn
        ],
        anchors=prompts.label_anchors(protocol),
        pictures=[[name.removesuffix(".png") for name in pictures.picture_names(answer)] for answer in drawn],
        files={name.removesuffix(".png"): base64.b64encode(data).decode() for name, data in pictures.files.items()},
        prompt=prompts.read_prompt_file(protocol.prompt),
        columns=["id", "rater", *(dimension.name for dimension in protocol.dimensions), COMMENT],
        sheet=hashlib.sha256("".join(answer.code for answer in drawn).encode()).hexdigest()[:16],
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        script=Markup(script),  # noqa: S704 - a file of this package
    )


def _read_resource(name: str) -> str:
    return resources.files("lmms_medtasks.agreement").joinpath(name).read_text(encoding="utf-8")


def _scale_keys(dimension: ScoreDimension) -> list[tuple[str, str]]:
    """The labels from worst to best, each with the key that chooses it: its own digit, or its position."""
    labels = sorted(dimension.labels, key=lambda label: dimension.labels[label])
    has_digits = all(len(label) == 1 and label in "0123456789" for label in labels)
    return [
        (label, label if has_digits else str(position) if position < 10 else "")
        for position, label in enumerate(labels, 1)
    ]
