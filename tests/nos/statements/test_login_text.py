"""A changed login text is text for people on every network OS: a warning, whatever was done to it."""

from __future__ import annotations

import json

import pytest

from fabric.audit.checks import statement_differences

TEXTS = {
    "cumulus": ("startup.yaml", "- set:\n    system:\n      message:\n        pre-login: {text}\n"),
    "eos": ("startup-config", "hostname a\nbanner login\n{text}\nEOF\n!\n"),
    "nxos": ("startup-config", "hostname a\nbanner motd ^{text}^\n"),
    "junos": ("juniper.conf", 'system {{ host-name a; login {{ message "{text}"; }} }}\n'),
}


@pytest.mark.parametrize("nos", TEXTS)
def test_a_changed_login_text_is_no_error(nos: str) -> None:
    name, form = TEXTS[nos]
    planned, running = ({name: form.format(text=text)} for text in ("Authorized access only", "Authorized  access only "))
    assert [one.label for one in statement_differences(nos, planned, running)] == [True]


def test_that_of_a_document() -> None:
    planned, running = (
        {"config_db.json": json.dumps({"BANNER_MESSAGE": {"global": {"state": "enabled", "login": text}}})}
        for text in ("Authorized access only", "Go away")
    )
    assert [one.label for one in statement_differences("sonic", planned, running)] == [True]
