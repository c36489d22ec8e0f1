"""Reading yes or no out of a reply that may explain itself."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from lmms_medtasks.parsing.outcomes import Answer, refuses
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.statements import Statement, find_statements, is_taken_back, last_standing, sentence_before
from lmms_medtasks.parsing.texts import normalised, plain
from lmms_medtasks.parsing.words import any_of

_TRUE_OR_FALSE = re.compile(
    r"\btrue\b\W+(?:or\W+)?false\b|\bverdadero\b\W+(?:o\W+)?falso\b|\bvrai\b\W+(?:ou\W+)?faux\b|\b(?:wahr|richtig)\b\W+"
    r"(?:oder\W+)?falsch\b|(?:对|正确|真)(?:还是|或|/)?(?:错误|错|假)|判断(?:对错|正误)",
    re.IGNORECASE,
)
# "No" before one of these is an answer; before another word it is that word's ("no image", "no idea").
_NO_ON_ITS_OWN = re.compile(
    r"(?:\W*$|\s*[^\w\s]|\s*\n| (?:it|it's|its|this|that|there|the|they|because|as|since|not|in|on|at|based|all|from|es|hay|se|il|"
    r"es|ist|da)\b|\s*[\u3400-\u9fff])"
)
_CONDITION = re.compile(r",? (?:if|unless|wenn|falls|si|sofern)\b|\W*\?")
_DEPENDS = re.compile(
    r"\b(?:it|this|that|whether|answer|eso|cela|tout|das|es)\b[^.\n]{0,60}\b(?:depends|depende|d[ée]pend|h[aä]ngt)\b|取决于"
)
_DENIED = re.compile(
    r"\b(?:not|cannot|never|if|unless|whether|impossible|asks?|question|either|say|saying|says|between|both|en caso contrario|otherwise|sonst|sinon|ob|si|s'il|s'ils|wenn|falls|if)\b|n't\b|不|无法|是否"
)
# From here the patterns for a highlighted panel, in English.
_ODD = r"(?:outlier|odd one out|differ\w*|anomal\w*|inconsistent|abnormal|stands? out|unlike the)"
_ALIKE = r"(?:consistent with|the same as|similar to|identical to|normal\b)"
_OPEN = re.compile(r"\b(?:whether|if)\b[^.,;\n]*")
_NEGATED = re.compile(
    rf"(?:\bnot|n't)\b(?: \w+){{0,4}}? {_ODD}|\bno (?:\w+ )?(?:outlier|differen\w+|anomal\w+)"
    rf"|\b(?:is|appears|looks|seems)(?: to be)? (?!not )(?:\w+ )?{_ALIKE}"
    r"|\bmatches the other"
)
_ASSERTED = re.compile(
    rf"\b(?:is|appears to be|does|seems to be|looks)(?: \w+){{0,3}}? {_ODD}|\b(?:differs|stands out)\b"
    rf"|(?:\bnot|n't)(?: to be)? (?:\w+ )?{_ALIKE}|\bunlike the (?:other|rest|remaining)"
)
_OF_A_SENTENCE = 400
_SMALL_WORDS = frozenset(
    "there this that with from have image images shown picture visible seen any what which does show shows present evidence signs "
    "sign patient scan x-ray radiograph photo the are was can you see is it in on of at a an hay existe una imagen muestra "
    "esta esto presenta observa paciente est-ce que cette image montre presente visible existe dans sur eine ein einen der die "
    "das bild zeigt liegt sichtbar vorhanden auf dem diesem dieses gibt erkennen true false or".split()
)
_MAY_DESCRIBE = frozenset(
    "acute obvious visible definite clear apparent evidence of sign signs significant indication any a an the discernible "
    "detectable focal frank other such overt hinweis anhalt nachweis auf f[uü]r eines einer trait ligne line foyer imagen image signo signos signe signes zeichen de du d".split()
)
_TURNED = re.compile(
    r"\b(?:no|not|without|free of|absen\w+|normal\w*|lack\w*|clear|healthy|unremarkable|sin|sano|sana|sans|sain|ohne|gesund|"
    r"unauff[aä]llig)\b|n't\b|正常|没有|无"
)


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    yes, no = any_of("yes"), any_of("no")
    word = f"(?:(?P<yes>{yes})|(?P<no>{no}))"
    maybe, and_or = any_of("maybe_before"), f"{any_of('and')}|{any_of('or')}"
    return {
        "head": re.compile(rf"\W*{word}(?!-)(?! (?:one|way)\b)"),
        # At the beginning of a sentence, or after words that turn.
        "heads": re.compile(
            rf"(?:^|[.!?;:\n—–-]\s*|(?:{any_of('but')}|\b(?:actually|rather|wait|hmm))[,\s.…]{{1,4}})[\s\"'(]{{0,4}}{word}(?![\w-])(?! (?:one|way)\b)",
            re.MULTILINE,
        ),
        "turns": re.compile(rf"{any_of('but')}|\bhowever\b"),
        "turned": re.compile(rf"(?:{any_of('but')}|\bhowever)[^.\n]{{0,80}}?[,: ]{word}\W*$"),
        "anywhere": re.compile(rf"(?<![\w'-]){word}(?=[^\w?]*(?:$|\n)|[.,;:!])"),
        "alone_yes": re.compile(any_of("yes_alone")),
        "alone_no": re.compile(any_of("no_alone")),
        "true": re.compile(rf"\W*(?:(?:it|this|that|the statement|statement|la afirmaci[oó]n|die aussage|l'affirmation)\W+(?:is|es|ist|est)\W+)?{any_of('true')}"),
        "false": re.compile(rf"\W*(?:(?:it|this|that|the statement|statement|this statement|that statement|la afirmaci[oó]n|die aussage|l'affirmation)\W+(?:is|es|ist|est)\W+)?{any_of('false')}"),
        "verdict": re.compile(
            rf"(?:\b(?:statement|claim|assertion|it|this|that|afirmaci[oó]n|affirmation|aussage|enunciado|c'est|es)\W+(?:is|as|es|est|ist)?\W*|^\W*|[.!?\n]\s*)"
            rf"(?:({any_of('true')})|({any_of('false')}))(?=\W*(?:$|[.,;:!\n]))", re.MULTILINE),
        "both": re.compile(rf"{yes}[ /,]+(?:(?:{and_or})[ ,]*(?:\w+ ){{0,3}})?{no}|{no}[ /,]+(?:(?:{and_or})[ ,]*(?:\w+ ){{0,3}})?{yes}|^\W*(?:{yes}, {no}|{no}, {yes})[,.?]"),
        "hedged": re.compile(rf"(?:{maybe}|\b(?:probably|likely|potentially|wahrscheinlich|probablemente|probablement|not sure|unsure)|可能|大概)(?:,? but| {{0,2}}it is)?\W{{1,3}}(?:probably )?(?:{yes}|{no})"),
        "denies": re.compile(any_of("denies")),
        "asserts": re.compile(any_of("asserts")),
        "maybe": re.compile(rf"{maybe}|\b(?:may|might|could|whether|if|or|cannot be excluded|suspicious|suspected|possibl\w+|unclear|versus)\b|是否|可能|疑似|不能排除|wenn|ob\b|podr[ií]a|pourrait|k[oö]nnte"),
    }  # fmt: skip


class _Said(NamedTuple):
    value: str
    start: int
    end: int


def asks_true_or_false(question: str) -> bool:
    """Whether a question offers "true" and "false" as its answers."""
    return _TRUE_OR_FALSE.search(question) is not None


def read_yes_no(reply: Reply | str | None, question: str = "", *, panel: bool = False) -> Answer:
    """ "yes" or "no" as a reply gives it, in the languages of ``words.yml``.

    What is stated as the answer ("the answer is no") beats all else, the last one that is not taken back; then the word
    that a sentence starts with, the last one where words between take the first back, else all of them must agree; then
    the only one of the two words in it. "Yes and no" is ambiguous, "possibly yes" is no answer. With ``panel``, for a
    question whether a highlighted panel is the outlier, sentences that say so are read too ("is not the outlier").

    ``question`` settles three readings. "True" and "False" answer a question that offers them; said to another one, they
    may mean the question, a statement in it or its opposite, and are no answer. "There is no nodule", "a nodule is seen"
    and "the heart is not enlarged" are answers where the question asks for just that. "No image" and "no idea" are no
    answer to any, "no nodule" does not answer "Is the lung normal?", and "No, I cannot see the image" refuses.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return Answer(reply.outcome)
    text = _TRUE_OR_FALSE.sub(" ", plain(normalised(reply.answer)))  # a reply that begins with the question
    text = re.sub(r"^\W*yes or no\W+", "", text)
    found = _read(text, question, panel, reply.unfinished)
    return Answer(reply.unread) if found.status == "unreadable" else found


def yes_or_no(option: str) -> str:
    """ "yes" or "no" where that is what an option's text is, else ""."""
    word = option.casefold().strip(" .,:;!。")
    if re.fullmatch(any_of("yes"), word):
        return "yes"
    return "no" if re.fullmatch(any_of("no"), word) else ""


def _read(text: str, question: str, panel: bool, unfinished: bool) -> Answer:
    known = _patterns()
    offered = asks_true_or_false(question)
    if (whole := _alone(text, offered)) is not None:
        return Answer("ok", whole.value, "alone")
    asked = plain(normalised(question))

    def resolve(statement: Statement) -> tuple[str, int] | None:
        if statement.rule == "so" and unfinished:
            return None
        part = text[statement.said : statement.end]
        said = _alone(re.split(r"[\n;.]", part.strip(), maxsplit=1)[0], offered) or _head(part, offered)
        if said is not None and not _CONDITION.match(part, said.end):
            return said.value, statement.said + said.end
        sentence = re.split(r"[.;!?\n]", part, maxsplit=1)[0]
        about = _by_question(sentence, asked) if statement.rule != "correction" else None
        return (about, statement.said + len(sentence)) if about else None

    stated = last_standing(text, find_statements(text, letters=False), resolve)
    if stated is not None:
        return Answer("ambiguous") if stated.taken_back else Answer("ok", stated.value, stated.statement.rule)
    if known["both"].search(text):
        return Answer("ambiguous")
    if known["hedged"].search(text) or _DEPENDS.search(text):
        return Answer("unreadable")
    refused = refuses(text)
    if turned := known["turned"].search(text[-200:]):
        return Answer("ok", "yes" if turned["yes"] else "no", "head")
    heads = _heads(text, offered)
    first = re.split(r"[.:,;\n]", text, maxsplit=1)[0]
    if not heads and not known["head"].match(text) and (begin := _alone(first, offered)) is not None:
        return Answer("ok", begin.value, "head")
    if heads and not (refused and heads[-1].value == "no"):
        last = heads[-1]
        if is_taken_back(text, last.end):
            return Answer("ambiguous")
        rest = re.split(r"[.;!?\n]", text[last.end :], maxsplit=1)[0].strip(" ,")
        said_there = _by_question(rest, asked)
        if said_there and said_there != last.value and not known["turns"].search(rest):
            return Answer("ambiguous")  # "Yes, there is no fracture."
        if all(each.value == last.value for each in heads) or is_taken_back(text[: last.end + 1], heads[0].end - 1):
            return Answer("ok", last.value, "head")
        about = {found for each in re.split(r"[.;!?\n]+(?=\s|$)", text)[:8]
                 if known["turns"].search(each) and (found := _by_question(each, asked))}  # fmt: skip
        if re.search(any_of("corrects"), text[heads[0].end : last.start + 1]):
            return Answer("ok", last.value, "head")
        return Answer("ok", about.pop(), "question") if len(about) == 1 else Answer("ambiguous")
    if refused:
        return Answer("refused")
    if offered and (said := known["true"].match(text) or known["false"].match(text)):
        return Answer("ok", "yes" if known["true"].match(text) else "no", "head") if said else Answer("unreadable")
    if unfinished:
        return Answer("unreadable")
    said_words = {"yes" if match["yes"] else "no" for match in known["anywhere"].finditer(text)
                  if not _DENIED.search(sentence_before(text, match.start()))}  # fmt: skip
    if said_words:
        return Answer("ok", said_words.pop(), "said") if len(said_words) == 1 else Answer("ambiguous")
    sentences = [each for each in re.split(r"[.;!?\n]+(?=\s|$)", text) if each.strip()]
    about = {found for each in sentences[:12] if (found := _by_question(each[:_OF_A_SENTENCE], asked))}
    if about:
        return Answer("ok", about.pop(), "question") if len(about) == 1 else Answer("ambiguous")
    return (_by_panel(text) if panel else None) or Answer("unreadable")


def _alone(text: str, offered: bool) -> _Said | None:
    """What a text says that has nothing but an answer."""
    bare = text.strip().strip(".,:;!\"'()[]{}*_<> ~-")
    known = _patterns()
    match = known["head"].fullmatch(bare)
    if match:
        return _Said("yes" if match["yes"] else "no", 0, len(text))
    for value in ("yes", "no"):
        if known[f"alone_{value}"].fullmatch(bare) or (
            offered and known["true" if value == "yes" else "false"].fullmatch(bare)
        ):
            return _Said(value, 0, len(text))
    return None


def _head(text: str, offered: bool) -> _Said | None:
    """The answer that a text starts with."""
    known = _patterns()
    match = known["head"].match(text)
    if match and not (match["no"] and not _NO_ON_ITS_OWN.match(text, match.end())):
        return _Said("yes" if match["yes"] else "no", match.start(), match.end())
    if offered:
        for value, name in (("yes", "true"), ("no", "false")):
            if found := known[name].match(text):
                return _Said(value, found.start(), found.end())
    return None


def _heads(text: str, offered: bool) -> list[_Said]:
    """The answers that sentences start with, conditions and denials of something else left out."""
    found = []
    for match in _patterns()["heads"].finditer(text):
        if _CONDITION.match(text, match.end()):
            continue
        if match["no"] and not _NO_ON_ITS_OWN.match(text, match.end()):
            continue
        if match["yes"] and re.match(r"[\u3400-\u9fff]", text[match.end() : match.end() + 1]):
            continue
        found.append(_Said("yes" if match["yes"] else "no", match.start(), match.end()))
    if offered:
        found += [
            _Said("yes" if match[1] else "no", match.start(), match.end())
            for match in _patterns()["verdict"].finditer(text)
        ]
    return sorted(found, key=lambda each: each.start)


# --- What the question asks for ---------------------------------------------------------------------------------------


_IS_THERE = re.compile(
    r"\s*(?:[\w-]+\s){0,4}?(?:is|are|was|were|ist|sind|es|est[aá]n?|son|est|sont)\s+(?:\w+ly\s+|bien\s+|deutlich\s+|clairement\s+)?"
    r"(?:present|visible|seen|there|evident|shown|identified|noted|enlarged|vorhanden|sichtbar|erkennbar|zu sehen|presentes?|visibles?|"
    r"pr[eé]sente?s?)\b"
)
_IS_ADJECTIVE = re.compile(r"^\W*(?:is|are|ist|sind|est[aá]|es|est)\b.*?([^\W\d_][\w-]{3,})\W*$")
_IS = r"(?:is|are|was|were|looks|appears|seems|ist|sind|est[aá]n?|es|son|est|sont)"


def _by_predicate(sentence: str, asked: str) -> str | None:
    """To "Is the lung normal?": "the lung is normal", "it isn't normal", "it is not Gram-positive"."""
    question = _IS_ADJECTIVE.match(asked)
    if question is None or _patterns()["maybe"].search(sentence) or re.search(r"\b(?:an?|the|un[ae]?|eine?|of|in|on)\W+\w+\W*$", asked):
        return None
    adjective = re.escape(question[1])
    match = re.search(rf"\b{_IS}(?P<not>n't|\s+(?:not|nicht|pas|no))?\s+(?:\w+ly\s+|quite\s+|entirely\s+|[\w-]+[- ])?{adjective}\b|"
                      rf"\b(?P<neg>not|nicht)\s+(?:[\w-]+[- ])?{adjective}\b", sentence)
    if match is None:
        return None
    return "no" if match["not"] or match["neg"] else "yes"


_CHINESE_THING = re.compile(
    r"(?:是否(?:为|有|可?见|存在|符合|提示|显示|看到|合并|伴有)?|有没有|有无|有|可见|看到|存在|显示|符合|提示|是)([\u3400-\u9fff]{2,12}?)"
    r"(?:的(?:表现|征象|特征|证据))?(?:吗|么|呢)?\s*[?？.。]?$"
)
_CHINESE_NO = re.compile(
    r"(?:未见|未发现|未显示|未提示|没有(?:看到|发现|见到|明显)?|看不到|无明显|无|并非|不是|不存在|不符合|不支持|不提示|排除)(?:明显|任何|典型|明确|确切)?(?:的)?$"
)
_CHINESE_YES = re.compile(r"(?:有|可见|看到|存在|显示|见|是|为|符合|提示|发现|考虑)[^,.;]{0,6}$")


def _by_chinese_question(sentence: str, asked: str) -> str | None:
    """As :func:`_by_question`, for Chinese, which puts no blanks between words."""
    thing = _CHINESE_THING.search(asked.strip())
    if thing is None or _TURNED.search(asked.replace("有没有", "有").replace("有无", "有")):
        return None
    name = re.sub(r"^(?:明显|典型|任何)?的?", "", thing[1])
    place = sentence.rfind(name)
    if place < 0 or _patterns()["maybe"].search(sentence):
        return None
    before = re.split(r"[,;]|但", sentence[:place])[-1]
    after = sentence[place + len(name) : place + len(name) + 8]
    if _CHINESE_NO.search(before) or re.match(r"(?:的(?:征象|表现|证据))?(?:未见|不明显|不存在|阴性)", after):
        return "no"
    if re.search(r"不|无|没|未|非", before):
        return None
    return "yes" if _CHINESE_YES.search(before) or re.match(r"(?:形成|存在|明显|可见|征象)", after) else None


@functools.lru_cache(1024)
def _asked_for(asked: str) -> tuple[str, ...]:
    """The words of the thing that a question asks for, its most particular last; () where it turns or asks for no thing."""
    if _TURNED.search(asked):
        return ()
    thing = re.split(r"\b(?:in|on|of the|at|within|en|dans|sur|im|auf|von)\b", asked.rstrip(" ?.！？"), maxsplit=1)[0]
    words = [word for word in re.findall(r"[^\W\d_][\w-]{2,}", thing) if word not in _SMALL_WORDS and len(word) > 3]
    if not words:
        words = [word for word in re.findall(r"[^\W\d_][\w-]{3,}", asked) if word not in _SMALL_WORDS][:1]
    return tuple(_stem(word) for word in words)


def _stem(word: str) -> str:
    return word if len(word) < 5 else re.sub(r"(?:es|s|en|e)$", "", word)


def _by_question(sentence: str, asked: str) -> str | None:
    """What a sentence says of the thing that the question asks for: it is there, or not; None where it says neither.

    The thing must be named by its last word, and what is denied must be the thing and no quality of it.
    """
    if re.search(r"[\u3400-\u9fff]", asked):
        return _by_chinese_question(sentence, asked)
    known = _patterns()
    if (said := _by_predicate(sentence, asked)) is not None:
        return said
    things = _asked_for(asked)
    if not things or not sentence.strip():
        return None
    if known["maybe"].search(sentence):
        return None
    found: set[str] = set()
    for clause in re.split(r",|\b(?:but|however|although|while|pero|mais|aber|aunque|bien que|obwohl)\b|但", sentence):
        words = [(_stem(match[0]), match.start(), match.end()) for match in re.finditer(r"[^\W\d_][\w-]*", clause)]
        place = next((each for each in words if each[0] == things[-1]), None)
        if place is None:
            continue
        before, after = clause[: place[1]], clause[place[2] :]
        denials = list(known["denies"].finditer(before))
        if denials:
            between = re.findall(r"[\w-]+", before[denials[-1].end() :])
            fits = all(
                _stem(each) in things or each in _MAY_DESCRIBE or known["asserts"].fullmatch(each)
                for each in between[-3:]
            )
            if not fits:
                return None
            found.add("no")
        elif denial := known["denies"].search(after):
            verb = after[: denial.start()].strip()
            rest = after[denial.end() :].strip()
            if (not verb or known["asserts"].fullmatch(verb)) and (
                not rest
                or known["asserts"].match(rest)
                or known["asserts"].fullmatch(verb + " ") is None
                and rest == ""
            ):
                found.add("no")
            else:
                return None
        elif known["asserts"].search(before) or _IS_THERE.match(after):
            found.add("yes")
    return found.pop() if len(found) == 1 else None


def _by_panel(text: str) -> Answer | None:
    said = _OPEN.sub(" ", text)
    negated, asserted = _NEGATED.search(said), _ASSERTED.search(_NEGATED.sub(" ", said))
    if negated and asserted:
        return Answer("ambiguous")
    if negated or asserted:
        return Answer("ok", "no" if negated else "yes", "panel")
    return None
