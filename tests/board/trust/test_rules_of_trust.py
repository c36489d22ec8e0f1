"""Whose a model's name is, and how many rows it may have."""

import pytest

from lmms_medtasks.board.trust.rules_of_trust import read_owners
from lmms_medtasks.errors import UserError


def test_accounts_and_rows(tmp_path):
    path = tmp_path / "owners.yml"
    path.write_text("a/one: Ada\nb/two: [ben, Carla]\nc/three: {accounts: [cy], rows: 3}\n")
    found = read_owners(path)
    assert found.accounts == {"a/one": ("ada",), "b/two": ("ben", "carla"), "c/three": ("cy",)}
    assert [found.rows.get(name, 1) for name in ("a/one", "b/two", "c/three")] == [1, 1, 3]


@pytest.mark.parametrize(
    "value", ["{accounts: [cy], rows: 0}", "{accounts: [cy], rows: two}", "{accounts: [cy]}", "{accounts: [], rows: 2}",
              "{accounts: [cy], rows: true}", "[]", "3"]
)  # fmt: skip
def test_another_form_is_refused(value, tmp_path):
    path = tmp_path / "owners.yml"
    path.write_text(f"c/three: {value}\n")
    with pytest.raises(UserError, match="rows: NUMBER"):
        read_owners(path)
