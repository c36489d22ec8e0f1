"""From many runs to a leaderboard: entries, what is wrong with them, packs, and the static site."""
