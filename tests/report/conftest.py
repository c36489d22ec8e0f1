"""What the tests of reports share."""

import pytest

from lmms_medtasks.suites import registry


@pytest.fixture
def no_folder_given(monkeypatch):
    """No benchmark's folder is known but the installed ones, and what a test gives is forgotten after it."""
    monkeypatch.setattr(registry, "_GIVEN", {})
    registry.get.cache_clear()
    yield
    registry.get.cache_clear()
