"""LLM-judge protocols. The multiple-choice tasks that exist so far need no judge."""
