"""The report of Bones and Joints."""
