"""Spellings of the last release: for one more they work and say on stderr what took their place."""

from __future__ import annotations

from fabric.cli.common import say

COMMANDS = {"--capacity": ("capacity", None), "--step": ("step", "--job")}  # options of `estimate` → command, its option


def renamed(words: list[str]) -> list[str]:
    """A command line as it is written today."""
    for at, word in enumerate(words if words[:1] == ["estimate"] else ()):
        option, equals, value = word.partition("=")
        if option in COMMANDS:
            command, now = COMMANDS[option]
            say(f"fabric: `estimate {option}` is now `fabric {command}`; the next release removes the old option")
            instead = [f"{now}{equals}{value}"] if now else []
            return [command, *words[1:at], *instead, *words[at + 1 :]]
    return words
