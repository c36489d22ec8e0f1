"""Models without weights, which make every number mean something."""
