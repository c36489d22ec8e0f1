"""Pins, owners and levels of a public board: three files of its base branch.

Only the owner of a model's name (``owners.yml``) adds and replaces its entries. A submission is in a folder named by
the account that made it: ``entries/ACCOUNT/...``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.board import model_names
from lmms_medtasks.board.trust import levels, pins
from lmms_medtasks.errors import UserError

_KEYS = {"accounts", "rows"}


@dataclass(frozen=True)
class ModelOwners:
    """The owners of model names.

    ``accounts``: model's name -> the accounts that may add its entries, in small letters. ``rows``: rows that a name
    may have in the ranking of a task, with different arguments, if more than one. ``path``: the file.
    """

    accounts: Mapping[str, tuple[str, ...]]
    path: str = "owners.yml"
    rows: Mapping[str, int] = field(default_factory=dict)

    def problem(self, model: str, account: str) -> tuple[str, str] | None:
        """Code and reason if an account may not submit entries of a model; None if it may."""
        if model not in self.accounts:
            form = model_names.confusable_form(model)
            alike = next((name for name in self.accounts if model_names.confusable_form(name) == form), None)
            hint = f" It looks like {alike!r}, which is another's name." if alike else ""
            return "no_owner", f"{self.path} names no owner of {model[:200]!r}.{hint} The board's keepers add one."
        if account.casefold() not in self.accounts[model]:
            mine = f"It lies in the folder of {account!r}" if account else "It lies in no folder of an account"
            return "not_the_owner", f"{mine}; the name {model!r} belongs to {', '.join(self.accounts[model])}."
        return None


@dataclass(frozen=True)
class TrustRules:
    """Pins, owners (None: anybody may submit any name, as on a private board) and verified levels."""

    pins: pins.QuestionPins = pins.NONE
    owners: ModelOwners | None = None
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_public(self) -> bool:
        """Whether strangers submit to the board: names have owners."""
        return self.owners is not None


NONE = TrustRules()


def read_trust(
    pins_file: Path | None = None, owners_file: Path | None = None, verified_file: Path | None = None
) -> TrustRules:
    """Read these files. Raises UserError for a missing file or another form."""
    return TrustRules(
        pins.read_pins(pins_file) if pins_file else pins.NONE,
        read_owners(owners_file) if owners_file else None,
        levels.read_trust_levels(verified_file) if verified_file else {},
    )


def read_owners(path: Path) -> ModelOwners:
    """The owners in a file: ``model: account``, ``model: [account, account]``, or
    ``model: {accounts: [account], rows: 2}`` with the number of rows.

    Raises UserError for another form, and for names that differ only in case, blanks, separators or invisible
    characters.
    """
    content = folders.load_yaml(path) or {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected lines such as 'organisation/model: account'.")
    owners: dict[str, tuple[str, ...]] = {}
    rows: dict[str, int] = {}
    plain_names: dict[str, str] = {}
    for name, value in content.items():
        # Without a number of rows a name has one.
        fields: Any = value if isinstance(value, dict) else {"accounts": value, "rows": 1}
        accounts, most = fields.get("accounts"), fields.get("rows")
        listed = [accounts] if isinstance(accounts, str) else accounts
        is_right = isinstance(name, str) and isinstance(listed, list) and bool(listed) and set(fields) == _KEYS
        if not is_right or not _are_texts(listed) or type(most) is not int or most < 1:
            raise UserError(
                f"{path}: {name!r}: {value!r}; expected a model's name and one account or a list of them, or "
                "{accounts: [ACCOUNT], rows: NUMBER}."
            )
        rows[name] = most
        if wrong := model_names.model_name_problem(name):
            raise UserError(f"{path}: {name!r} can't be a model's name: {wrong}.")
        same = plain_names.setdefault(name.casefold().replace("_", "-").replace(" ", "-"), name)
        if same is not name:
            raise UserError(f"{path}: {name!r} and {same!r} differ in nothing that a reader sees. Keep one of them.")
        owners[name] = tuple(account.casefold() for account in listed)
    return ModelOwners(owners, str(path.name), rows)


def account_of(file: Path, roots: Iterable[Path]) -> str:
    """The account of a file: the first folder below its root; "" for none."""
    for root in roots:
        if root.is_dir() and file.is_relative_to(root):
            parts = file.relative_to(root).parts
            return parts[0] if len(parts) > 1 else ""
    return ""


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)
