# SPDX-License-Identifier: GPL-2.0-only
"""What can be changed in a source: sites, and at each of them one or more changes."""
import difflib
import random
import re
import typing

from source import ASSIGN, LOOP_MACRO, Source

RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
             "==": ["!="], "!=": ["=="]}
LOGIC = {"&&": ["||"], "||": ["&&"]}
# A step, a bit, a quantity
ARITHMETIC = {"+": ["-"], "-": ["+"], "++": ["--"], "--": ["++"], "+=": ["-=", "="],
              "-=": ["+=", "="], "|": ["&"], "&": ["|"], "|=": ["&=", "="], "&=": ["|=", "="],
              "<<": [">>"], ">>": ["<<"]}
EXTREMES = {"min": ["max"], "max": ["min"], "min_t": ["max_t"], "max_t": ["min_t"]}
BOTH_SIDES = {"<", ">", "+", "-", "&", "|", "<<", ">>"}
NUMBER = re.compile(r"(\d+)([uUlL]*)$")
JUMPS = {"return", "goto", "break", "continue"}
# Words that begin a statement which is not dropped by itself
WHOLE = {"if", "for", "while", "switch", "do", "else", "case", "default", "using", "typedef",
         "static", "const", "constexpr", "struct", "union", "enum", "auto", "template"}
# For a person, a checker or a processor. Without them the code does the same, or what they are
# about can not happen.
QUIET = re.compile(r"^(trace_|pr_|WARN|lockdep_|might_sleep|cond_resched|cpu_relax|BUILD_BUG|"
                   r"static_assert|smp_|barrier$|kasan_|kmsan_|sizeof$|alignof$|__must|MODULE_)")


class Mutant(typing.NamedTuple):
    """A change: @text replaces the code from @start to @end."""
    path: str
    line: int
    function: str
    kind: str
    start: int
    end: int
    text: str

    def applied(self, source):
        return source[:self.start] + self.text + source[self.end:]

    def describe(self, source):
        old, new = (" ".join(t.split()) for t in (source[self.start:self.end], self.text))
        if len(old) > 40:
            old = old[:37] + "..."
        return f"{self.kind}: '{old}' to '{new}'" if new not in ("", ";") else \
            f"{self.kind}: '{old}' left out"

    def diff(self, source):
        changed = self.applied(source)
        return "".join(difflib.unified_diff(
            source.splitlines(True), changed.splitlines(True), f"a/{self.path}", f"b/{self.path}"))


class _Finder:
    """Finds the sites of one file."""

    def __init__(self, path, text):
        self.path, self.source = path, Source(text)
        self.text = text
        self.sites = []
        self.left_alone = set()

    def find(self):
        source = self.source
        inside = [i for i, name in enumerate(source.function) if name]
        for index in inside:
            self._leave_quiet(index)
        for index in inside:
            if index in self.left_alone:
                continue
            if source.starts_statement(index):
                self._statement(index)
            token = source.code[index]
            if token.kind == "number":
                self._number(index)
            elif token.kind == "word":
                self._word(index)
            elif token.kind == "sign":
                self._sign(index)
        return self.sites

    def _leave_quiet(self, index):
        source = self.source
        if end := self._quiet_call(index):
            self.left_alone.update(range(index, end + 1))
        elif source.is_at(index, "if") and source.is_at(index + 1, "("):
            # Whether a person is told
            body = source.pair[index + 1] + 1
            end = self._quiet_call(body)
            if end and source.is_at(end + 1, ";") and not source.is_at(end + 2, "else"):
                self.left_alone.update(range(index, body))
        elif source.starts_statement(index) and source.is_declaration(index):
            # How many elements an array has, and what type it is of
            self.left_alone.update(source.head(index))

    def _quiet_call(self, index):
        """Returns the end of a call that is left alone, or None if @index is no such call."""
        source = self.source
        if source.is_word(index) and QUIET.search(source.code[index].text) and \
                source.is_at(index + 1, "("):
            return source.pair[index + 1]
        return None

    def _site(self, kind, first, last, *texts):
        """Adds a site: the tokens from @first to @last may become each of @texts."""
        source = self.source
        start, end = source.code[first].at, source.code[last].end
        lines = "\n" * self.text.count("\n", start, end)
        self.sites.append([
            Mutant(self.path, source.line(first), source.function[first], kind, start, end,
                   text if text.count("\n") else text + lines) for text in texts])

    def _statement(self, start):
        source = self.source
        word = source.code[start].text
        if word in WHOLE or source.is_at(start + 1, ":"):
            return
        end = source.end_of(start)
        if end is None or LOOP_MACRO.search(word):
            return
        if word in JUMPS:
            # The last one of a function: what comes then is undefined.
            closes = source.is_at(end + 1, "}") and \
                source.inside[source.pair[end + 1]] not in source.blocks
            if not closes:
                self._site("jump", start, end, ";")
        elif not source.is_declaration(start) and any(
                source.is_at(i, "(", "++", "--", *ASSIGN) for i in range(start, end)):
            self._site("statement", start, end, ";")

    def _number(self, index):
        token = self.source.code[index]
        match = NUMBER.match(token.text)
        if match:
            value = int(match[1])
            self._site("boundary", index, index,
                       *[f"{v}{match[2]}" for v in (value + 1, value - 1) if v >= 0])

    def _word(self, index):
        source, word = self.source, self.source.code[index].text
        opened = index + 1
        if source.is_at(index, "if") and source.is_at(opened, "constexpr"):
            return
        if word in EXTREMES and source.is_at(opened, "("):
            self._site("boundary", index, index, *EXTREMES[word])
        elif word in ("if", "while") and source.is_at(opened, "("):
            self._condition(word, opened)

    def _condition(self, word, opened):
        source = self.source
        inner = source.between(opened)
        if not inner or any(i in self.left_alone for i in inner) or \
                any(source.is_at(i, ";") for i in inner):
            return
        first, last = opened + 1, source.pair[opened] - 1
        texts = ["false"] if word == "while" else ["true", "false"]
        relations = [i for i in source.top_level(opened) if source.is_at(i, "&&", "||")]
        if relations or not (source.is_at(first, "!") or
                             any(source.is_at(i, *RELATIONS) for i in source.top_level(opened))):
            texts.append(f"!({self.text[source.code[first].at:source.code[last].end]})")
        self._site("condition", first, last, *texts)

    def _sign(self, index):
        source, sign = self.source, self.source.code[index].text
        if sign in BOTH_SIDES and not source.spaced(index):
            return
        if sign in RELATIONS:
            self._site("relation", index, index, *RELATIONS[sign])
        elif sign in LOGIC:
            self._site("logic", index, index, *LOGIC[sign])
        elif sign in ARITHMETIC:
            self._site("arithmetic", index, index, *ARITHMETIC[sign])
        elif sign == "!":
            self._site("negation", index, index, " ")
        elif sign == "?":
            self._site("choice", index, index, "&& false ?", "|| true ?")


def find(path, text):
    """Returns the sites of a file, each a list of mutants."""
    return _Finder(path, text).find()


def shuffled(texts, seed):
    """Returns one mutant for each site of @texts, {path: text}, in the order of @seed."""
    chance = random.Random(seed)
    sites = [site for path in sorted(texts) for site in find(path, texts[path])]
    chance.shuffle(sites)
    return [chance.choice(site) for site in sites]
