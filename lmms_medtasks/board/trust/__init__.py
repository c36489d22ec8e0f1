"""What makes a public board hard to take over: limits of what is read, pins, owners, and what was verified."""
