"""``lmms-medtasks judge check``: a judge on answers of known quality, before money is spent on a run's."""

from __future__ import annotations

from typing import Annotated

import typer

from lmms_medtasks.errors import UserError


def check(
    judge: Annotated[str | None, typer.Option("--judge", help="provider:model. Default: MEDTASKS_JUDGE.")] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Judge protocol: its name, a rubric's file, FILE.py:NAME. Repeatable."),
    ] = None,
    max_requests: Annotated[int | None, typer.Option(min=0, help="Ask at most this often.")] = None,
) -> None:
    """Have a judge score twenty answers of known quality under each protocol, each answer twice.

    Four questions with a right answer, a wrong one, one that says nothing, the wrong one behind padding, and the wrong
    one with an instruction to the judge behind it. The result stands with the judge in every run that it judges
    afterwards. Nothing of a benchmark is sent. Exits with 1 if the judge falls short in something.
    """
    import dataclasses

    from lmms_medtasks.judges import judge_check, registry, settings
    from lmms_medtasks.judges.judging import Judge
    from lmms_medtasks.progress import say

    names = list(dict.fromkeys(protocol or []))
    if not names:
        raise UserError(f"Name the protocols to check with --protocol: {', '.join(registry.names())}.")
    chosen = settings.read(judge=judge)
    if chosen.provider == "none":
        raise UserError("No judge: name one with --judge provider:model, or set MEDTASKS_JUDGE.")
    if max_requests is not None:
        chosen = dataclasses.replace(chosen, max_requests=max_requests)
    protocols = [registry.get(name) for name in names]
    wanted = {each.name: judge_check.wanted(each) for each in protocols}
    fell_short = False
    with Judge(chosen, protocols) as asked:
        for each in protocols:
            verdicts, counts = asked.judge(each, wanted[each.name], say=say)
            found = judge_check.result(each, verdicts)
            fell_short = fell_short or bool(found.problems)
            typer.echo(f"{each.name}, {chosen.name}: {found.sentence()}")
            for problem in found.problems:
                typer.echo(f"  {problem}")
            given = sorted((found.verdicts or {}).items(), key=lambda pair: (-pair[1], pair[0]))
            if given:
                typer.echo(f"  verdicts: {', '.join(f'{number} times {text}' for text, number in given)}")
            typer.echo(f"  {counts.sentence()}".replace("\n", "\n  "))
    if fell_short:
        raise typer.Exit(1)
