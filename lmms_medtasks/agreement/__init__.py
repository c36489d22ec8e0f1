"""Agreement of judges with people and with one another: judged answers, ratings by people, and sheets to rate on."""
