"""What was asked and answered, read again from a sample log for the few questions that are shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.run_entry import LINE
from lmms_medtasks.record import KEY, from_json
from lmms_medtasks.samples import result_files as results

_ENDS = 2_000


@dataclass(frozen=True)
class Shown:
    """A question's prompt, the right answer and the replies; texts of others, neither escaped nor printable yet."""

    prompt: str
    expected: str
    replies: tuple[str, ...]


def of(entry: Entry, ids: Collection[str]) -> dict[str, Shown]:
    """Prompt, right answer and replies of these questions, each text cut to 2,000 characters.

    {} for credentialed data, whose texts are shown nowhere, and for a pack, which has none.
    """
    if entry.credentialed or entry.source.samples is None:
        return {}
    wanted = set(ids)
    lines = {
        line: id
        for line, id in zip(entry.answers.column(LINE).to_pylist(), entry.questions.ids.tolist(), strict=True)
        if id in wanted
    }
    found: dict[str, Shown] = {}
    with entry.source.samples.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number in lines:
                row = results.row_of(line, number, entry.source.samples)
                record = from_json(row.get(KEY), f"{entry.source.samples}, line {number}")
                # Withheld by its terms, whatever the result file says of them.
                if record.judgement is None or not isinstance(record.judgement.items, str):
                    replies = row.get("filtered_resps")
                    texts = replies if isinstance(replies, list) else []
                    target = record.right_answer
                    target = row.get("target", "") if target is None else target
                    found[lines[number]] = Shown(_cut(row.get("input", "")), _cut(target), tuple(map(_cut, texts)))
    return found


def _cut(text: object) -> str:
    whole = str(text)
    return whole if len(whole) <= _ENDS else whole[:_ENDS] + " […]"
