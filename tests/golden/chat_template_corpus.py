"""Small templates that use each part of the language: (name, source).  They see VARIABLES."""

VARIABLES = {
    "n": 7, "minus": -7, "f": 2.5, "big": 9007199254740993, "s": "Hello, W\u00f6rld!", "e": "",
    "spaces": " \t a  b \n c ", "yes": True, "no": False, "nil": None,
    "l": [3, 1, 2], "words": ["pear", "Apple", "fig", "apple"], "mixed": [1, "a", None, True, 2.0],
    "d": {"b": 1, "a": 2, "C": [1, {"x": "y"}], "items": "shadowed"}, "lines": "a\n\n  b\r\nc\n",
    "people": [{"name": "Ann", "age": 30, "tags": ["x"], "home": {"town": "Ulm"}},
               {"name": "bob", "age": 25, "tags": []}, {"name": "Cid", "age": 35}],
    "quotes": ["it's", 'say "x"', "both ' and \"", "tab\t\\ \u2028\u00e9\x01\U0001f600"],
    "html": "<a href=\"x\">&'</a>",
}

TEMPLATES = []


def case(name, *sources):
    for i, source in enumerate(sources):
        TEMPLATES.append((f"{name} {i}" if len(sources) > 1 else name, source))


def values(name, *expressions):
    """One case for each expression."""
    case(name, *("{{ " + e + " }}" for e in expressions))


# ---- white space and tags ------------------------------------------------------------------------

case("trim and lstrip",
     "a\n  {% if yes %}\n  b\n  {% endif %}\nc\n", "a {% if yes %} b {% endif %} c",
     "  {{ n }}\n\n{{ n }}\n", "x\n   {# comment #}\ny\n", "x {# c #} y", "{# a #}\n{# b #}\n\nz",
     "{%- if yes -%}\n\n  a \n{%- endif %}\n b", "a  {{- n -}}  b", "a\n {{- n -}}\n b",
     "a\n  {%+ if yes %}b{% endif +%}\nc", "a\n  {%+ if yes +%}\nb\n{%+ endif +%}\nc",
     "{#- x -#}\n a", "a \n {#- x -#} \n b", "{% set x = 1 %}\n{% set y = 2 %}\n{{ x }}{{ y }}\n\n",
     "\r\na\r\n{% if yes %}\r\nb\r{% endif %}\r\n", "\t {% if yes %}\n\tx\n\t{% endif %}\n", "\n", "\n\n",
     "{% if yes %}a{% endif %}\n  {% if yes %}b{% endif %}", "{{ n }}  {% if yes %}x{% endif %}",
     "{% if yes -%}   \n   {% if yes %}\n a{% endif %}{% endif %}")
case("raw", "{% raw %}{{ x }} {% y %}{# z #}{% endraw %}", "a\n  {%- raw -%}\n  {{ b }} \n{%- endraw -%}\n c",
     "{% raw %}\nx\n  {% endraw %}\ny", "{%raw%}{%endraw%}{% rawx %}")
case("braces", "{ { } } {{ {'a': {'b': 1}} }} {{ {} }}", "{{ '}}' }}{{ '%}' }}", "{{ {'a': 1}['a'] }}",
     "a { b {x %} }}")
case("comments", "a{# {{ x }} {% if %} #}b", "{#}#}", "{# open")
case("if", "{% if n > 5 and not no %}A{% elif yes %}B{% else %}C{% endif %}",
     "{% if no %}A{% elif e %}B{% elif l %}C{% endif %}", "{% if missing %}A{% else %}B{% endif %}",
     "{% if n > 5 %}{% if no %}x{% else %}y{% endif %}{% endif %}", "{% if no or nil or 'z' %}z{% endif %}")
case("for", "{% for x in l %}{{ x }}{{ ',' if not loop.last }}{% endfor %}",
     "{% for x in [] %}x{% else %}none{% endfor %}", "{% for k in d %}{{ k }} {% endfor %}",
     "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for c in 'h\u00e9!' %}[{{ c }}]{% endfor %}",
     "{% for x in l if x > 1 %}{{ loop.index }}/{{ loop.length }}:{{ x }} {% endfor %}",
     "{% for x in l if x > 5 %}{{ x }}{% else %}none{% endfor %}",
     "{% for x in missing %}{{ x }}{% else %}empty{% endfor %}", "{% for x in nil %}{% endfor %}",
     "{% for x in 5 %}{% endfor %}", "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
     "{% for a, b in [[1, 2, 3]] %}{% endfor %}", "{% for x in 1, 2 %}{{ x }}{% endfor %}",
     "{% for x in l %}{% for y in l %}{{ loop.index0 }}{% endfor %}{{ loop.index }} {% endfor %}",
     "{% for x in (l if yes else []) %}{{ x }}{% endfor %}", "{% for x in l | sort %}{{ x }}{% endfor %}",
     "{% for m in people %}{{ m.name }}{% if m.tags %}{{ m['tags'][0] }}{% endif %} {% endfor %}")
case("loop", "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
     "{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }} {% endfor %}",
     "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
     "{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is undefined }} {% endfor %}",
     "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{{ loop.index }}", "{{ loop }}",
     "{% for x in l %}{% if loop.previtem and loop.previtem > x %}down{% endif %}{% endfor %}",
     "{% for x in l %}{% set outer = loop %}{% for y in l %}{{ outer.index }}{% endfor %}{% endfor %}",
     "{% for x in l %}{{ loop.nothing }}{% endfor %}")
case("break", "{% for x in [1,2,3,4] %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
     "{% for x in [1,2,3,4] %}{% if x % 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
     "{% for x in [1,2] %}{% for y in [1,2] %}{% break %}{% endfor %}{{ x }}{% endfor %}", "{% break %}",
     "{% for x in [1] %}{% break %}{% else %}e{% endfor %}",
     "{% for x in [1, 2] %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}e{% endfor %}",
     "{% for x in [1] %}{% continue %}{% else %}e{% endfor %}")
case("set", "{% set x = 5 %}{{ x }}", "{% set x = 1 %}{% for i in l %}{% set x = i %}{% endfor %}{{ x }}",
     "{% set a, b = 1, 2 %}{{ b }}{{ a }}", "{% set x %}a{{ n }}b{% endset %}[{{ x }}]",
     "{% set x | upper | trim %} a{{ n }}b {% endset %}[{{ x }}]", "{% if yes %}{% set x = 3 %}{% endif %}{{ x }}",
     "{% set n = n + 1 %}{{ n }}", "{% set x = 1, 2 %}{{ x }}", "{% set a.b = 1 %}", "{% set true = 1 %}",
     "{% set x = x if x is defined else 'new' %}{{ x }}", "{% set d.x = 1 %}",
     "{% set x = 1 %}{% set y %}{% set x = 2 %}{{ x }}{% endset %}{{ y }}{{ x }}",
     "{% if no %}{% set n = 1 %}{% endif %}{{ n }}")
case("namespace", "{% set ns = namespace(a=1, b='x') %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}",
     "{% set ns = namespace() %}{% set ns.x = 5 %}{{ ns.x }}[{{ ns.y }}]", "{% set ns = namespace(d) %}{{ ns.b }}",
     "{% set ns = namespace(found=false) %}{% for i in l %}{% if i == 1 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.found }}",
     "{% set ns = namespace(x=1) %}{{ ns.x is defined }}{{ ns.z is defined }}{{ ns is mapping }}{{ ns['x'] }}",
     "{% set ns = namespace(x=none) %}{% if ns.x is none %}n{% endif %}{% set ns.x = ns %}{{ ns.x.x.x is none }}")
case("macro", "{% macro f(a, b='x', c=none) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(1, c=3) }}{{ f(b=2, a=1) }}",
     "{% macro f(a) %}{{ a is defined }}{{ a }}{% endmacro %}{{ f() }}", "{% macro f() %}x{% endmacro %}{{ f(1) }}",
     "{% macro f() %}x{% endmacro %}{{ f(z=1) }}",
     "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}",
     "{% macro f() %}{{ v }}{% endmacro %}{% set v = 1 %}{{ f() }}{% set v = 2 %}{{ f() }}",
     "{% macro f() %}{% set inner = 1 %}{{ inner }}{% endmacro %}{{ f() }}{{ inner is defined }}",
     "{% macro outer(x) %}{% macro inner(y) %}{{ x }}{{ y }}{% endmacro %}{{ inner(2) }}{% endmacro %}{{ outer(1) }}",
     "{% macro f(x) -%}\n  {{ x }}\n{%- endmacro %}{{ f('a') ~ f('b') | upper }}",
     "{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}", "{% macro f(a=1, b) %}{% endmacro %}",
     "{% macro f(x) %}{{ x }}{% endmacro %}{% set g = f %}{{ g('q') }}{{ f is callable }}",
     "{% macro f() %}{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}{% endmacro %}{{ f() }}",
     "{% set ns = namespace(x='') %}{% macro f(v) %}{% set ns.x = ns.x + v %}{% endmacro %}{{ f('a') }}{{ f('b') }}{{ ns.x }}")
case("call", "{% macro f(a) %}<{{ caller() }}{{ a }}>{% endmacro %}{% call f(1) %}body{{ n }}{% endcall %}",
     "{% macro f() %}{{ caller(2) }}{% endmacro %}{% call(x) f() %}[{{ x }}]{% endcall %}",
     "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}")
case("blocks", "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('a', 'b') | upper %}aXa{% endfilter %}",
     "{% generation %}a{{ n }}{% endgeneration %}", "{% for m in l %}{%- generation -%} {{ m }} {%- endgeneration -%}{% endfor %}",
     "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
     "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}")

# ---- values --------------------------------------------------------------------------------------

values("printing", "yes", "no", "nil", "n", "f", "1.0", "1e16", "1e15", "1e-5", "0.0001", "0.1 + 0.2", "1e300 * 1e300",
       "-0.0", "123456789.123", "l", "mixed", "d", "quotes", "(1,)", "()", "(1, 'a')", "[]", "{}", "{1: 'a', none: 2, (1, 2): 3}",
       "missing", "[missing]", "s", "d.C", "'a' 'b'", "[[], {}, ()]", "big", "d.keys()", "d.values()", "d.items()", "1, 2")
values("literals", "'a\\n\\t\\x41\\u00e9\\U0001F600\\'\\\"\\\\\\q\\101'", '"dq \'x\'"', "0x1F", "0b101", "0o17", "1_000", "1.5e3", "2e3",
       "true", "True", "none", "None", "false", "[1, 2,]", "{'a': 1,}", "(1, 2,)", "'\\u00e9' == '\u00e9'", "9223372036854775807",
       "1 if yes", "1 if no", "[1 if no]", "'a' if no else 'b' if no else 'c'", "{'x': 1, 'x': 2}", "{1: 'i', true: 't', 1.0: 'f'}")
values("arithmetic", "n + 2 * 3 - 4", "n / 2", "n // 2", "minus // 2", "n % 3", "minus % 3", "n % -3", "2 ** 10", "2 ** -1", "2 ** 3 ** 2", "-2 ** 2",
       "7.5 // 2", "-7.5 % 2", "1 / 0", "1 // 0", "1 % 0", "'a' + 'b'", "'a' * 3", "3 * 'a'", "'a' * -1", "[1] * 2", "[1] + [2]", "(1,) + (2,)", "[1] + (2,)",
       "'a' + 1", "nil + 1", "yes + 1", "missing + 1", "1 ~ 'a' ~ nil ~ missing ~ 2.0", "1 ~ 2 + 3", "-n", "+n", "- -n", "-'a'", "'%s-%d-%%-%r' % ('a', 5, 'b')",
       "'%s' % 'x'", "'%s %s' % ('x',)", "1 - 1.0", "5 - 3 - 1", "(1 + 2) * 3", "2 * 3 % 4", "10 - 2 ~ 3", "0.5 + 1", "7 // 2.0", "yes * 3")
values("comparison", "1 < 2 < 3", "1 < 3 < 2", "1 == 1.0", "true == 1", "'a' == 1", "l == [3, 1, 2]", "[1, 2] < [1, 3]", "'a' < 'b'", "'Z' < 'a'", "1 < 'a'",
       "nil == none", "nil < 1", "missing == missing", "missing == nil", "missing < 1", "1 != 2", "3 >= 3.0", "d == d", "{'a': 1} == {'a': 1.0}", "(1, 2) == [1, 2]", "'b' > 'a'", "1 in l",
       "9 in l", "9 not in l", "'ell' in s", "1 in 'a'", "'a' in d", "'z' in d", "'a' in missing", "1 in nil", "'' in s", "not 1 in l", "(1, 2) in [(1, 2)]", "'x' in ['x'] == true")
values("logic", "nil or 'x'", "e or no", "yes and 'x'", "0 and missing.x", "not nil", "not not 1", "1 and 2 or 3", "no or no and yes", "[] or {} or ''", "not no and yes")

# ---- members -------------------------------------------------------------------------------------

values("members", "d.b", "d['b']", "d.missing", "d['missing']", "d.missing.x", "d['missing']['x']", "missing.x", "missing['x']", "nil.x", "nil['x']", "n.x", "s.x", "l.x", "l[0]", "l[-1]",
       "l[5]", "l[-9]", "l['a']", "s[0]", "s[-1]", "s[8]", "s[99]", "d[0]", "people[0].name", "people[0]['home'].town", "people.0.name", "d['items']", "(1, 2)[1]", "d.C.1.x", "l.0",
       "people[1].home", "people[1].home.town", "missing[0]", "d[missing]", "d[l]", "n[0]", "l[true]", "l[0.0]", "d.get('a')", "d.get('z')", "d.get('z', 5)")
values("slices", "l[1:]", "l[:1]", "l[::-1]", "l[::2]", "l[-2:]", "l[5:]", "l[2:1]", "s[7:]", "s[:5]", "s[::-1]", "s[1:10:3]", "s[-3:-1]", "s[::0]", "mixed[1:3]", "(1, 2, 3)[:2]", "nil[1:]", "missing[1:]",
       "l[nil:nil]", "'h\u00e9llo'[1:3]", "l[-100:100]", "n[1:]", "l[3:0:-1]", "l[::-2]", "d[1:]")
values("methods of texts", "s.upper()", "s.lower()", "s.title()", "'hELLO wORLD'.capitalize()", "spaces.strip()", "'[' ~ spaces.lstrip() ~ ']'", "'[' ~ spaces.rstrip() ~ ']'", "'xxaxx'.strip('x')",
       "'xyaxy'.lstrip('yx')", "spaces.split()", "'a,b,,c'.split(',')", "'a,b,c'.split(',', 1)", "'a,b,c'.rsplit(',', 1)", "spaces.split(none, 1)", "spaces.rsplit(none, 1)", "''.split()", "''.split(',')", "'a'.split('')",
       "lines.splitlines()", "lines.splitlines(true)", "s.startswith('Hell')", "s.endswith('!')", "s.startswith(('x', 'H'))", "s.startswith(5)", "'aXbXc'.replace('X', '-')", "'aXbXc'.replace('X', '-', 1)", "'abc'.replace('', '-')",
       "s.find('W')", "s.find('zz')", "'abcabc'.rfind('bc')", "'abcabc'.index('c')", "'abc'.index('z')", "'banana'.count('an')", "'abc'.count('')", "', '.join(['a', 'b'])", "'-'.join('abc')", "','.join([1])", "'123'.isdigit()", "''.isdigit()", "'a1'.isalnum()",
       "'ab'.isalpha()", "' \t'.isspace()", "'AB'.isupper()", "'ab'.islower()", "'a1'.isnumeric()", "'{} {}'.format(1, 'a')", "'{1}{0}'.format('a', 'b')", "'{x}!'.format(x=5)", "'{{}}{}'.format(1)", "'{}'.format()", "'<a{}>'.format('')",
       "'x=1'.partition('=')", "'a=b=c'.rpartition('=')", "'abc'.partition('z')", "'42'.zfill(5)", "'-42'.zfill(5)", "'a'.ljust(3) ~ '|'", "'a'.rjust(3)", "'a'.center(4) ~ '|'", "'ab'.center(5) ~ '|'", "'prefix-x'.removeprefix('prefix-')", "'x.py'.removesuffix('.py')",
       "s.nothing()", "s.strip(5)", "'</think>a</think>b'.split('</think>')[-1]", "\"they're bill's\".title()", "'\u00c9T\u00c9'.lower()", "'a\u00a0b\u3000c'.split()", "'abcabc'.find('c', 3)", "'a b'.split(sep=' ')", "'a b c'.split(' ', maxsplit=1)")
values("methods of others", "d.keys() | list", "d.values() | list", "d.items() | list", "l.index(1)", "l.index(9)", "l.count(3)", "(1, 2, 1).count(1)", "d.copy() == d", "l.append(4)", "l.pop()", "d.update({})", "d.pop('a')", "d.setdefault('q', 1)", "n.foo()", "missing()", "n()", "d.items().x", "nil.get('x')")

# ---- filters and tests ---------------------------------------------------------------------------

values("filters of texts", "s | upper", "s | lower", "'hello wORLD-foo (bar' | title", "'hELLO' | capitalize", "'[' ~ (spaces | trim) ~ ']'", "'xax' | trim('x')", "'aXbX' | replace('X', '-')", "'aXbX' | replace('X', '-', 1)", "5 | replace(5, 6)",
       "lines | indent", "lines | indent(2, true)", "lines | indent(2, blank=true)", "lines | indent(width=1, first=true)", "'a\\nb' | indent('> ')", "'' | indent(2, true)", "['a', 1, none] | join('-')", "l | join", "people | join(', ', attribute='name')", "'abc' | join('.')", "missing | join(',')", "nil | join(',')",
       "5 | string", "nil | string", "missing | string", "html | e", "html | escape", "html | safe", "'%s %s' | format('a', 1)", "'ab' | center(6) ~ '|'", "n | upper", "nil | trim", "missing | trim", "l | string", "5 | lower")
values("filters of lists", "l | length", "s | length", "d | length", "missing | length", "n | length", "l | count", "l | first", "l | last", "[] | first", "[] | last", "s | first", "s | last", "d | first", "nil | first", "'abc' | list", "d | list", "5 | list",
       "l | sort", "words | sort", "words | sort(case_sensitive=true)", "l | sort(reverse=true)", "people | sort(attribute='age') | map(attribute='name') | list", "mixed | sort", "l | reverse | list", "'abc' | reverse", "['a', 'A', 'b'] | unique | list", "['a', 'A'] | unique(true) | list", "l | max", "l | min", "words | max", "[] | max",
       "people | max(attribute='age') | attr('x')", "l | sum", "people | sum(attribute='age')", "l | sum(start=10)", "words | map('upper') | list", "words | map('replace', 'p', 'q') | join(' ')", "people | map(attribute='home.town', default='-') | list", "people | map(attribute='tags') | list", "people | map(attribute='name') | map('lower') | join(',')",
       "mixed | select | list", "l | select('odd') | list", "l | select('gt', 1) | list", "l | select('>', 1) | list", "l | reject('odd') | list", "people | selectattr('tags') | map(attribute='name') | list", "people | selectattr('age', 'gt', 26) | map(attribute='name') | list", "people | rejectattr('name', 'equalto', 'bob') | list | length", "people | selectattr('home', 'defined') | list | length", "people | selectattr('name', 'in', ['bob', 'Cid']) | list | length",
       "l | map('nothing') | list", "l | select('nothing') | list", "l | map('upper') | length", "nil | map('upper') | list", "nil | selectattr('x') | list", "missing | select | list", "[1, 2, 3] | batch(2) | list", "[1, 2, 3] | batch(2, 0) | list", "[1, 2, 3, 4, 5] | slice(2) | list", "[1, 2, 3] | slice(2, 'x') | list", "d | dictsort", "d | dictsort(true)", "people[0] | dictsort(by='key', reverse=true)", "d | items | list", "missing | items | list", "l | items | list", "{'b': 2, 'a': 1} | dictsort(by='value')")
case("iterators", "{% set g = l | map('string') %}{% for x in g %}{{ x }}{% endfor %}|{% for x in g %}{{ x }}{% endfor %}", "{% if [] | map('upper') %}true{% endif %}", "{{ (l | map('string'))[0] is defined }}")
values("filters of values", "missing | default('x')", "nil | default('x')", "nil | default('x', true)", "e | d('x', boolean=true)", "missing | default", "d.q | default(d.b)", "missing.x | default('y')", "'42' | int", "'4.7' | int", "'x' | int", "'x' | int(5)", "'ff' | int(base=16)", "'0x1f' | int(0, 16)", "4.7 | int", "-4.7 | int", "nil | int", "yes | int", "' 12 ' | int",
       "'1_000' | int", "'4.5' | float", "'x' | float", "'x' | float(1.5)", "4 | float", "'1e3' | float", "'inf' | float", "-5 | abs", "-2.5 | abs", "2.5 | round", "3.5 | round", "2.675 | round(2)", "42.55 | round(1)", "42.55 | round(1, 'floor')", "42.51 | round(method='ceil')", "5 | round", "1234 | round(-2)", "d | attr('b')", "missing | int", "'a' | abs", "1.005 | round(2)", "nil | float")
values("tojson", "d | tojson", "mixed | tojson", "s | tojson", "quotes | tojson", "quotes | tojson(ensure_ascii=true)", "html | tojson", "d | tojson(indent=2)", "d | tojson(indent=0)", "[] | tojson(indent=2)", "{'a': {}, 'b': []} | tojson(indent=4)", "d | tojson(separators=(',', ':'))", "d | tojson(sort_keys=true)", "people | tojson(indent=1, sort_keys=true)", "{1: 2, none: 3, true: 4, 1.5: 5} | tojson",
       "(1, 2) | tojson", "missing | tojson", "[missing] | tojson", "f | tojson", "1e100 | tojson", "1e999 | tojson", "yes | tojson", "nil | tojson", "range(3) | tojson", "l | map('string') | tojson", "d.keys() | tojson", "n | tojson(indent=none)", "{(1, 2): 3} | tojson", "big | tojson")
values("tests", "n is defined", "missing is defined", "missing is undefined", "d.x is undefined", "nil is none", "n is none", "s is string", "n is string", "d is mapping", "l is mapping", "l is iterable", "s is iterable", "n is iterable", "nil is iterable", "missing is iterable", "l is sequence", "s is sequence", "d is sequence", "missing is sequence",
       "d.keys() is sequence", "range(2) is sequence", "(l | map('string')) is sequence", "(l | map('string')) is iterable", "n is number", "f is number", "yes is number", "s is number", "n is integer", "yes is integer", "f is integer", "f is float", "n is float", "yes is boolean", "n is boolean", "yes is true", "1 is true", "no is false", "0 is false",
       "n is odd", "n is even", "8 is even", "'a' is even", "n is divisibleby 7", "n is divisibleby(2)", "n is eq 7", "n is equalto(7)", "n is ne 7", "n is gt 5", "n is lt 5", "n is ge 7", "n is le(6)", "n is greaterthan 1", "n is lessthan 1", "1 is in l", "n is in [7]", "9 is not in l", "n is not none", "n is not defined", "not n is none", "nil is sameas none", "'AB' is upper", "'ab' is lower", "'1' is lower",
       "s is callable", "'upper' is filter", "'nope' is filter", "n is nope", "n is defined and s is string", "n is odd or nope.x", "n is string or n is number", "1 if n is defined else 2", "n is eq(7) is true")
values("functions", "range(3) | list", "range(1, 7, 2) | list", "range(3, 0, -1) | list", "range(0) | list", "range('a')", "range(2, 2) | length", "range(5)[2]", "range(10**9)", "range(1, 2, 0)", "dict(a=1, b='x')", "dict({'a': 1}, b=2)", "dict([('a', 1)])", "dict()", "raise_exception('no')", "raise_exception()", "strftime_now('%d %b %Y')", "strftime_now('%Y-%m-%d %H:%M:%S')", "nothing(1)", "range()", "strftime_now(5)", "4 in range(5)")

# ---- what is wrong -------------------------------------------------------------------------------

case("wrong", "{{ ", "{{ n", "{% if %}", "{% if n %}", "{% endif %}", "{% for x l %}{% endfor %}", "{{ n n }}", "{{ 'a }}", "{{ [1, 2 }}", "{{ (1 }}", "{{ {1: } }}", "{{ n | }}", "{{ n | nope }}", "{{ n is }}", "{{ .x }}", "{{ n. }}", "{% nope %}", "{{ }}", "{%  %}", "{{ n } }}",
     "{% set x %}", "{% else %}", "{% macro %}{% endmacro %}", "{% macro f( %}{% endmacro %}", "{% for x in l %}{% endif %}", "{{ 1 + }}", "{{ a b c }}", "{{ f(a=1, 2) }}", "{{ ! }}", "{{ n ? 1 : 2 }}", "{{ 'a' 'b' 1 }}", "{% include 'x' %}", "{% extends 'x' %}", "{{ @ }}", "{% if n = 1 %}{% endif %}", "{{ not }}", "{{ n |upper() lower }}")

# ---- whole templates ------------------------------------------------------------------------------

CHATS = {
    "marks": """{%- for message in messages %}
{%- if message.role not in ['system', 'user', 'assistant', 'tool', 'developer'] %}
{{- raise_exception('Unknown role: ' + message.role) }}
{%- endif %}
{{- '<|' + message.role + '|>\\n' }}
{%- if message.content is string %}{{ message.content | trim }}{% elif message.content %}
{%- for part in message.content %}{{ part.text if part.type == 'text' else '[' ~ part.type ~ ']' }}{% endfor %}
{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<call>' }}{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}</call>
{%- endfor %}
{{- eos_token if message.role == 'assistant' else '<|end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>\\n' }}{% endif %}""",
    "tools": """{{ bos_token }}{% set ns = namespace(system='', last=-1) %}
{% for message in messages %}
  {% if message['role'] == 'system' %}{% set ns.system = message['content'] %}{% endif %}
  {% if message['role'] == 'user' %}{% set ns.last = loop.index0 %}{% endif %}
{% endfor %}
{%- macro describe(name, schema, indent=0) -%}
  {{ '  ' * indent }}{{ name }}: {{ schema.type if schema.type is string else schema.type | join(' | ') }}
  {%- if schema.properties %} {
    {%- for key, value in schema.properties | dictsort %}
{{ describe(key, value, indent + 1) }}{% if key in (schema.required or []) %}!{% endif %}
    {%- endfor %}

{{ '  ' * indent }}}{% endif %}
{%- endmacro %}
{% if tools %}
# Tools
{% for tool in tools %}
{{ tool.function.description | replace('\\n', ' ') }}
{{ describe(tool.function.name, tool.function.parameters) }}
{{ tool | tojson(indent=2) }}
{% endfor %}
{% endif %}
{{ ns.system }}
{% for message in messages if message.role != 'system' %}
[{{ loop.index }}/{{ loop.length }}{{ '*' if loop.index0 == ns.last }}] {{ message.role | upper }}: {{ message.content }}
{% if message.reasoning_content is defined %}({{ message.reasoning_content }}){% endif %}
{% endfor %}
{{ '>' if add_generation_prompt }}""",
}
