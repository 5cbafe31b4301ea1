"""Text of PromQL and of the exposition format: names of devices are data, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def escaped(text: str) -> str:
    """A label value as it stands between double quotes; PromQL and the exposition format have the same three escapes."""
    return text.translate(_ESCAPES)


def labels(pairs: Mapping[str, object]) -> str:
    """`a="1",b="2"`; a label without a value is left out, as Prometheus itself does."""
    return ",".join(f'{name}="{escaped(str(value))}"' for name, value in pairs.items() if value != "")


def selector(where: Mapping[str, object], unless: Mapping[str, object] | None = None) -> str:
    """Matchers without their braces."""
    parts = [f'{name}="{escaped(str(value))}"' for name, value in where.items()]
    return ",".join([*parts, *(f'{name}!="{escaped(str(value))}"' for name, value in (unless or {}).items())])


def replaced(expr: str, target: str, source: str, pattern: str = "(.+)", replacement: str = "$1") -> str:
    """`label_replace`: what is found in label `source` becomes label `target`."""
    quoted = ", ".join(f'"{escaped(text)}"' for text in (target, replacement, source, pattern))
    return f"label_replace({expr}, {quoted})"
