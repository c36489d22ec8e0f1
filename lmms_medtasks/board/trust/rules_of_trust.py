"""What a board in public goes by beside its rules: three files of its base branch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.trust import levels, owners, pins


@dataclass(frozen=True)
class Trust:
    """Pins, owners (None: anybody may submit any name, as on a board of one's own runs) and verified levels."""

    pins: pins.Pins = pins.NONE
    owners: owners.Owners | None = None
    levels: levels.Levels = levels.NONE

    @property
    def in_public(self) -> bool:
        """Whether strangers submit to the board: names have owners."""
        return self.owners is not None


NONE = Trust()


def read(pins_file: Path | None = None, owners_file: Path | None = None, verified_file: Path | None = None) -> Trust:
    """What these files say. Raises UserError where one is not there or says something else."""
    return Trust(
        pins.read(pins_file) if pins_file else pins.NONE,
        owners.read(owners_file) if owners_file else None,
        levels.read(verified_file) if verified_file else levels.NONE,
    )
