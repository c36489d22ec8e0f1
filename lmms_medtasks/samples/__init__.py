"""What a run leaves behind, read back: result files, sample logs, tables of questions."""
