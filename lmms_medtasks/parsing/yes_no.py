"""Reading yes or no out of a reply that may explain itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lmms_medtasks.parsing.asked_things import names_other, read_about
from lmms_medtasks.parsing.reply import ParsedAnswer, Reply, find_refusal, single_answer
from lmms_medtasks.parsing.sentences import first_sentence, sentence_before, split_sentences
from lmms_medtasks.parsing.statements import Statement, find_statements, is_taken_back, last_standing
from lmms_medtasks.parsing.texts import normalise_characters, to_plain_text
from lmms_medtasks.parsing.words import lazy_pattern, word_pattern

YesOrNo = Literal["yes", "no"]

_MARKS = ".,:;!\"'()[]{}*_<> ~-"
_YES_OR_NO = re.compile(r"^\W*yes or no\W+")
_LAST = 200  # characters at the end in which "..., but yes" is looked for
_SENTENCES = 12
_OF_A_SENTENCE = 400
# For a highlighted panel, in English.
_ODD = r"(?:outlier|odd one out|differ\w*|anomal\w*|inconsistent|abnormal|stands? out|unlike the)"
_ALIKE = r"(?:consistent with|the same as|similar to|identical to|normal\b)"
_SUPPOSED = re.compile(r"\b(?:whether|if)\b[^.,;\n]*")
_PANEL_NO = re.compile(
    rf"(?:\bnot|n't)\b(?: \w+){{0,4}}? {_ODD}|\bno (?:\w+ )?(?:outlier|differen\w+|anomal\w+)"
    rf"|\b(?:is|appears|looks|seems)(?: to be)? (?!not )(?:\w+ )?{_ALIKE}|\bmatches the other"
)
_PANEL_YES = re.compile(
    rf"\b(?:is|appears to be|does|seems to be|looks)(?: \w+){{0,3}}? {_ODD}|\b(?:differs|stands out)\b"
    rf"|(?:\bnot|n't)(?: to be)? (?:\w+ )?{_ALIKE}|\bunlike the (?:other|rest|remaining)"
)


class _Said(NamedTuple):
    value: YesOrNo
    start: int
    end: int
    corrects: bool = False  # behind a word that takes back what was said: "wait, yes"


@dataclass(frozen=True)
class _YesNoQuestion:
    """A question in a plain text's terms, and whether it offers "true" and "false" as its answers."""

    text: str
    offers_true_false: bool


def read_yes_no(reply: Reply | str | None, question: str = "", *, panel: bool = False) -> ParsedAnswer:
    """Read "yes" or "no" as a reply gives it, in the languages of ``words.yml``.

    The first of these that says one counts:

    - ``alone``: the reply is nothing but an answer;
    - what the last statement says that is not taken back ("the answer is no");
    - "yes and no" is ambiguous; "possibly yes" and "it depends" are no answer;
    - ``head``: the word after a last "but"; the word that a sentence starts with, the last one where words between take
      the first back, else all of them must agree;
    - a refusal; "No, I cannot see the image" is one, too;
    - of a reply that does not break off: ``said``, the only one of the two words in it that stands for itself;
      ``question``, what a sentence says of the thing that the question asks for; ``panel``, for a question whether a
      highlighted panel is the outlier, sentences that say so in English ("is not the outlier").

    ``question`` settles three readings. "True" and "False" answer a question that offers them; said to another one,
    they may mean the question, a statement in it or its opposite, and are no answer. "There is no nodule", "a nodule is
    seen" and "the heart is not enlarged" are answers where the question asks for just that. Where a head and such a
    sentence contradict each other ("Yes, there is no fracture."), it is ambiguous. "No image" and "no idea" are no
    answer to any, and "no nodule" does not answer "Is the lung normal?".
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return ParsedAnswer(reply.outcome)
    offers_true_false = _true_or_false().search(question) is not None
    asked_question = _YesNoQuestion(to_plain_text(normalise_characters(question)), offers_true_false)
    # A reply may begin with the question.
    text = _YES_OR_NO.sub("", _true_or_false().sub(" ", to_plain_text(normalise_characters(reply.answer))))
    answer = _read_text(text, asked_question, panel, reply.unfinished)
    return ParsedAnswer(reply.unread) if answer is None or answer.status == "unreadable" else answer


def yes_or_no(option: str) -> YesOrNo | Literal[""]:
    """ "yes" or "no" where that is what an option's text is, else ""."""
    word = option.casefold().strip(" .,:;!。")
    if word_pattern("yes").fullmatch(word):
        return "yes"
    return "no" if word_pattern("no").fullmatch(word) else ""


def _read_text(text: str, question: _YesNoQuestion, panel: bool, unfinished: bool) -> ParsedAnswer | None:
    if (whole := _match_alone(text, question)) is not None:
        return ParsedAnswer("ok", whole.value, "alone")
    answer = _read_stated(text, question, unfinished) or _read_undecided(text) or _read_head(text, question)
    if answer is not None or unfinished:
        return answer
    return _read_word(text) or _read_sentences(text, question) or (_read_panel(text) if panel else None)


def _read_stated(text: str, question: _YesNoQuestion, unfinished: bool) -> ParsedAnswer | None:
    """What the last statement says; of a reply that breaks off "so" states nothing."""

    def resolve(statement: Statement) -> tuple[YesOrNo, int] | None:
        if statement.rule == "so" and unfinished:
            return None
        part = text[statement.said : statement.end]
        reading = _match_alone(first_sentence(part.strip()), question) or _match_head(part, question)
        if reading is not None and not _condition_pattern().match(part, reading.end):
            return reading.value, statement.said + reading.end
        sentence = first_sentence(part)
        about = read_about(sentence, question.text) if statement.rule != "correction" else None
        return (about, statement.said + len(sentence)) if about else None

    stated = last_standing(text, find_statements(text, letters=False), resolve)
    if stated is None:
        return None
    return ParsedAnswer("ambiguous") if stated.taken_back else ParsedAnswer("ok", stated.value, stated.statement.rule)


def _read_undecided(text: str) -> ParsedAnswer | None:
    if _both_pattern().search(text):
        return ParsedAnswer("ambiguous")
    open_ = (
        _hedged_pattern().search(text)
        or _depends_pattern().search(text)
        or word_pattern("not_excluded", before=r"\W*").match(text)
    )
    return ParsedAnswer("unreadable") if open_ else None


def _read_head(text: str, question: _YesNoQuestion) -> ParsedAnswer | None:
    """What sentences start with, or that the reply refuses."""
    if (turned := _word_after_but().search(text[-_LAST:])) is not None:
        return ParsedAnswer("ok", _match_value(turned), "head")
    heads = _find_heads(text, question)
    refused = find_refusal(text) is not None
    if heads and not (refused and heads[-1].value == "no"):
        return _read_heads(text, heads, question)
    first = re.split(r"[.:,;\n]", text, maxsplit=1)[0]
    if not heads and not _word_pattern().match(text) and (begin := _match_alone(first, question)) is not None:
        return ParsedAnswer("ok", begin.value, "head")
    if refused:
        return ParsedAnswer("refused")
    verdict = _match_verdict(text, question)
    return ParsedAnswer("ok", verdict.value, "head") if verdict else None


def _read_heads(text: str, heads: list[_Said], question: _YesNoQuestion) -> ParsedAnswer:
    first, last = heads[0], heads[-1]
    if is_taken_back(text, last.end):
        return ParsedAnswer("ambiguous")
    # What the word belongs to is read with it: "No se observa fractura."
    rest = text[last.end :] if re.match(r"\W*(?:[^\w\s]|\n|$)", text[last.end :]) else text[last.start :]
    if rest.startswith(text[last.start : last.end]) and names_other(first_sentence(rest), question.text):
        return ParsedAnswer("unreadable")  # "No hay masa en el pulmón derecho", and the left one is asked about
    about = _read_sentences(rest.strip(" ,.;:!\n"), question)
    if about and about.value != last.value and not _turn_words().search(rest):
        return ParsedAnswer("ambiguous")  # "Yes, there is no fracture."
    agree = all(head.value == last.value for head in heads)
    if agree or last.corrects or is_taken_back(text[: last.start], first.end - 1):
        return ParsedAnswer("ok", last.value, "head")
    sentence_answer = _read_sentences(text, question) if _turn_words().search(text) else None
    return sentence_answer or ParsedAnswer("ambiguous")


def _read_word(text: str) -> ParsedAnswer | None:
    """The only one of the two words that stands before a mark, and is not asked, denied or supposed."""
    values = {
        _match_value(match)
        for match in _word_before_mark().finditer(text)
        if not word_pattern("no_answer_before").search(sentence_before(text, match.start()))
        and not _condition_pattern().match(text, match.end())
    }
    return single_answer(values, "said")


def _read_sentences(text: str, question: _YesNoQuestion) -> ParsedAnswer | None:
    """What the first sentences say of the thing that the question asks for."""
    statements = (sentence for sentence in split_sentences(text)[:_SENTENCES] if not sentence.endswith("?"))
    sentences = (sentence[:_OF_A_SENTENCE].rstrip(".;!") for sentence in statements)
    return single_answer(
        {about for sentence in sentences if (about := read_about(sentence, question.text))}, "question"
    )


def _read_panel(text: str) -> ParsedAnswer | None:
    certain = _SUPPOSED.sub(" ", text)
    values: set[YesOrNo] = set()
    if _PANEL_NO.search(certain):
        values.add("no")
    if _PANEL_YES.search(_PANEL_NO.sub(" ", certain)):
        values.add("yes")
    return single_answer(values, "panel")


# --- The two words ----------------------------------------------------------------------------------------------------


def _match_value(match: re.Match[str]) -> YesOrNo:
    return "yes" if match["yes"] else "no"


def _match_alone(text: str, question: _YesNoQuestion) -> _Said | None:
    """What a text says that has nothing but an answer."""
    bare = text.strip().strip(_MARKS)
    if (match := _word_pattern().fullmatch(bare)) is not None:
        return _Said(_match_value(match), 0, len(text))
    values: tuple[tuple[YesOrNo, str, str], ...] = (
        ("yes", "yes_alone", "true_letter"),
        ("no", "no_alone", "false_letter"),
    )
    for value, alone, letter in values:
        if word_pattern(alone).fullmatch(bare) or (question.offers_true_false and word_pattern(letter).fullmatch(bare)):
            return _Said(value, 0, len(text))
    verdict = _match_verdict(bare, question)
    return _Said(verdict.value, 0, len(text)) if verdict is not None and verdict.end == len(bare) else None


def _match_head(text: str, question: _YesNoQuestion) -> _Said | None:
    match = _word_pattern().match(text)
    if match is not None and (match["yes"] or _no_on_its_own().match(text, match.end())):
        return _Said(_match_value(match), match.start(), match.end())
    return _match_verdict(text, question)


def _match_verdict(text: str, question: _YesNoQuestion) -> _Said | None:
    """ "True" or "false" at a text's beginning, where the question offers them."""
    if not question.offers_true_false:
        return None
    if (true := _true_at_start().match(text)) is not None:
        return _Said("yes", true.start(), true.end())
    false = _false_at_start().match(text)
    return _Said("no", false.start(), false.end()) if false else None


def _find_heads(text: str, question: _YesNoQuestion) -> list[_Said]:
    """The answers that sentences start with, conditions and denials of something else left out."""
    heads = [
        _Said(_match_value(match), match.start(), match.end(), corrects=match["corrected"] is not None)
        for match in _head_pattern().finditer(text)
        if not _condition_pattern().match(text, match.end()) and not _is_of_a_word(text, match)
    ]
    if question.offers_true_false:
        verdicts = _verdict_pattern().finditer(text)
        heads += [_Said("yes" if match[1] else "no", match.start(), match.end()) for match in verdicts]
    return sorted(heads, key=lambda head: head.start)


def _is_of_a_word(text: str, match: re.Match[str]) -> bool:
    """Whether what looks like an answer belongs to the word behind it: "no image", "是肺炎"."""
    if match["yes"]:
        return re.match(r"[\u3400-\u9fff]", text[match.end() : match.end() + 1]) is not None
    return _no_on_its_own().match(text, match.end()) is None


# --- Their patterns ---------------------------------------------------------------------------------------------------


_YES_OR_NO_WORD = "(?:(?P<yes>{yes})|(?P<no>{no}))"
_MARKED = r"(?=\s{0,2}(?:[^\w\s]|\n)\W{0,4}\w)"
_HEAD_WORD = f"(?:(?P<yes>{{agrees}}{_MARKED}|(?!{{disagrees}}){{yes}})|(?P<no>{{disagrees}}{_MARKED}|{{no}}))"
"""Either word, or another one of its sense where more follows behind a mark ("of course, ...")."""


_word_pattern = lazy_pattern(rf"\W*{_HEAD_WORD}(?!-)(?! (?:one|way)\b)", re.MULTILINE)


_head_pattern = lazy_pattern(
    r"(?:^|[.!?;:\n—–-]\s*|(?:{but}|(?P<corrected>\b(?:actually|rather|wait|hmm)))[,\s.…]{1,4})[\s\"'(]{0,4}"
    rf"{_HEAD_WORD}(?![\w-])(?! (?:one|way)\b)",
    re.MULTILINE,
)
"""At the beginning of a sentence, or after words that turn."""


_turn_words = lazy_pattern(r"{but}|\bhowever\b")


_word_after_but = lazy_pattern(rf"(?:{{but}}|\bhowever)[^.\n]{{0,80}}?[,: ]{_YES_OR_NO_WORD}\W*$")


_word_before_mark = lazy_pattern(rf"(?<![\w'-]){_YES_OR_NO_WORD}(?=[^\w?]*(?:$|\n)|[.,;:!])")


_no_on_its_own = lazy_pattern(r"\W*$|\s*[^\w\s]|\s*\n| {after_no}|\s*[\u3400-\u9fff]")


_condition_pattern = lazy_pattern(r",? {if}|\W*\?|[ ,.!]{1,3}{offers_help}")


_BETWEEN = r"[ /,]+(?:(?:{and}|{or})[ ,]*(?:\w+ ){0,3})?"
_both_pattern = lazy_pattern(
    rf"{{yes}}{_BETWEEN}{{no}}|{{no}}{_BETWEEN}{{yes}}|"
    r"^\W*(?:{yes}, {no}|{no}, {yes})[,.?]|^\W*{if}[^.\n]{1,200}{yes}[^.\n]{1,100}{no}"
)


_hedged_pattern = lazy_pattern(
    r"(?:{maybe_before}|{probably})(?:,? but| que| {0,2}it is)?\W{1,3}(?:probably )?(?:{yes}|{no})"
)


_depends_pattern = lazy_pattern(r"{this_matter}[^.\n]{0,60}{depends}|{depends:zh}")


_true_or_false = lazy_pattern(r"{true}\W*(?:{or}\W*)?{false}|{true_or_false}", re.IGNORECASE)


_AT_START = r"\W*(?:{the_statement}\W+(?:(?:is|es|ist|est)\W+)?)?"
_true_at_start, _false_at_start = lazy_pattern(_AT_START + "{true}"), lazy_pattern(_AT_START + "{false}")
"""At the beginning: "The statement is true"."""


_verdict_pattern = lazy_pattern(
    r"(?:{the_statement}\W{1,8}(?:is|as|es|est|ist)?\W{0,8}|^\W{0,8}|[.!?\n]\s{0,8})"
    r"(?:({true})|({false}))(?=\W{0,8}(?:$|[.,;:!\n]))",
    re.MULTILINE,
)
""" "True" (in group 1) or "false" before a mark, of a statement or at the beginning of a sentence."""
