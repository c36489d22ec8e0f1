"""Problems found by a check: location, value, message, allowed values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Level = Literal["error", "warning", "note"]
"""error: the task can't be accepted. warning: a person should look at it. note: worth knowing."""

_LONG = 120


@dataclass(frozen=True)
class ValidationProblem:
    """One problem. ``key`` is a dotted path in a YAML ("metadata.version"); ``line`` counts from 1."""

    file: str
    message: str
    line: int | None = None
    key: str = ""
    value: str | None = None
    allowed: tuple[str, ...] = ()
    near: str = ""
    level: Level = "error"

    def __str__(self) -> str:
        file = self.file if self.file.isprintable() else repr(self.file)
        location = file if self.line is None else f"{file}:{self.line}"
        return f"{location}: {self.level}: {self.text}"

    @property
    def text(self) -> str:
        """The problem without its location."""
        value = [] if self.value is None else [_shorten(self.value)]
        text = ": ".join([*([self.key] if self.key else []), *value, self.message])
        text += "" if text.endswith((".", "?")) else "."
        if self.near:
            text += f" Did you mean {self.near!r}?"
        if self.allowed:
            text += f" Allowed: {', '.join(self.allowed)}."
        return text


@dataclass
class ValidationLog:
    """Problems in the order in which they were found, and notes on what was checked."""

    problems: list[ValidationProblem] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def add(self, file: Path | str, message: str, **more: object) -> None:
        """Add a problem in ``file``."""
        name = file.name if isinstance(file, Path) else file
        self.problems.append(ValidationProblem(name, message, **more))  # type: ignore[arg-type]

    @property
    def errors(self) -> list[ValidationProblem]:
        return [problem for problem in self.problems if problem.level == "error"]


def _shorten(value: str) -> str:
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
