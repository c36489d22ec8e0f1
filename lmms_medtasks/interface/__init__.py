"""What ``import lmms_medtasks as mt`` offers to a notebook or a script; each name is listed in the package itself.

Nothing is computed here that another package computes: arguments are checked and brought into one form, the package's
own functions are called, and what they give is shown as notebooks show things.
"""
