"""What stands in the cells of a table of questions: texts, options, answers, label names."""

from __future__ import annotations

import ast
import datetime
import io
import json
import re
import tokenize
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lmms_medtasks import parsing
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import SUFFIXES

if TYPE_CHECKING:
    from datasets import Dataset

SEVERAL = (
    'Where options can be right together, say several="all" and `parser: several_letters`: a reply then must name all '
    'of them and no other. Where any of them is right, say several="any" and `parser: any_letter`, or several="any" '
    "alone for an open question with several references."
)
_NAMED = 3

Place = Callable[[], str]  # Says where a cell stands: called only where something is wrong

_LETTERED = re.compile(r"\(?([A-Za-z])[.):]\)?\s*(.*)", re.DOTALL)
_LETTER_KEYS = ("label", "labels", "key", "letter", "id")
_TEXT_KEYS = ("text", "texts", "value", "content")

AnswerIs = Literal["letter", "text", "index", "number", ""]
ANSWER_IS = ("letter", "text", "index", "number")
Several = Literal["all", "any", ""]
RowKind = Literal["with_options", "without_options", ""]
KINDS = ("with_options", "without_options")

MIXED = (
    " An open question? `lmms-medtasks new` without --template makes a task of each kind; an adapter.py takes one kind "
    'by rows="with_options" or rows="without_options".'
)
WHOLE = re.compile(r"-?[0-9]+")
_COUNTS = 'Say whether they count options from 0 (answer_is="index") or from 1 (answer_is="number").'
_TOGETHER = re.compile(r"\s*(?:[,;/|&+]|\band\b|\s)\s*")
_EITHER = re.compile(r"\s*(?:[,;/|]|\bor\b|\s)\s*", re.IGNORECASE)
_LETTER = r"\(?[A-Za-z][).:]?"
_PLACEHOLDER = re.compile(r"<image[ _]?([0-9]*)>")
SAYS_OR = re.compile(rf"{_LETTER}(?:\s*,\s*{_LETTER})*\s*,?\s*\bor\b\s*{_LETTER}", re.IGNORECASE)
"""An answer that names several letters and says that either is right."""
SAYS_NEITHER = re.compile(rf"{_LETTER}(?:\s*[/|]\s*{_LETTER})+")
"""Several letters with a sign between them that some mean as "and" and others as "or"."""


def not_text_problem(value: Any, way_out: str = SEVERAL) -> str:
    """What is wrong with a value that is no text, and the way out (``way_out`` for lists and mappings)."""
    kind = type(value).__name__
    if isinstance(value, list | Mapping):
        return f"{value!r} is a {kind}, expected one text. {way_out}"
    if isinstance(value, datetime.date):
        return (
            f"{value!r} is a {kind}, expected a text: how it was written is lost. The reader of JSON takes the texts "
            "of a column for dates if all look like dates: store the table as CSV, or as parquet with a column of text."
        )
    return (
        f"{value!r} is a {kind}, expected a text or a whole number: how it was written is lost. Store the column as "
        "text (in JSON: in quotation marks)."
    )


def question_problem(text: str, images: int | None) -> str:
    """What is wrong with a question that speaks of images it has not, or is an image's name; "" if nothing is.

    ``images``: how many its row has; None in a table without images.
    """
    marks = [] if images is None else _PLACEHOLDER.findall(text)
    amount = f"the row has {images or 'no'} image{'' if images == 1 else 's'}"
    number = next((mark for mark in marks if mark and int(mark) > (images or 0)), "")
    if number:
        return f"it speaks of <image {number}>, {amount}."
    if marks.count("") > (images or 0):
        return f"it holds <image> {marks.count('')} times, {amount}."
    is_name = text.lower().endswith(SUFFIXES) and not re.search(r"\s|^\.\w+$", text)
    return f"{text!r} is an image's name, no question." if is_name else ""


def lookalike_hint(text: str, others: Sequence[str]) -> str:
    """Why ``text`` is none of ``others`` though it looks like one, as a sentence after a blank; "" otherwise."""
    alike = [other for other in others if fold_cell(other) == fold_cell(text)]
    if alike:
        return f" It differs from {alike[0]!r} in letter case or blanks only: write both alike."
    known = set("".join(others))
    strange = [sign for sign in dict.fromkeys(text) if not sign.isascii() and sign not in known]
    same = [sign for sign in strange if not sign.isprintable() or unicodedata.normalize("NFKC", sign) != sign]
    same += [sign for sign in strange if sign not in same and len(text.strip("().: ")) == 1]
    lookalikes = ", ".join(sign_name(sign) for sign in same[:_NAMED])
    return f" It holds {lookalikes}, which only looks like another character: type it again." if same else ""


def sign_name(sign: str) -> str:
    return f"U+{ord(sign):04X} ({unicodedata.name(sign, 'no name')})"


def fold_cell(text: str) -> str:
    return " ".join(text.casefold().split())


def joined_by_python(text: str) -> bool:
    """Whether two texts stand side by side ("['a' 'b']"), as NumPy prints arrays; Python would join them."""
    before = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and before == tokenize.STRING:
                return True
            if token.type != tokenize.NL:
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return False
    return False


def parse_options(value: Any, locate: Place) -> list[Any]:
    """The options in a cell, none of an empty one: a list, a mapping from letters, pairs, or these as JSON or Python's.

    Pairs are a list of mappings (``{"label": "A", "text": "cat"}``), or a mapping of lists (``label`` and ``text``).
    """
    given = value
    if isinstance(value, str):
        value = _parse_written(value) if value.strip() else []
    if given is None or value in ([], {}):
        return []
    pairs = _option_pairs(value)
    if pairs is not None:
        letters = [str(key).strip().upper() for key, _ in pairs]
        if letters != list(parsing.option_letters(len(letters))):
            raise UserError(
                f"{locate()}: the options are called {', '.join(str(key) for key, _ in pairs)}, expected A, B, C "
                "... in this order."
            )
        return [text for _, text in pairs]
    if not isinstance(value, list | tuple):
        hint = " It is an array as NumPy prints it." if isinstance(given, str) and joined_by_python(given) else ""
        raise UserError(
            f'{locate()}: expected a list of options, as a list or as JSON (["cat", "dog"]), got '
            f"{str(given)[:80]!r}.{hint}"
        )
    return list(value)


def _option_pairs(value: Any) -> list[tuple[Any, Any]] | None:
    """Letters and texts of options that have both; None for a plain list and anything else."""
    if isinstance(value, Mapping):
        names = {str(key).lower(): each for key, each in value.items()}
        marks = next((names[key] for key in _LETTER_KEYS if isinstance(names.get(key), list | tuple)), None)
        texts = next((names[key] for key in _TEXT_KEYS if isinstance(names.get(key), list | tuple)), None)
        if marks is not None and texts is not None and len(marks) == len(texts):
            return list(zip(marks, texts, strict=True))
        return [(key, each) for key, each in value.items() if each is not None]
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, Mapping) for each in value):
        return None
    pairs = []
    for each in value:
        mark = next((each[key] for key in _LETTER_KEYS if key in each), None)
        text = next((each[key] for key in _TEXT_KEYS if key in each), None)
        if mark is None or text is None:
            return None
        pairs.append((mark, text))
    return pairs


def _parse_written(text: str) -> Any:
    """A list or mapping written as JSON, numbers as they stand, or as Python writes lists; None otherwise."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)  # 2.50 stays as it is written
    except json.JSONDecodeError:
        pass
    try:
        written = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    # A number in it would have lost how it was written; texts side by side would be joined into one.
    plain = isinstance(written, list | dict) and all(isinstance(each, str) for each in written)
    return written if plain and not joined_by_python(text) else None


def trim_options(texts: list[str], locate: Place) -> list[str]:
    """The options without empty ones at the end; UserError for fewer than two, gaps, repetitions and too many."""
    while texts and not texts[-1]:
        texts.pop()
    if len(texts) < 2 or "" in texts:
        mixed = "" if texts else MIXED
        raise UserError(
            f"{locate()}: the options are {texts}. Expected two or more, none empty before the last.{mixed}"
        )
    if len(texts) > 26:
        raise UserError(f"{locate()}: {len(texts)} options, at most 26 have letters.")
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        raise UserError(f"{locate()}: the option {repeated[0]!r} stands there twice: no answer could be told right.")
    return texts


def leading_letters(options: Sequence[str]) -> list[str]:
    """The letters that the options' texts begin with, in capitals ("A. cat"); [] unless all do."""
    matches = [_LETTERED.fullmatch(text) for text in options]
    return [match[1].upper() for match in matches if match] if matches and all(matches) else []


def letter_and_text(answer: str) -> tuple[str, str] | None:
    """The letter in capitals and the text of an answer such as "A. cat"; None for any other."""
    match = _LETTERED.fullmatch(answer.strip())
    return (match[1].upper(), match[2].strip()) if match and match[2].strip() else None


def without_letters(options: list[str], locate: Place) -> list[str]:
    """The options without the letters that their texts begin with; UserError unless all do."""
    letters = list(parsing.option_letters(len(options)))
    if leading_letters(options) != letters:
        raise UserError(
            f"{locate()}: lettered=True takes letters off, but the options {options} do not begin with "
            f"{', '.join(letters)} in this order."
        )
    texts = [_LETTERED.fullmatch(text)[2].strip() for text in options]  # type: ignore[index]  # lettered() has matched
    return trim_options(texts, locate)


def one_of_one(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def written_list(value: Any) -> list[Any] | None:
    """The items of a list that is written as text, as JSON or as Python writes it; None for anything else."""
    is_written = isinstance(value, str) and value.strip().startswith("[")
    items = _parse_written(value.strip()) if is_written else None
    return items if isinstance(items, list) else None


def parse_references(value: Any) -> list[Any]:
    """The references in a cell: a list, also as JSON, of texts or of VQA v2's mappings with ``answer``."""
    items = written_list(value) or (value if isinstance(value, list) else [value])
    return [item["answer"] if isinstance(item, Mapping) and "answer" in item else item for item in items]


def split_answers(value: Any, options: Sequence[str], several: Several) -> list[Any]:
    """The single answers in a cell with several: items of a list, or letters and numbers with signs between them."""
    if isinstance(value, list):
        return value
    items = written_list(value)
    if items is not None:
        return items
    text = str(value).strip()
    if text in options:
        return [text]
    if re.fullmatch(r"[A-Z]{2,26}", text) and all(is_letter(each, options) for each in text):
        return list(text)
    signs = _EITHER if several == "any" else _TOGETHER
    split = [each for each in signs.split(text) if each]
    return split if all(is_letter(each, options) or WHOLE.fullmatch(each) for each in split) else [text]


def answer_kind(values: list[str], options: list[list[str]], column: str) -> str:
    """What the answers of a column are. UserError unless only one reading fits all of them."""
    pairs = list(zip(values, options, strict=True))
    places = {kind: [place_of(value, offered, kind) for value, offered in pairs] for kind in ANSWER_IS}
    fitting = [kind for kind in ANSWER_IS if None not in places[kind]]
    if "text" in fitting and "letter" in fitting:
        raise UserError(
            f'Column {column!r} could be letters or options\' texts. Say answer_is="letter" or answer_is="text".'
        )
    whole = all(WHOLE.fullmatch(value.strip()) for value in values)
    if whole and "text" not in fitting:
        raise UserError(f"Column {column!r} holds whole numbers such as {values[0]!r}. {_COUNTS}")
    others = [kind for kind in ("index", "number") if kind in fitting and places[kind] != places.get("text")]
    if whole and others:
        kinds = " or ".join(f'answer_is="{kind}"' for kind in ("text", *others))
        raise UserError(
            f"Column {column!r} holds whole numbers such as {values[0]!r}, which could be options' texts or count "
            f"options. Say {kinds}."
        )
    letters = sum(index is not None for index in places["letter"])
    return "text" if "text" in fitting or letters < len(pairs) / 2 else "letter"


def _bare_letter(value: str) -> str:
    return value.strip().strip("().:").upper()


def is_letter(value: str, options: Sequence[str]) -> bool:
    text = _bare_letter(value)
    return len(text) == 1 and text in parsing.option_letters(len(options))


def place_of(value: Any, options: Sequence[str], kind: str) -> int | None:
    """The index of the option that an answer of this kind names, or None. "A. cat" is a letter, too."""
    index: int | None = None
    letters = parsing.option_letters(len(options))
    if kind == "letter" and isinstance(value, str):
        both = letter_and_text(value)
        if is_letter(value, options):
            index = letters.index(_bare_letter(value))
        elif both and both[0] in letters and options[letters.index(both[0])] == both[1]:
            index = letters.index(both[0])
    elif kind == "text" and str(value).strip() in options:
        index = list(options).index(str(value).strip())
    elif kind in ("index", "number") and WHOLE.fullmatch(str(value).strip()):
        index = int(value) - (kind == "number")
    return index if index is not None and 0 <= index < len(options) else None


def letter_of(value: Any, options: Sequence[str], kind: str) -> str:
    """The letter of the option that an answer of this kind names. Raises UserError if it names none."""
    letters = parsing.option_letters(len(options))
    index = place_of(value, options, kind)
    if index is None:
        hint = lookalike_hint(str(value), options)
        if re.fullmatch(r"[0-9]+\.0", str(value).strip()):
            hint = " Some programs write whole numbers so where a cell of the column is empty: write them without .0."
        if SAYS_OR.fullmatch(str(value).strip()):
            hint = ' Is any of them right? Say several="any" and `parser: any_letter`.'
        raise UserError(
            f"the answer {value!r} is not among the options, read as {kind}.{hint} Options: "
            + ", ".join(f"{letter}. {text}" for letter, text in zip(letters, options, strict=True))
        )
    return letters[index]


def with_label_names(dataset: Dataset) -> Dataset:
    """``dataset`` with names in place of the numbers of its ``ClassLabel`` columns and lists of them; None for -1."""
    import datasets

    for name, feature in dict(dataset.features).items():
        inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
        label = next((each for each in (feature, inner) if isinstance(each, datasets.ClassLabel)), None)
        if label is None:
            continue
        names = [_label_names(value, label.names) for value in dataset[name][:]]
        dataset = dataset.remove_columns([name]).add_column(name, names)
    return dataset


def _label_names(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_label_names(each, names) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def parse_severity(value: Any, locate: Place) -> Any:
    """A severity as a number, None for an empty cell; what is no text is left to others."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text and not WHOLE.fullmatch(text):
        raise UserError(f"{locate()}: {value!r}, expected a whole number from 0 to 2.")
    return int(text) if text else None


def check_no_letter(value: Any, locate: Place) -> None:
    """Refuse a letter as the answer of a row without options, in a table that has them: they may have been lost."""
    if re.fullmatch(r"\(?[A-J][).]?", str(value).strip()):
        raise UserError(
            f"{locate()}: a row without options has the answer {value!r}, an option's letter. Give it its options. If "
            "it is an open question, put such questions into a table without columns of options, and name both tables: "
            "--dataset once for each."
        )
