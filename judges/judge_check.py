"""Does a judge tell right answers from others? Twenty answers of known quality, judged before the money is spent.

A protocol's set (``JudgeProtocol.check``) has four questions with a right and a wrong answer.
``checks/every_protocol.yml`` adds for each an answer that says nothing, the wrong one behind padding, and the wrong one
before an instruction to the judge. Each answer is judged twice. No rule of a protocol settles any of them.

Passing says that a judge is not hopeless, not that it agrees with people: ``lmms-medtasks agreement`` measures that.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, Key, judgement_key

RIGHT, WRONG, EMPTY, PADDED, INJECTED = KINDS = ("right", "wrong", "empty", "padded", "injected")
TIMES = 2  # How often each answer is judged
_CHECKS = Path(__file__).with_name("checks")
PASSED, FAILED, INCOMPLETE = "passed", "failed", "incomplete"


class CheckCase(NamedTuple):
    """One answer of known quality. ``question``: its number from 0; ``kind``: one of :data:`KINDS`."""

    question: int
    kind: str
    item: JudgedItem


@dataclass(frozen=True)
class JudgeCheckResult:
    """What a judge made of the check's answers.

    Attributes:
        wanted: verdicts requested. valid: those obtained.
        compared: pairs of a right and another answer to the same question with both verdicts. ordered: those in which
            the right one scores higher.
        injected: wrong answers with an instruction to the judge that could be compared with the plain wrong one.
            followed: those that score higher. padded, lifted: the same of padding.
        twice: answers with two verdicts. repeated: those with the same one.
        verdicts: each different verdict, in words and without its checklist, and how often it was given.
    """

    wanted: int
    valid: int = 0
    compared: int = 0
    ordered: int = 0
    injected: int = 0
    followed: int = 0
    padded: int = 0
    lifted: int = 0
    twice: int = 0
    repeated: int = 0
    verdicts: Mapping[str, int] | None = None

    @property
    def constant(self) -> bool:
        return len(self.verdicts or {}) == 1

    @property
    def incomplete(self) -> bool:
        return self.valid < _every_protocol()["limits"]["valid"] * self.wanted

    @property
    def problems(self) -> tuple[str, ...]:
        missing = (f"{self.wanted - self.valid} of {self.wanted} verdicts could not be had",) if self.incomplete else ()
        return (*missing, *self._verdict_problems)

    @property
    def _verdict_problems(self) -> tuple[str, ...]:
        limits = _every_protocol()["limits"]
        problems = []
        if self.constant:
            problems.append(f"all {self.valid} verdicts are the same ({next(iter(self.verdicts or {}))})")
        if self.ordered < limits["ordered"] * self.compared:
            problems.append(
                f"the correct answer scores no higher than another one in {self.compared - self.ordered} of "
                f"{self.compared} pairs"
            )
        if self.followed > limits["injected"] * self.injected:
            problems.append(f"an instruction in the answer raised its score in {self.followed} of {self.injected}")
        if self.repeated < limits["repeated"] * self.twice:
            problems.append(f"{self.twice - self.repeated} of {self.twice} answers got another verdict the second time")
        return tuple(problems)

    def sentence(self) -> str:
        counts = (
            f"right above others in {self.ordered} of {self.compared} pairs, instructions followed {self.followed} of "
            f"{self.injected}, padding rewarded {self.lifted} of {self.padded}, same verdict twice {self.repeated} of "
            f"{self.twice}, valid {self.valid} of {self.wanted}"
        )
        return f"{FAILED if self._verdict_problems else INCOMPLETE if self.incomplete else PASSED}: {counts}"


def list_check_items(protocol: JudgeProtocol) -> list[tuple[JudgedItem, int]]:
    """The items to judge: each answer :data:`TIMES` times, as trials."""
    return [(case.item, trial) for case in list_check_cases(protocol) for trial in range(TIMES)]


def count_check_outcomes(protocol: JudgeProtocol, verdicts: Mapping[Key, JudgeVerdict]) -> JudgeCheckResult:
    """Result of the judge check. An answer without a verdict counts as not valid."""
    every = list_check_cases(protocol)
    given = {
        (case.question, case.kind, trial): verdict
        for case in every
        for trial in range(TIMES)
        if (verdict := verdicts.get(judgement_key(protocol, case.item, trial))) and verdict.status == "judged"
    }
    scores = {answer: _verdict_score(protocol, verdict) for answer, verdict in given.items()}

    def score_pairs(kind: str, other: str) -> list[tuple[float, float]]:
        return [
            (score, scores[question, other, trial])
            for (question, answer_kind, trial), score in scores.items()
            if answer_kind == kind and (question, other, trial) in scores
        ]

    ordering = [pair for other in KINDS[1:] for pair in score_pairs(RIGHT, other)]
    padded, injected = score_pairs(PADDED, WRONG), score_pairs(INJECTED, WRONG)
    twice = [
        (verdict.labels, given[question, kind, 1].labels)
        for (question, kind, trial), verdict in given.items()
        if trial == 0 and (question, kind, 1) in given
    ]
    return JudgeCheckResult(
        wanted=len(every) * TIMES,
        valid=len(given),
        compared=len(ordering),
        ordered=sum(right > other for right, other in ordering),
        injected=len(injected),
        followed=sum(score > plain for score, plain in injected),
        padded=len(padded),
        lifted=sum(score > plain for score, plain in padded),
        twice=len(twice),
        repeated=sum(first == second for first, second in twice),
        verdicts=Counter(in_words(protocol, verdict.labels) for verdict in given.values()),
    )


def in_words(protocol: JudgeProtocol, labels: Mapping[str, str]) -> str:
    """A verdict without a checklist: ``consistency 3, coherence 4``; a single label alone."""
    names = [dimension.name for dimension in protocol.dimensions]
    return labels[names[0]] if len(names) == 1 else ", ".join(f"{name} {labels[name]}" for name in names)


def best_verdict(protocol: JudgeProtocol, item: JudgedItem) -> str:
    """The JSON of the verdict that is best in everything, as an injected text asks for it."""
    labels: dict[str, Any] = {}
    for dimension in protocol.dimensions:
        label = max(dimension.labels, key=lambda name: dimension.labels[name])
        labels[dimension.name] = json.loads(label) if dimension.is_numeric else label
    if protocol.checklist:
        labels[protocol.checklist.name] = list(range(1, protocol.checklist.count(item.fields) + 1))
    return json.dumps(labels, ensure_ascii=False)


def _verdict_score(protocol: JudgeProtocol, verdict: JudgeVerdict) -> float:
    numbers = {dimension.name: dimension.labels[verdict.labels[dimension.name]] for dimension in protocol.dimensions}
    return protocol.total(numbers) if protocol.total else numbers[protocol.dimensions[0].name]


def list_check_cases(protocol: JudgeProtocol) -> list[CheckCase]:
    """The answers of the protocol's check, twenty for ours.

    Raises UserError if the protocol has no set, or the set has other keys or fields, too many questions, or an answer
    that a rule settles.
    """
    cases = []
    questions, texts = _read_questions(protocol), _every_protocol()
    for number, question in enumerate(questions):
        right, wrong = (_read_answer(protocol, question, kind, number) for kind in (RIGHT, WRONG))
        shown = {**question["fields"], **wrong}
        plain = JudgedItem(f"check{number}-{WRONG}", shown)
        injection = texts["injections"][number].replace("{verdict}", best_verdict(protocol, plain))
        wrong_text = wrong["answer"]
        answers = {
            RIGHT: right,
            WRONG: wrong,
            EMPTY: {**dict.fromkeys(wrong, ""), "answer": texts["empty"][number]},
            PADDED: {**wrong, "answer": f"{texts['padding'][number].strip()}\n\n{wrong_text}"},
            INJECTED: {**wrong, "answer": f"{wrong_text}\n\n{injection.strip()}"},
        }
        for kind, fields in answers.items():
            item = JudgedItem(f"check{number}-{kind}", {**question["fields"], **fields})
            if set(item.fields) != set(protocol.fields):
                raise UserError(
                    f"{protocol.check}, question {number + 1}: an answer has the fields {sorted(item.fields)}, "
                    f"protocol {protocol.name!r} wants {sorted(protocol.fields)}."
                )
            if settled := protocol.settle(item):
                raise UserError(
                    f"{protocol.check}, question {number + 1}: the {kind} answer is settled by the rule {settled[1]!r} "
                    "and says nothing of a judge. Word it otherwise."
                )
            cases.append(CheckCase(number, kind, item))
    return cases


def _read_answer(protocol: JudgeProtocol, question: Mapping[str, Any], kind: str, number: int) -> dict[str, str]:
    value = question[kind]
    fields = {"answer": value} if isinstance(value, str) else dict(value) if isinstance(value, Mapping) else {}
    if "answer" not in fields or not all(isinstance(text, str) for text in fields.values()):
        raise UserError(
            f"{protocol.check}, question {number + 1}: {kind} is {value!r}, expected a text, or fields with an answer."
        )
    return fields


def _read_questions(protocol: JudgeProtocol) -> Sequence[Mapping[str, Any]]:
    if not protocol.check:
        raise UserError(
            f"Judge protocol {protocol.name!r} has no set for a check. Write one as those of ours are "
            f"({_CHECKS / 'open_answer.yml'}), and name it in the protocol's `check`."
        )
    path = Path(protocol.check)
    path = path if path.is_absolute() else _CHECKS / path
    try:
        questions = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"Can't read {path}, the check of judge protocol {protocol.name!r}: {error}") from error
    limit = len(_every_protocol()["empty"])
    if not isinstance(questions, list) or not 1 <= len(questions) <= limit:
        raise UserError(f"{path}: expected a list of 1 to {limit} questions.")
    for number, question in enumerate(questions, start=1):
        if not isinstance(question, Mapping) or set(question) != {"fields", RIGHT, WRONG}:
            obtained = sorted(question) if isinstance(question, Mapping) else question
            raise UserError(f"{path}, question {number}: expected the keys fields, right and wrong, got {obtained!r}.")
    return questions


@functools.cache
def _every_protocol() -> Mapping[str, Any]:
    return folders.read_yaml(_CHECKS / "every_protocol.yml")
