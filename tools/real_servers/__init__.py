"""Real servers of models on a CPU, in an environment of their own: installed, given a tiny checkpoint, and started."""
