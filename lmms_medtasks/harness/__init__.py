"""Everything that touches lmms-eval: the plugin, hooks, models, and what is checked around a run."""
