"""Reading an answer out of a model's reply. Nothing is ever guessed: what can't be read is its own outcome."""

from lmms_medtasks.parsing.reply import Reply, is_failed_request
from lmms_medtasks.parsing.texts import option_letters

__all__ = ["Reply", "is_failed_request", "option_letters"]
