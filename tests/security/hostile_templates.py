"""Templates of a site that a hostile pull request could carry: to read files, to run code, to never end, to fill the disk.

`{secret}` stands for the path of a file that nothing may read. A template without an {% extends %} line of its own is the
text of a block of frr/frr.conf.j2.
"""

from __future__ import annotations

BASE = '{% extends "frr/frr.conf.j2" %}\n'

READS = {
    "include through the name of a chain": '{% include "site:\n{secret}" %}',
    "include of a chain that exists": '{% include "site:frr/frr.conf.j2\n{secret}" %}',
    "include of an absolute path": '{% include "{secret}" %}',
    "include of a path with dots": '{% include "../../../../../../etc/passwd" %}',
    "include of /proc": '{% include "/proc/self/environ" %}',
    "include of a list": '{% include ["{secret}", "frr/accounts.j2"] %}',
    "include that may be missing": '{% include "{secret}" ignore missing %}',
    "include by a variable": '{% set f = "{secret}" %}{% include f %}',
    "include by an expression": '{% include "site:" ~ "\\n{secret}" %}',
    "include by a value of the file": "{% include hostname %}",
    "include by a condition": '{% include ("frr/accounts.j2" if false else "{secret}") %}',
    "import": '{% import "site:\n{secret}" as x %}{{ x }}',
    "import by a variable": '{% set f = "{secret}" %}{% import f as x %}',
    "from import": '{% from "site:\n{secret}" import x %}',
    "include inside a macro": '{% macro m(f) %}{% include f %}{% endmacro %}{{ m("{secret}") }}',
    "include inside a filter block": '{% filter upper %}{% include "{secret}" %}{% endfilter %}',
    "include inside a set block": '{% set x %}{% include "{secret}" %}{% endset %}{{ x }}',
}

EXTENDS = {
    "extends a file": '{% extends "{secret}" %}',
    "extends a chain": '{% extends "site:\n{secret}" %}',
    "extends by an expression": '{% set b = "frr/frr.conf.j2" %}{% extends b %}',
    "extends under a condition": '{% if true %}{% extends "{secret}" %}{% endif %}{% extends "frr/frr.conf.j2" %}',
    "extends twice": BASE + '{% extends "{secret}" %}',
    "extends in a branch": '{% if hostname %}{% extends "frr/frr.conf.j2" %}{% endif %}',
}

ESCAPES = {
    "class of a text": "{{ ''.__class__ }}",
    "mro": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "subclasses by item": "{{ ''['__class__']['__mro__'] }}",
    "mro without underscores": "{{ dict.mro() }}",
    "globals of a macro": "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "globals of cycler": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "globals of joiner": "{{ joiner.__init__.__globals__ }}",
    "globals of namespace": "{{ namespace.__init__.__globals__ }}",
    "globals of lipsum": "{{ lipsum.__globals__['os'].environ }}",
    "self": "{{ self._TemplateReference__context.environment }}",
    "self and globals": "{{ self.__init__.__globals__.__builtins__ }}",
    "context of super": "{{ super._context }}",
    "loop's iterator": "{% for x in [1] %}{{ loop._iterable }}{% endfor %}",
    "frame of a generator": "{{ ([1] | map('string')).gi_frame }}",
    "attr filter": "{{ '' | attr('__class__') }}",
    "attr filter and format": "{{ ('{0.__class__}' | attr('format'))(1) }}",
    "map by attribute": "{{ [''] | map(attribute='__class__') | list }}",
    "map of attr": "{{ [''] | map('attr', '__class__') | list }}",
    "groupby by attribute": "{{ [''] | groupby('__class__') | list }}",
    "sort by attribute": "{{ ['', 'a'] | sort(attribute='__class__.__name__') | list }}",
    "CVE-2016-10745, format": "{{ '{0.__class__.__init__.__globals__}'.format(self) }}",
    "CVE-2019-10906, format_map": "{{ '{a.__class__.__mro__}'.format_map(dict(a=1)) }}",
    "CVE-2024-56326, format by reference": "{% set f = '{0.__class__}'.format %}{{ [1] | map(f) | list }}",
    "CVE-2024-56326, format called later": "{% set ns = namespace(f='{0.__class__}'.format) %}{{ ns.f(hostname) }}",
    "CVE-2025-27516, attr": "{{ ('{0.__class__.__base__}' | attr('for' ~ 'mat'))(hostname) }}",
    "CVE-2025-27516, map of attr": "{% set f = ['{0.__class__}'] | map('attr', 'format') | list %}{{ f[0](1) }}",
    "format by item": "{{ '{0.__class__}'['format'](1) }}",
    "percent with an object": "{{ '%s' % dict }}",
    "xmlattr": "{{ {'a b=c': 1} | xmlattr }}",
    "undefined's insides": "{{ nothing.__class__ }}",
    "function of the standard library": "{{ range.__globals__ }}",
    "a list that others share": "{% set _ = prefix_lists.append(1) %}",
    "a mapping that others share": "{% set _ = policy.update({'connected': 'X'}) %}",
    "a list by its item": "{% set _ = prefix_lists['clear']() %}",
    "random": "{{ [1, 2, 3] | random }}",
    "an unknown tag": "{% do prefix_lists.append(1) %}",
    "a debug tag": "{% debug %}",
}

BOMBS = {
    "nested loops": "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
    "nested loops that print nothing": "{% for i in range(99999) %}{% for j in range(99999) if 0 %}{% endfor %}{% endfor %}",
    "a huge range": "{% for i in range(10 ** 12) %}{% endfor %}",
    "a text times a number": "{{ 'a' * 10 ** 9 }}",
    "a number times a text": "{{ 10 ** 9 * 'a' }}",
    "a list times a number": "{{ ([0] * 10 ** 9) | length }}",
    "a power": "{{ 9 ** 999999999 }}",
    "products": "{% set n = namespace(x=9) %}{% for i in range(60) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "center": "{{ 'a' | center(10 ** 9) }}",
    "center as a method": "{{ 'a'.center(10 ** 9) }}",
    "ljust": "{{ 'a'.ljust(10 ** 9) }}",
    "zfill": "{{ 'a'.zfill(10 ** 9) }}",
    "expandtabs": "{{ '\t'.expandtabs(10 ** 9) }}",
    "bytes": "{{ (1).to_bytes(10 ** 9, 'big') }}",
    "percent": "{{ '%1000000000d' % 1 }}",
    "percent with a star": "{{ '%*d' % (10 ** 9, 1) }}",
    "percent with a key": "{{ '%((a))1000000000d' % {'(a)': 1} }}",
    "percent as a filter": "{{ '%1000000000d' | format(1) }}",
    "percent precision": "{{ '%.1000000000f' % 1.5 }}",
    "percent with zeros before": "{{ '%.00000000001000000000f' % 1.5 }}",
    "format": "{{ '{:1000000000}'.format(1) }}",
    "format with zeros before": "{{ '{:.00000000001000000000f}'.format(1.5) }}",
    "format with a nested width": "{{ '{:{w}}'.format(1, w=10 ** 9) }}",
    "format that repeats": "{{ ('{0}' * 20000).format('a' * 20000) }}",
    "indent": "{{ 'a' | indent(10 ** 9, true) }}",
    "indent by a text": "{{ ('\n' * 9999) | indent('a' * 99999) }}",
    "batch": "{{ [1] | batch(10 ** 9, 0) | list | length }}",
    "slice": "{{ [1] | slice(10 ** 9) | list | length }}",
    "round": "{{ 1.5 | round(10 ** 8, 'ceil') }}",
    "replace": "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}",
    "replace as a method": "{{ ('a' * 99999).replace('', 'b' * 99999) }}",
    "join": "{{ range(99999) | join('b' * 99999) }}",
    "join as a method": "{{ ('b' * 99999).join(['a'] * 9999) }}",
    "doubling by ~": "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "doubling by +": "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "doubling by a set block": (
        "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}"
    ),
    "doubling of lists": "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}",
    "doubling of mappings": "{% set n = namespace(x=1)%}{% for i in range(90) %}{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}",
    "a long list compared": (
        "{% set a = range(9999) | list %}{% set b = range(9999) | list %}"
        "{% for i in range(9999) %}{% if a == b %}{% endif %}{% endfor %}"
    ),
    "a long text searched": "{% set a = 'a' * 999999 %}{% for i in range(99999) %}{% if 'b' in a %}{% endif %}{% endfor %}",
    "a long tuple as a key": (
        "{% set k = (range(9999) | list | join(',')).split(',') %}{% for i in range(9999) %}{% if k in [k, k] %}{% endif %}"
        "{% endfor %}"
    ),
    "sums of lists": "{{ ([[1]] * 9999) | sum(start=[]) | length }}",
    "slices kept": (
        "{% set n = namespace(x=[]) %}{% set a = 'a' * 999999 %}"
        "{% for i in range(9999) %}{% set n.x = n.x + [a[1:]] %}{% endfor %}"
    ),
    "filters without a loop": "{% for i in range(9999) %}{% if range(9999) | select | list %}{% endif %}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a macro that calls itself twice": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(90) }}"
    ),
    "a block that prints itself": "{{ self.logging() }}",
    "super in a loop": "{% for i in range(9999) %}{% for j in range(9999) %}{{ super() }}{% endfor %}{% endfor %}",
    "a recursive loop": "{% for i in range(300) recursive %}{{ loop(range(300)) }}{% endfor %}",
    "a shipped template over and over": "{% for i in range(99999) %}{% include 'frr/frr.conf.j2' %}{% endfor %}",
    "a long body": "{% for i in range(99999) %}" + "{% if hostname %}{% endif %}" * 1000 + "{% endfor %}",
    "a macro with a long body": (
        "{% macro m() %}" + "{% if hostname %}{% endif %}" * 1000 + "{% endmacro %}"
        "{% for i in range(99999) %}{{ m() }}{% endfor %}"
    ),
    "lipsum": "{{ lipsum(n=10 ** 9) }}",
    "a number of many digits": "{{ " + "9" * 9000 + " }}",
    "parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "signs": "{{ " + "-" * 9000 + "1 }}",
    "lists in lists": "{{ " + "[" * 400 + "]" * 400 + " }}",
    "loops in loops": "{% for i in [1] %}" * 30 + "{% endfor %}" * 30,
    "conditions in conditions": "{% if hostname %}" * 300 + "{% endif %}" * 300,
    "a large file": "x" * 2_100_000,
    "a large output": "{% for i in range(99999) %}" + "x" * 9999 + "\n{% endfor %}",
    "a list printed": "{{ prefix_lists }}",
}

OTHERS = {
    "null bytes": "\x00",
    "null bytes of a literal": "{{ '\\x00' }}",
    "an escape sequence": "{{ '\\x1b[2J' }}",
    "a carriage return": "{{ 'a\\rb' }}",
    "a line separator": "{{ 'a\\u2028b' }}",
    "a cut tag": "{% if",
    "a cut expression": "{{ hostname",
    "an unknown block": BASE + "{% block nothing_of_ours %}{% endblock %}",
    "an unknown name": "{{ hostnaem }}",
    "division by zero": "{{ 1 // 0 }}",
    "a wrong type": "{{ 'a' + 1 }}",
}

# What a site writes every day: it must go on working.
HARMLESS = {
    "super": "{{ super() }}",
    "a line": "ip route 192.0.2.0/24 Null0\n",
    "secrets of its own": "! ${TACACS_KEY}\n",
    "a loop": "{% for list in prefix_lists %}! {{ loop.index }} of {{ loop.length }} {{ list.name }}\n{% endfor %}",
    "a filtered loop": "{% for list in prefix_lists if list.name != 'x' %}! {{ list.name | lower }}\n{% else %}{% endfor %}",
    "formats": "! {{ '%02d' % 7 }} {{ '%s-%s' | format('a', 'b') }} {{ '{:>5}'.format('x') }} {{ '{a}'.format(a=1) }}\n",
    "methods": "! {{ hostname.upper().replace('A', 'b').split('-') | join(' ') }} {{ hostname.startswith('x') }}\n",
    "filters": "! {{ [3, 1, 2] | sort | map('string') | join(',') }} {{ [1, 2] | sum }} {{ hostname | length }}\n",
    "a macro": "{% macro m(a, b=2) %}! {{ a }} {{ b }}\n{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}",
    "a call block": "{% macro m() %}! {{ caller() }}\n{% endmacro %}{% call m() %}x{% endcall %}",
    "namespace": "{% set n = namespace(x=0) %}{% for i in range(5) %}{% set n.x = n.x + i %}{% endfor %}! {{ n.x }}\n",
    "a mapping": "{% set t = {'a': 1, 'b': 2} %}{% for k, v in t.items() %}! {{ k }} {{ t[k] }} {{ t.get(1) }}\n{% endfor %}",
    "a slice": "! {{ hostname[:3] ~ hostname[3:] }}\n",
    "include of a shipped part": "{% include 'frr/frr.conf.j2' %}",
    "tests": "{% if hostname is defined and 1 is odd and x is not defined %}! yes\n{% endif %}",
    "default": "! {{ nothing | default('none') }}\n",
    "a filter block": "{% filter indent(2) %}\na\nb\n{% endfilter %}",
    "a set block": "{% set t %}a{% endset %}! {{ t }}\n",
    "with": "{% with a = 1 %}! {{ a }}\n{% endwith %}",
    "cycler and joiner": "{% set c = cycler('a', 'b') %}{% set j = joiner(',') %}! {{ c.next() ~ j() ~ c.next() ~ j() }}\n",
    "loop over numbers": "{% for i in range(1, 49) %}! port {{ i }}{{ ',' if not loop.last }}\n{% endfor %}",
    "dictsort and groupby": "{% for k, v in {'b': 1, 'a': 2} | dictsort %}! {{ k }}\n{% endfor %}"
    "{% for k, v in [{'a': 1}, {'a': 1}] | groupby('a') %}! {{ k }} {{ v | length }}\n{% endfor %}",
    "batch": "{% for row in range(7) | batch(3, '-') %}! {{ row | join(' ') }}\n{% endfor %}",
}


def text(body: str, secret: str) -> str:
    """A template as a file has it."""
    body = body.replace("{secret}", secret)
    return body if "{% extends" in body else BASE + "{% block logging %}\n" + body + "\n{% endblock %}\n"
