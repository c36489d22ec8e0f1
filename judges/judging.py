"""Many judgements: what a rule settles, what was judged before, and the rest asked concurrently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache as _cache
from lmms_medtasks.judges import identity, judge_check, lexical, prompts
from lmms_medtasks.judges.asking import INTERRUPTED, JudgeClient, RequestSender, SchemaProbe, failure_kind
from lmms_medtasks.judges.budget import JudgeBudget, JudgeSpending, estimated_tokens
from lmms_medtasks.judges.cache import VerdictCache
from lmms_medtasks.judges.identity import answer_phrase, mode_of
from lmms_medtasks.judges.protocol import (
    JudgedItem,
    JudgeProtocol,
    JudgeVerdict,
    Key,
    count_judging_trials,
    judgement_key,
)
from lmms_medtasks.judges.question_pool import PooledVerdicts, ProgressLines, QuestionPool
from lmms_medtasks.judges.settings import JUDGE, JudgeSettings, check_judge_terms, default_settings
from lmms_medtasks.judges.transport import ChatTransport, RequestPause
from lmms_medtasks.progress import can_show_bar

Wanted = tuple[JudgedItem, int]  # An item and the number of the trial of its judging, from 0
Say = Callable[[str], None]

_REASONS_SHOWN = 6

NO_JUDGE = f"no judge: name one in {JUDGE}=provider:model and run lmms-medtasks judge RUN"


@dataclass(frozen=True)
class JudgingCounts:
    """Counts of the requested judgements. ``same``: duplicates, judged once.

    ``cut``: items with a text that was cut for the prompt. ``unkept``: verdicts that count here and could not be
    written to the cache: the next run asks for them again.
    """

    exact: int = 0
    cached: int = 0
    judged: int = 0
    missing: int = 0
    same: int = 0
    cut: int = 0
    unkept: int = 0
    spent: JudgeSpending = JudgeSpending()
    reasons: Mapping[str, int] = field(default_factory=dict)

    def and_also(self, other: JudgingCounts) -> JudgingCounts:
        return JudgingCounts(
            exact=self.exact + other.exact,
            cached=self.cached + other.cached,
            judged=self.judged + other.judged,
            missing=self.missing + other.missing,
            same=self.same + other.same,
            cut=self.cut + other.cut,
            unkept=self.unkept + other.unkept,
            spent=self.spent.plus(other.spent),
            reasons=Counter(self.reasons) + Counter(other.reasons),
        )

    @property
    def total(self) -> int:
        """The different judgements that were requested."""
        return self.exact + self.cached + self.judged + self.missing

    def sentence(self) -> str:
        """The counts and what was spent, then :meth:`why_missing`."""
        return self.brief() + self.why_missing()

    def brief(self) -> str:
        parts = ((self.exact, "scored by rule"), (self.cached, "judged before"), (self.judged, "judged now"))
        text = "".join(f"{count} {label}, " for count, label in parts if count) + f"{self.missing} still to judge"
        if self.same:
            text += f"; {self.same} duplicates share a judgement"
        if self.spent.requests:
            text += f"; {self.spent}"
        return text + (f"; {self.cut} with a text cut for its length" if self.cut else "")

    def why_missing(self) -> str:
        """Why judgements are missing, a line for each reason, each after a line break; "" if none is."""
        # That there is no judge is said once, by the run; under terms only how the reason begins is counted.
        shown_reasons = [pair for pair in self.reasons.items() if not NO_JUDGE.startswith(pair[0])]
        ordered = sorted(shown_reasons, key=lambda pair: (-pair[1], pair[0]))
        text = "".join(f"\n  missing {count}: {reason}" for reason, count in ordered[:_REASONS_SHOWN])
        if others := ordered[_REASONS_SHOWN:]:
            text += f"\n  missing {sum(count for _, count in others)}: {len(others)} other reasons, see the sample log"
        return text


class JudgeSession:
    """One judge for all protocols of a run. UserError, before any request, if it may not or can't judge one."""

    def __init__(
        self, settings: JudgeSettings, protocols: Iterable[JudgeProtocol], *, budget: JudgeBudget | None = None
    ) -> None:
        protocols = list(protocols)
        check_judge_terms(settings, protocols)
        if settings.provider == "lexical":
            for protocol in protocols:
                lexical.check_lexical_fields(protocol)
        self.settings = settings
        self.budget = budget or JudgeBudget(settings)
        self._brake = RequestPause()
        self._stopped = False  # by Ctrl-C, before the first question
        self._pool: QuestionPool | None = None  # None: no language model judges
        if settings.is_llm:
            cache = VerdictCache(_cache.verdict_cache_path())
            transport = ChatTransport(settings, private=any(protocol.terms for protocol in protocols))
            self._pool = QuestionPool(RequestSender(settings, transport, self.budget, self._brake), cache)

    def __enter__(self) -> JudgeSession:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is in flight and close the cache."""
        self._brake.stop_waiting()
        if self._pool:
            self._pool.close()

    @property
    def other_model(self) -> str:
        """The reason if a different model ended the judging, else ""."""
        asker = self._pool.asker if self._pool else None
        return asker.stop_reason if asker and asker.other_model is not None else ""

    @property
    def interrupted(self) -> bool:
        return self._stopped or (self._pool is not None and self._pool.interrupted)

    def expect(self, model: str) -> None:
        """Accept verdicts of this model only ("": its server named none); the judging ends if another one answers."""
        if self._pool:
            self._pool.asker.expect_model(model)

    def judge(
        self,
        protocol: JudgeProtocol,
        wanted: Iterable[Wanted],
        *,
        say: Say,
        warn: Say | None = None,
        detail: Say | None = None,
        quiet: bool = False,
    ) -> tuple[dict[Key, JudgeVerdict], JudgingCounts]:
        """The verdicts on ``wanted`` by :func:`~lmms_medtasks.judges.protocol.judgement_key`, and their counts.

        ``detail`` (default ``say``) gets a line before the first request, ``say`` one every 30 s where there is no bar,
        ``warn`` (default ``say``) what delays or ends the judging; ``quiet``: no bar and no lines. Ctrl-C ends it
        (:attr:`interrupted`): verdicts obtained until then are returned, the rest is missing. A second one raises
        KeyboardInterrupt.
        """
        requested, warn, detail = list(wanted), warn or say, detail or say
        unique = {judgement_key(protocol, *each): each for each in requested}
        verdicts = {key: verdict for key, (item, _) in unique.items() if (verdict := settle_by_rule(protocol, item))}
        rest = {key: each for key, each in unique.items() if key not in verdicts}
        exact, before = len(verdicts), self.budget.spent
        cached: dict[Key, JudgeVerdict] = {}
        pooled: list[PooledVerdicts] = []
        cut = 0
        if pool := self._pool:
            asker = pool.asker
            try:
                cached_by_model, names = self._find_cached(pool, protocol, rest)
            except UserError as error:  # nothing is asked, so that nothing is paid for twice; a run's replies stay
                verdicts |= dict.fromkeys(rest, JudgeVerdict("missing", reason=f"no cache: {error}"))
                rest, names, cached_by_model = {}, {}, {}
            cached, to_ask = self._split_cached(pool, cached_by_model, rest)
            cut = self._announce(
                protocol, len(unique), exact, len(cached), [item for item, _ in to_ask.values()], detail
            )
            probe = None if asker.stop_reason else pool.probe
            if to_ask and probe and (problem := self._probe_problem(probe, protocol, warn)):
                if problem.startswith("no schema"):  # of this protocol's schema: another one may be taken
                    warn(f"{problem} So far: {self.budget.spent}.")
                elif not self.interrupted:
                    asker.give_up(problem)
                    warn(self._why_ended(asker, 0))
                verdicts |= dict.fromkeys(to_ask, JudgeVerdict("missing", reason=problem))
                to_ask = {}
            if cached and to_ask and asker.model is None:
                # One question tells which model answers today: kept verdicts of another are of another judge.
                first = next(iter(to_ask))
                pooled.append(self._ask_all(pool, protocol, {first: to_ask[first]}, names, say, warn, quiet=True))
                cached, to_ask = self._split_cached(
                    pool, cached_by_model, {key: each for key, each in rest.items() if key != first}, cached, say
                )
            if cached:
                asker.expect_model(next(iter(cached.values())).model or "")
            pooled.append(self._ask_all(pool, protocol, to_ask, names, say, warn, quiet=quiet))
            for each in pooled:
                verdicts |= each.verdicts
            verdicts |= cached
        else:
            for key, (item, _) in rest.items():
                lexically = self.settings.provider == "lexical"
                verdicts[key] = (
                    lexical.lexical_verdict(protocol, item) if lexically else JudgeVerdict("missing", reason=NO_JUDGE)
                )
        missing = [verdict for verdict in verdicts.values() if verdict.status == "missing"]
        cached_count = len(cached) + sum(each.known for each in pooled)
        return verdicts, JudgingCounts(
            exact=exact,
            cached=cached_count,
            judged=len(verdicts) - exact - cached_count - len(missing),
            missing=len(missing),
            same=len(requested) - len(unique),
            cut=cut,
            unkept=sum(each.unkept for each in pooled),
            spent=self.budget.spent.since(before),
            reasons=Counter(failure_kind(verdict.reason, protocol) for verdict in missing),
        )

    def check_of(self, protocol: JudgeProtocol) -> str:
        """The line of an earlier ``lmms-medtasks judge check`` of this judge, or "". Nothing is asked."""
        if not self._pool or not protocol.check:
            return ""
        answers = {judgement_key(protocol, *each): each for each in judge_check.list_check_items(protocol)}
        try:
            cached_by_model, _ = self._find_cached(self._pool, protocol, answers)
        except UserError:  # a cache that can't be read is told of when something is to be judged
            return ""
        verdicts, _ = self._split_cached(self._pool, cached_by_model, answers)
        if not verdicts:
            return ""
        model = next(iter(verdicts.values())).model or ""
        return f"{judge_check.count_check_outcomes(protocol, verdicts).sentence()} ({answer_phrase(model)})"

    def _probe_problem(self, probe: SchemaProbe, protocol: JudgeProtocol, warn: Say) -> str:
        """Why the judge can't be asked; "" if it can. Ctrl-C ends the judging here too."""
        try:
            return probe.find_problem(protocol, warn)
        except KeyboardInterrupt:
            self._stopped = True
            self._brake.stop_waiting()
            return INTERRUPTED

    def _find_cached(
        self, pool: QuestionPool, protocol: JudgeProtocol, rest: Mapping[Key, Wanted]
    ) -> tuple[dict[Key, dict[str, JudgeVerdict]], dict[Key, str]]:
        """The stored verdicts for ``rest`` by the model that answered, and the cache's key of each."""
        names = {key: _cache.verdict_cache_key(self.settings, protocol, *each) for key, each in rest.items()}
        cached = pool.cache.find_verdicts(names.values())
        return {key: cached[name] for key, name in names.items() if name in cached}, names

    def _split_cached(
        self,
        pool: QuestionPool,
        by_model: Mapping[Key, Mapping[str, JudgeVerdict]],
        rest: Mapping[Key, Wanted],
        chosen_before: Mapping[Key, JudgeVerdict] | None = None,
        say: Say | None = None,
    ) -> tuple[dict[Key, JudgeVerdict], dict[Key, Wanted]]:
        """The stored verdicts of the model that answers (else of the most frequent one), and what is left to ask.

        ``chosen_before``: those chosen before it answered; ``say`` is told if they were another model's.
        """
        previous_model = next(iter(chosen_before.values())).model if chosen_before else None
        model = pool.asker.model if pool.asker.model is not None else previous_model
        if model is None:
            counts = Counter(name for verdicts in by_model.values() for name in verdicts)
            model = max(counts, key=lambda name: (counts[name], name), default=None)
        cached = {key: by_model[key][model] for key in rest if model is not None and model in by_model.get(key, {})}
        to_ask = {key: each for key, each in rest.items() if key not in cached}
        if say and model != previous_model:
            say(
                f"{self.settings.name} is {answer_phrase(model or '')}, verdicts from before are "
                f"{answer_phrase(previous_model or '')}: these are left out, {len(cached)} are known of the model that "
                f"answers, {len(to_ask)} to ask."
            )
        return cached, to_ask

    def _announce(
        self, protocol: JudgeProtocol, total: int, exact: int, cached: int, asked: list[JudgedItem], say: Say
    ) -> int:
        """Say what will be asked and about what it costs; the number of items that are cut."""
        rendered = [prompts.render_prompt(protocol, item, mode_of(self.settings, protocol)) for item in asked]
        tokens = sum(estimated_tokens(each.text) for each in rendered)
        settings, text = self.settings, f"{len(asked)} to ask"
        if asked:
            text += f" (about {tokens} tokens"
            if settings.price:
                text += (
                    f", {settings.price.total_cost(tokens, default_settings()['reply_tokens'] * len(asked)):.2f} USD"
                )
            text += f"), {settings.concurrency} at a time"
        if settings.max_requests is not None:
            text += f", at most {settings.max_requests} requests"
        if settings.max_cost is not None:
            text += f", at most {settings.max_cost:.4g} USD"
        if protocol.trials > count_judging_trials(protocol, identity.describe_judge(settings, protocol)["settings"]):
            text += (
                f", once each: at temperature 0 its {protocol.trials} judgements would be the same request "
                f"({JUDGE}_TEMPERATURE above 0 asks {protocol.trials} times)"
            )
        say(
            f"Judging {protocol.name} with {settings.name} at {settings.endpoint}: {total} "
            f"judgements, {exact} scored by rule, {cached} judged before, {text}."
        )
        return sum(bool(each.cut) for each in rendered)

    def _ask_all(
        self,
        pool: QuestionPool,
        protocol: JudgeProtocol,
        asked: Mapping[Key, Wanted],
        names: Mapping[Key, str],
        say: Say,
        warn: Say,
        *,
        quiet: bool,
    ) -> PooledVerdicts:
        from tqdm import tqdm

        gone, items = pool.asker.stop_reason, {key: item for key, (item, _) in asked.items()}
        with tqdm(
            total=len(asked), desc="Judging", unit=" answer", disable=quiet or not can_show_bar(), leave=False
        ) as shown:
            silent = quiet or not shown.disable
            lines = ProgressLines(protocol.name, len(asked), pool.asker.sender, None if silent else say, warn)

            def count_answer() -> None:
                if self.settings.price:
                    shown.set_postfix_str(f"{self.budget.spent.cost:.2f} USD", refresh=False)
                shown.update()

            pooled = pool.ask_all(protocol, items, names, lines, warn, count_answer)
        if pool.asker.stop_reason and not gone:
            warn(self._why_ended(pool.asker, pooled.unkept))
        return pooled

    def _why_ended(self, asker: JudgeClient, unkept: int) -> str:
        lines = [
            f"{self.settings.name} is asked no more: {asker.stop_reason.removesuffix(' (the judge was asked no more)')}"
        ]
        if asker.streak.ended:
            lines.append(f"What came back: {asker.streak}")
        kept_sentence = "What is judged is kept."
        if unkept:
            kept_sentence = (
                f"{unkept} verdicts could not be kept: they count here, and the next command asks them again."
            )
        lines.append(f"So far: {self.budget.spent}. {kept_sentence}")
        lines.append("Mend that, and go on with: lmms-medtasks judge RUN")
        if asker.streak.ended:
            lines.append(f"Or ask on all the same: lmms-medtasks judge RUN --keep-going, in a run {JUDGE}_KEEP_GOING=1")
        return "\n  ".join(lines)


def settle_by_rule(protocol: JudgeProtocol, item: JudgedItem) -> JudgeVerdict | None:
    """The verdict of the protocol's rule; None if it needs a judge. UserError if it is not of the scale."""
    ruling = protocol.settle(item)
    if ruling is None:
        return None
    labels, rule = dict(ruling[0]), ruling[1]
    allowed = all(labels.get(dimension.name) in dimension.labels for dimension in protocol.dimensions)
    names = [dimension.name for dimension in protocol.dimensions] + (
        [protocol.checklist.name] if protocol.checklist else []
    )
    if set(labels) != set(names) or not allowed:
        raise UserError(
            f"Judge protocol {protocol.name!r}: its rule {rule!r} gives item {item.id!r} the labels {labels}; expected "
            f"one for each of {names}, as its scale has them."
        )
    return JudgeVerdict("exact", labels, reason=rule)
