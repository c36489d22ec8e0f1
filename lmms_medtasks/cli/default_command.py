"""A group of commands of which one needs no name: ``judge RUN`` beside ``judge check``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


def group_with(default: str) -> type[TyperGroup]:
    """A group in which what names no command is an argument of the command called ``default``."""

    class Group(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if args and args[0] not in {*self.commands, "--help"}:
                args = [default, *args]
            return super().parse_args(ctx, args)

    return Group
