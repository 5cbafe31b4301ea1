"""Text that a user, or an attacker through them, could write into a field of an intent."""

from __future__ import annotations

from itertools import product

CONTROL = [f"a{sign}b" for sign in "\n\r\t\0\x07\x08\x0b\x0c\x1b\x1c\x1d\x1e\x1f\x7f\x80\x85\x9b\x9f\u2028\u2029"]
LINES = [
    "a\nno router bgp 1",
    "a\r\nshutdown",
    "a\n!\nusername x privilege 15",
    "a\vb",
    "x\n  evil: true",
    "\nstarts",
    "ends\n",
]
HIDDEN = [f"a{sign}b" for sign in "\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\u00ad\u2060"]
UNICODE = ["Knoten-Ä 机架", "🙂", "ｆｕｌｌ", "a\u0301", "\u00a0x", "\U000e0041", "\uffff", "İstanbul", "ß" * 20]
SHELL = [
    "$(reboot)",
    "`reboot`",
    "; reboot",
    "| reboot",
    "&& reboot",
    "> /etc/passwd",
    "$((1))",
    "~root",
    "*",
    "'; reboot; '",
]
FILLED = [
    "${SNMP_AUTH_KEY}",
    "$SNMP_AUTH_KEY",
    "hi ${ADMIN_PASSWORD_HASH}!",
    "a$HOME",
    "$_",
    "$$HOME",
    "\\$HOME",
    "'$HOME'",
    "${HOME:-x}",
    "${#HOME}",
    "${!HOME}",
    "{{ 7 * 7 }}",
    "{{ lookup('pipe', 'id') }}",
    "{% raw %}",
    "{# x #}",
    "{{",
    "{%",
    "${",
    "{{ .Env.HOME }}",
    "{{template}}",
]
NOT_FILLED = [
    "costs $5",
    "100 %",
    "a { b",
    "} a",
    "{",
    "}",
    "{}",
    "{0}",
    "{a}",
    "{0.__class__}",
    "%s",
    "%(a)s",
    "%n",
    "%PATH%",
    "#{x}",
]
YAML = [
    "a: b",
    "- a",
    "&a",
    "*a",
    "!!python/object:os.system",
    "yes",
    "null",
    "~",
    "1e3",
    "0x1f",
    "[a, b]",
    "{a: b}",
    "a #b",
    "? a",
]
YAML += ["| a", "> a", "'", '"', "---", "...", "%YAML 1.2", "@a", "12:30", "''", '""', "\\", "\\n", "\\u0000"]
JSON = ['"}, "x": {"', '\\"', '", "state": "disabled', "\\", "\\\\", "</script>", '{"a": 1}', "[1]", "null"]
MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "&lt;",
    "&",
    "<!--",
    "-->",
    "<?xml?>",
    "<b>",
    "</svg>",
]
MARKUP += ['" onload="alert(1)', "javascript:alert(1)", "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>", "&e;"]
CSV = ["=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", 'a","b', "a,b", "a;b", '=HYPERLINK("http://x")', "\tx"]
COMMENTS = [
    "!",
    "! x",
    "#",
    "# x",
    "//",
    "/* x",
    "x */",
    "/* x */",
    "*/",
    "--",
    ";",
    "REM",
    "exit",
    "end",
    "quit",
    "no shutdown",
]
BANNER = [
    "EOF",
    " EOF ",
    "EOF x",
    "^C",
    "\\^C",
    "^",
    "#",
    "%",
    "~",
    "@",
    "^Cexit^C",
    "'''",
    '"""',
    "`",
    "^ # % ~ @ ` | $1",
    "\\",
]
JUNOS = ['"; }', "## SECRET-DATA", "inactive: x", "apply-groups x;", "{", "};", "/* */", "replace: x", "protect: x"]
CONFIG = [
    "hostname x",
    "router bgp 1",
    "interface eth0",
    "ip route 0.0.0.0/0 Null0",
    "username a privilege 15",
    "set system x",
]
CONFIG += [
    "frr defaults datacenter",
    "feature nxapi",
    "no ip access-group x in",
    "banner motd x",
    "enable secret x",
    "PORT|Ethernet0",
]
PATHS = [
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "C:\\x",
    "~/x",
    "file:///etc/passwd",
    "con",
    "a/../../b",
]
LONG = ["a" * 200, "a" * 201, "a" * 5000, "é" * 200, " " * 150, "a b " * 40]
EMPTY = ["", " ", "  a  ", "\u3000"]

PAYLOADS = list(
    dict.fromkeys(
        [
            *(CONTROL + LINES + HIDDEN + UNICODE + SHELL + FILLED + NOT_FILLED + YAML + JSON + MARKUP + CSV),
            *(COMMENTS + BANNER + JUNOS + CONFIG + PATHS + LONG + EMPTY),
            *(f"{a}{b}" for a, b in product(("'", '"', "\\", "^"), ("!", "#", ";", "}"))),
        ]
    )
)

# What ends a banner or begins something else in the language of one network OS: tried on all of them.
OF_CONFIGS = {*COMMENTS, *BANNER, *JUNOS, *CONFIG, *YAML}
