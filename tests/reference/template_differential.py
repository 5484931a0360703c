#!/usr/bin/env python3
"""Compare our Jinja engine with jinja2 on real chat templates and on small constructs.

usage: template_differential.py TEMPLATE_TOOL [FOLDER_OR_SDIST ...]
       template_differential.py --golden tests/data/text/jinja_constructs.json

TEMPLATE_TOOL is build/.../bin/template_tool. FOLDER_OR_SDIST holds *.jinja files: a folder, or the source
distribution of `llama-cpp-python` (pip download --no-deps --no-binary :all: llama-cpp-python), whose
models/templates has many. Nothing of them is kept. Needs jinja2 3.1 (3.1.6 was used).
Prints each difference and a count; exit code 1 if there is one.
"""
import datetime
import functools
import json
import pathlib
import subprocess
import sys
import tarfile

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = "2026-12-01T08:30:00"


class Generation(jinja2.ext.Extension):
    """{% generation %}: renders its body; transformers' own extension also tracks where it stands."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def environment():
    """The environment that transformers 5 sets up (utils/chat_template_utils.py), by its documented settings."""
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                         extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime.datetime.fromisoformat(NOW).strftime(form)
    return made


TOOLS = [{"type": "function", "function": {
    "name": "compile_kernel", "description": "Compile a CUDA kernel with nvcc & report \"errors\" <if any>.",
    "parameters": {"type": "object", "properties": {
        "source": {"type": "string", "description": "the source"},
        "arch": {"type": "string", "enum": ["sm_80", "sm_90"], "description": "architecture"},
        "flags": {"type": "array", "items": {"type": "string"}},
        "level": {"type": "integer", "default": 3}, "limits": {"type": "object", "properties": {"regs": {"type": "number"}}}},
        "required": ["source"]}}},
    {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "call00001", "type": "function", "function": {"name": "compile_kernel", "arguments": {"source": "__global__ void k() {}\n", "arch": "sm_90", "level": 2, "ok": True, "none": None, "f": 1.5}}}]}
CONVERSATIONS = [
    [{"role": "user", "content": "Add two vectors."}],
    [{"role": "system", "content": "You write CUDA."}, {"role": "user", "content": "Größe 轉置 🧮 <b>&amp;</b> 'x' \"y\""}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "  b\n"}, {"role": "user", "content": "\n\tc "}],
    [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
     {"role": "assistant", "content": "<think>\nhm\n</think>\n\n```cuda\n__global__ void k() {}\n```"}, {"role": "user", "content": "b"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "answer", "reasoning_content": "why not"}],
    [{"role": "user", "content": "compile"}, CALL, {"role": "tool", "name": "compile_kernel", "tool_call_id": "call00001", "content": "{\"ok\": true}"}],
    [{"role": "user", "content": "compile"}, CALL, {"role": "tool", "name": "compile_kernel", "tool_call_id": "call00001", "content": "ok"},
     {"role": "assistant", "content": "It compiles."}, {"role": "user", "content": "thanks"}],
    [{"role": "user", "content": [{"type": "text", "text": "in parts"}, {"type": "text", "text": " two"}]}],
    [{"role": "developer", "content": "d"}, {"role": "user", "content": "u"}],
    [{"role": "assistant", "content": "first"}],
    [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    [],
]

# Small constructs, each with the variables below; what the two say must be equal, errors included.
SNIPPETS = r"""
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 7.5 // 2 }} {{ 1e3 }} {{ 1_000 }}
{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ 1 ~ 2 ~ 'x' }} {{ 1 + 2 ~ 3 }} {{ -3 | abs }} {{ (-3) | abs }} {{ 10 - 2 - 3 }} {{ 2 ** 3 ** 2 }}
{{ 'a' * 3 }} {{ [1, 2] + [3] }} {{ (1, 2) + (3,) }} {{ [0] * 3 }} {{ 'a' + 'b' }} {{ 'a' 'b' }}
{{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ [1, 2] < [1, 3] }} {{ none == none }} {{ x == y }}
{{ 1 in [1, 2] }} {{ 'b' in 'abc' }} {{ 'k' in d }} {{ 'z' not in d }} {{ not 1 in [2] }} {{ not true or true }} {{ 1 and 2 }} {{ 0 or 'x' }}
{{ 'yes' if n > 1 else 'no' }}{{ 'only' if n > 100 }} {{ 1 if false else 2 if false else 3 }}
{{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[::-1] }} {{ s[:-1] }} {{ l[1:] }} {{ l[::2] }} {{ l[-2:] }} {{ l[5:] }} {{ l[10] }} {{ d['k'] }} {{ d.k }} {{ d.missing }} {{ d['missing'] }}
{{ d.missing.more }}
{{ missing.more }}
{{ missing + 1 }}
{{ missing }}{{ missing | default('d') }} {{ '' | default('d') }} {{ '' | default('d', true) }} {{ none | default('d') }} {{ missing is defined }} {{ n is defined }} {{ missing | length }}
{{ none }} {{ true }} {{ 1.0 }} {{ 1e20 }} {{ 1e16 }} {{ 123456789012345.0 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1.5e-7 }} {{ 0.1 + 0.2 }} {{ [1, 'a', none, true, 1.5] }} {{ {'a': 1, 'b': [2]} }} {{ (1,) }} {{ () }} {{ "it's" }} {{ ["it's", 'a"b', 'é', '\n'] }}
{% for i in range(3) %}{{ loop.index }}/{{ loop.length }} {{ loop.first }} {{ loop.last }} {{ loop.revindex0 }} {{ loop.previtem }}|{{ loop.nextitem }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for i in [] %}x{% else %}none{% endfor %} {% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for k in d %}{{ k }}{% endfor %} {% for c in 'abc' %}{{ c }}-{% endfor %}
{% for i in range(10) if i % 2 %}{{ i }} {{ loop.index }}{% if i > 6 %}{% break %}{% endif %} {% endfor %}
{% for i in range(5) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}
{% set x = 1 %}{% for i in range(2) %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }} {% set ns = namespace(a=1, b='q') %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}
{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set t %}block {{ a }}{% endset %}[{{ t }}] {% set u | upper %}up{% endset %}{{ u }} {% if true %}{% set inside = 5 %}{% endif %}{{ inside }}
{% macro m(a, b='B', c=none) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }} {{ m(1, 2, 3, 4) }} {{ m(b=1, a=2) }} {{ m(1, z=3) }}
{% macro wrap(tag) %}<{{ tag }}>{{ caller() }}</{{ tag }}>{% endmacro %}{% call wrap('b') %}in{% endcall %} {% macro each(l) %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(i) each([1, 2]) %}({{ i }}){% endcall %}
{% with a = 1, b = 2 %}{{ a + b }}{% endwith %} {% filter upper %}text {{ s }}{% endfilter %}
{%- if true -%}   a   {%- else -%} b {%- endif -%}   c   {{- ' d ' -}}   e
  {% if true %}
    line
  {% endif %}
  after {# comment #} text
  {# alone #}
end {%+ if true +%}
 x
{% endif %}
{% raw %}{{ not rendered }}{% endraw %} {% raw -%}   x  {%- endraw %}
{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a b c'.split(' ', 1) }} {{ 'a b c'.rsplit(' ', 1) }} {{ 'a\nb\r\nc'.splitlines() }} {{ 'xxabxx'.strip('x') }} {{ '  a '.lstrip() }}| {{ 'abc'.startswith('ab') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('c') }}
{{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }} {{ 'abc'.find('c') }} {{ 'abc'.find('z') }} {{ 'éaé'.rfind('é') }} {{ 'abab'.count('ab') }} {{ '-'.join(['a', 'b']) }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aB'.swapcase() }} {{ '7'.zfill(3) }} {{ 'a'.center(5) }}| {{ 'a'.center(4, '*') }} {{ 'ab'.center(5, '*') }} {{ 'a'.ljust(3, '.') }} {{ 'a'.rjust(3) }} {{ 'abc'.partition('b') }} {{ 'prefix-x'.removeprefix('prefix-') }} {{ 'x.cu'.removesuffix('.cu') }} {{ '12'.isdigit() }} {{ 'ab1'.isalnum() }} {{ 'AB'.isupper() }} {{ ' '.isspace() }}
{{ '{} {1} {a}'.format(1, 2, a=3) }}
{{ '{} {} {a}'.format(1, 2, a=3) }} {{ '{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}'.format('a', 'b', 'c', 42, 3.14159, 1234567) }} {{ '%s-%d-%05.1f-%r' % ('a', 3, 2.5, 'q') }} {{ '%(a)s' % {'a': 1} }} {{ '%s' | format('x') }}
{{ [3, 1, 2] | sort }} {{ [3, 1, 2] | sort(reverse=true) }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A'] | sort(case_sensitive=true) }} {{ rows | sort(attribute='n') | map(attribute='n') | list }} {{ rows | selectattr('n', 'gt', 1) | list | length }} {{ rows | rejectattr('n', 'equalto', 2) | map(attribute='s') | join(', ') }} {{ rows | map(attribute='zz', default='-') | list }}
{{ [1, 2, 3] | select('odd') | list }} {{ [0, 1, ''] | select | list }} {{ [1, 2, 3] | reject('even') | list }} {{ ['a', 'b'] | map('upper') | list }} {{ [1, 1, 2] | unique | list }} {{ [1, 2, 3] | sum }} {{ rows | sum(attribute='n') }} {{ [1, 2, 3] | max }} {{ ['b', 'a'] | min }} {{ [] | first }} {{ [1, 2] | last }} {{ 'abc' | first }} {{ 'abc' | reverse }} {{ [1, 2] | reverse | list }} {{ range(7) | batch(3) | list }} {{ range(7) | batch(3, 'x') | list }} {{ range(7) | slice(3) | list }} {{ d | dictsort }} {{ d | items | list }} {% for g, rs in rows | groupby('g') %}{{ g }}:{{ rs | length }};{% endfor %}
{{ 'a b' | trim }} {{ ' x ' | trim }} {{ 'xax' | trim('x') }} {{ 'a' | upper }} {{ 'A' | lower }} {{ 'hello there' | title }} {{ 'word and word' | wordcount }} {{ 'a<b>&' | escape }} {{ '<p>a <b>b</b></p>' | striptags }} {{ 'a b/c?' | urlencode }} {{ 'abc def ghi jkl' | truncate(9) }} {{ 'abcdefghijkl' | truncate(8, true, '..', 0) }} {{ 'a\nb\n\nc' | indent(2) }}|{{ 'a\nb' | indent(2, true) }} {{ 'a\n' | indent }}| {{ 42 | string }} {{ '42' | int + 1 }} {{ '4.7' | int }} {{ 'x' | int(5) }} {{ '1.5' | float }} {{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ 2.1 | round(0, 'ceil') }} {{ [1, [2]] | string }} {{ 'abc' | list }} {{ d | length }} {{ 'b' | center(5) }}| {{ 'a-b' | replace('-', '+') }} {{ [1, 2] | join }} {{ 1.0 | int }} {{ true | int }}
{{ d | tojson }} {{ {'a': [1, 2.5, none, true, 'é"\\\n\t/'], 'b': {}} | tojson }} {{ {'b': 1, 'a': [1, {}]} | tojson(indent=2) }} {{ [] | tojson(indent=4) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ 'é😀' | tojson(ensure_ascii=true) }} {{ [1, 2] | tojson(separators=(',', ':')) }} {{ 1e20 | tojson }} {{ {1: 2} | tojson }} {{ '<&>' | tojson }}
{{ 1 is number }} {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ 's' is iterable }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is boolean }} {{ true is integer }} {{ none is none }} {{ 4 is divisibleby 2 }} {{ 3 is odd }} {{ 1 is in [1] }} {{ 2 is eq 2 }} {{ 2 is not eq 2 }} {{ 'a' is lower }} {{ m is callable }} {{ n is sameas n }} {{ n is even and n is number }} {{ none is not none }} {{ x is defined and x }} {{ 'a' is string and 'b' is not number }} {{ false is false }}
{{ l | length > 2 and l[0] == 1 }} {{ l.index(2) }} {{ l.count(1) }} {{ d.get('k') }} {{ d.get('z', 'q') }} {{ d.get('z') }} {{ d.keys() | list }} {{ d.values() | list }} {{ d.items() | list }}
{{ l.append(1) }}
{{ d.update({'a': 1}) }}
{{ range(1, 10, 3) | list }} {{ range(5, 0, -2) | list }} {{ dict(a=1) }} {% set j = joiner('; ') %}{{ j() }}a{{ j() }}b {% set c = cycler('x', 'y') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }} {{ strftime_now('%d %b %Y') }}
{{ raise_exception('no tools') }}
{{ 1 / 0 }}
{{ 'a' + 1 }}
{{ 'a' < 1 }}
{{ none + 1 }}
{{ nofunction() }}
{{ s.nomethod() }}
{{ x | nofilter }}
{% for x in 5 %}{% endfor %}
{% for x in none %}{% endfor %}
{% if %}{% endif %}
{{ 'unclosed }}
{% for x in y %}
{{ a b }}
{% unknown %}
{{ }}
{% set x = %}
{% endif %}
{{ "\x41\u00e9\U0001F600\t\\ \' \q \101" }} {{ 'a\
b' }}
{% generation %}trained {{ s }}{% endgeneration %} {% set g = 1 %}{% generation %}{% set g = 2 %}{% endgeneration %}{{ g }}
{% for a in [[1, [2, 3]]] recursive %}{% endfor %}{% for i in tree recursive %}{{ i.v }}{% if i.c %}({{ loop(i.c) }}){% endif %}{{ loop.depth }}{% endfor %}
{% for i in range(4) %}{{ loop.cycle('a', 'b') }}{% endfor %} {% for i in [1, 1, 2] %}{{ loop.changed(i) }} {% endfor %}
{{ (l | first) is number }} {{ l|first is number }} {{ not l }} {{ -n }} {{ +n }} {{ - n + 1 }} {{ n|string|length }} {{ [n, n + 1,] }} {{ {'a': 1,}.a }} {{ (n) }} {{ s ~ n ~ none }}
{{ '<b>'|safe + '<i>' }} {{ '<i>' + '<b>'|safe ~ '<u>' }} {{ ('<b>'|e)|e }} {{ ('a'|safe ~ '&') }} {{ missing is callable }}
{{ s.upper().lower()[0] }} {{ {'a': {'b': [1, 2]}}.a.b[1] }} {{ l.0 }} {{ d['k'][0] }} {{ 'a'['upper']() }}
""".strip("\n")
VARIABLES = {"s": "héllo", "n": 4, "l": [1, 2, 3], "d": {"k": "v", "B": 2, "a": [1]}, "rows": [{"n": 2, "s": "b", "g": 1}, {"n": 1, "s": "a", "g": 2}, {"n": 3, "s": "c", "g": 1}],
             "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3}]}, {"v": 4}]}


def snippets():
    """One template a line, except where a line opens something that goes on."""
    lines = SNIPPETS.split("\n")
    i = 0
    while i < len(lines):
        if lines[i].startswith("  {% if true %}"):
            yield "\n".join(lines[i:i + 6]) + "\n"
            i += 5
        elif lines[i].startswith("end {%+"):
            yield "\n".join(lines[i:i + 3]) + "\n"
            i += 3
            continue
        elif lines[i].endswith("\\"):
            yield lines[i] + "\n" + lines[i + 1]
            i += 2
            continue
        else:
            yield lines[i]
        i += 1


def templates(places):
    for place in map(pathlib.Path, places):
        if place.is_dir():
            for path in sorted(place.rglob("*.jinja")):
                yield path.name, path.read_text(encoding="utf-8")
        else:
            with tarfile.open(place) as archive:
                for member in archive:
                    if member.name.endswith(".jinja") and "templates" in member.name:
                        yield member.name.rsplit("/", 1)[-1], archive.extractfile(member).read().decode("utf-8")


def cases(places):
    for number, source in enumerate(snippets()):
        yield f"snippet {number}: {source[:60]!r}", {"template": source, "messages": [], "variables": VARIABLES}
    for name, source in templates(places):
        for number, messages in enumerate(CONVERSATIONS):
            for tools in [None, TOOLS]:
                for generation in [False, True]:
                    for variables in [{}, {"enable_thinking": False}] if number < 2 else [{}]:
                        yield f"{name} conversation {number}", {
                            "template": source, "messages": messages, "tools": tools, "variables": variables,
                            "add_generation_prompt": generation}


ENVIRONMENT = environment()


@functools.lru_cache(maxsize=None)
def compiled(source):
    return ENVIRONMENT.from_string(source)


def reference(request):
    try:
        text = compiled(request["template"]).render(
            messages=request["messages"], tools=request.get("tools"), documents=None, bos_token=request["bos_token"],
            eos_token=request["eos_token"], add_generation_prompt=request.get("add_generation_prompt", True),
            **request["variables"])
        return {"text": text}
    except Exception as error:  # any failure counts: ours must fail too
        return {"error": f"{type(error).__name__}: {error}"}


def write_golden(path):
    constructs = []
    for source in snippets():
        request = {"template": source, "messages": [], "variables": VARIABLES, "bos_token": "<s>", "eos_token": "</s>"}
        constructs.append({"template": source, "text": reference(request).get("text")})
    golden = {"made_by": f"jinja2 {jinja2.__version__}", "variables": VARIABLES, "constructs": constructs}
    pathlib.Path(path).write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main():
    if sys.argv[1] == "--golden":
        write_golden(sys.argv[2])
        return 0
    tool = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    count = different = errors = 0
    names = set()
    for name, request in cases(sys.argv[2:]):
        request.update(bos_token="<s>", eos_token="</s>", now=NOW)
        tool.stdin.write(json.dumps(request) + "\n")
        tool.stdin.flush()
        ours, theirs = json.loads(tool.stdout.readline()), reference(request)
        count += 1
        names.add(name.split(" conversation")[0])
        errors += "error" in theirs
        if ours.get("text") != theirs.get("text"):
            different += 1
            print(f"--- {name}\nours:      {ours.get('text', ours.get('error'))!r}\nreference: {theirs.get('text', theirs.get('error'))!r}")
    print(f"{count} renderings ({errors} of them refused by jinja2 {jinja2.__version__}), {different} different; "
          f"{sum(not n.startswith('snippet') for n in names)} templates")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
