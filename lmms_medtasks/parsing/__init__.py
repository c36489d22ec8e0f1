"""Reading an answer out of a model's reply. Nothing is ever guessed: what can't be read is its own outcome."""

from lmms_medtasks.parsing.choice import Reading, Status, option_letters, read_choice
from lmms_medtasks.parsing.replies import after_reasoning, is_failed_request

__all__ = ["Reading", "Status", "after_reasoning", "is_failed_request", "option_letters", "read_choice"]
