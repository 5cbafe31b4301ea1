"""Checks over what files say: against each other, and against the plan where there is one."""
