"""An empty folder of submissions for every test."""

import pytest

from tests.board.trust.submissions import Submissions


@pytest.fixture
def submissions(tmp_path, runs):
    """An empty folder of submissions."""
    folder = tmp_path / "entries"
    folder.mkdir()
    return Submissions(folder, runs)
