"""The report of Med-CMR: the seven dimensions, the judged open answers, position bias, and pairs of models."""
