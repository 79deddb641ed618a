# SPDX-License-Identifier: GPL-2.0-only
"""Splits C and C++ into tokens, and finds the bodies of functions, pairs of brackets, and the beginnings of
statements. There is no grammar here, only as much as the users of this module and the style of this tree need:
operators stand between spaces, templates do not.
"""
import re
import typing

TOKEN = re.compile(r"""
    (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<space>[ \t\r\f\v]+|\n|\\\n)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\d(?:[\w.]|'(?=\w))*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<=>|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|.)
""", re.X | re.S | re.M)
OPEN, CLOSE = "([{", ")]}"
CONTROL = {"if", "for", "while", "switch"}
KEYWORDS = CONTROL | {"return", "goto", "break", "continue", "do", "else", "case", "default"}
LOOP_MACRO = re.compile(r"for_each")
# Between the parameters of a function and its body
BEHIND = {"const", "noexcept", "override", "final"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


class Token(typing.NamedTuple):
    """A token. @at: its place in the text."""
    kind: str
    text: str
    at: int

    @property
    def end(self):
        return self.at + len(self.text)


class Function(typing.NamedTuple):
    """A function with a body. @first, @last: the indices of its name and of the brace that ends it; @line and
    @end: their lines."""
    name: str
    first: int
    last: int
    line: int
    end: int

    @property
    def length(self):
        return self.end - self.line + 1


class Source:
    """The code of a file: tokens without spaces, comments and directives. Each token has @pair, the bracket
    that belongs to a bracket; @inside, the index of the bracket that it is in, or None; @function, the name of
    the function in whose body it is, or None. @blocks: the braces that hold statements."""

    def __init__(self, text):
        self.text = text
        tokens = [Token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(text)]
        self.code = [t for t in tokens if t.kind in ("text", "number", "word", "sign")]
        self.pair, self.inside, self.function = {}, [], []
        self.blocks = set()
        self._match()

    def line(self, index):
        return self.text.count("\n", 0, self.code[index].at) + 1

    def is_at(self, index, *texts):
        return 0 <= index < len(self.code) and self.code[index].text in texts

    def is_word(self, index):
        return 0 <= index < len(self.code) and self.code[index].kind == "word"

    def spaced(self, index):
        """Says whether spaces surround the token, as they do with a binary operator."""
        token = self.code[index]
        return self.text[token.at - 1] in " \t\n" and self.text[token.end] in " \t\n"

    def _match(self):
        stack, body, name = [], None, None
        for index, token in enumerate(self.code):
            sign = token.text if token.kind == "sign" else ""
            if sign and sign in CLOSE and stack:
                self.pair[index] = opened = stack.pop()
                self.pair[opened] = index
                if opened == body:
                    body = name = None
            self.inside.append(stack[-1] if stack else None)
            self.function.append(name)
            if sign and sign in OPEN:
                if sign == "{":
                    if body is None and (called := self._header(index)) is not None:
                        body, name = index, self.code[called].text
                        self.blocks.add(index)
                    elif body is not None and self._holds_statements(index):
                        self.blocks.add(index)
                stack.append(index)

    def _header(self, brace):
        """Returns the index of the name of the function whose body @brace opens, or None."""
        index, found = brace - 1, None
        while self.is_at(index, *BEHIND):
            index -= 1
        # __must_hold(x) and the like are between the parameters and the body.
        while self.is_at(index, ")") and self.is_word(self.pair[index] - 1):
            found = self.pair[index] - 1
            index = found - 1
            if not self.code[found].text.startswith("__"):
                break
        return found

    def functions(self):
        """Yields the functions that have a body, as Functions, in their order."""
        for brace in sorted(self.blocks):
            if self.function[brace] is None and brace in self.pair:
                first, last = self._header(brace), self.pair[brace]
                yield Function(self.code[first].text, first, last, self.line(first),
                               self.line(last))

    def words(self, function):
        """Returns the words in the body of a Function."""
        return {token.text for token in self.code[function.first + 1:function.last]
                if token.kind == "word"}

    def calls(self, function):
        """Returns the words before "(" in the body of a Function."""
        return {self.code[index].text for index in range(function.first + 1, function.last)
                if self.is_word(index) and self.is_at(index + 1, "(")}

    def _holds_statements(self, brace):
        if self.is_at(brace - 1, ";", "{", "}", "else", "do"):
            return not self.is_at(brace - 1, "{", "}") or self.inside[brace] in self.blocks
        if self.is_at(brace - 1, ":"):
            return self.inside[brace] in self.blocks
        if not self.is_at(brace - 1, ")"):
            return False
        before = self.pair[brace - 1] - 1
        if self.is_at(before, "]"):
            return True
        return self.is_word(before) and not self.is_at(before, "return", "sizeof")

    def starts_statement(self, index):
        """Says whether a statement begins at @index. A label is no statement, but one follows it."""
        if self.inside[index] not in self.blocks or self.is_at(index, "{", "}", ";"):
            return False
        before = index - 1
        if self.is_at(before, ";", "{", "}"):
            return not self.is_at(before, "}") or self.pair[before] in self.blocks
        if self.is_at(before, "else", "do"):
            return True
        if self.is_at(before, ")"):
            return self._controls(self.pair[before] - 1)
        return self.is_at(before, ":") and self._ends_label(before)

    def _controls(self, index):
        return self.is_word(index) and (self.code[index].text in CONTROL or
                                        self.is_at(index, "constexpr") or
                                        bool(LOOP_MACRO.search(self.code[index].text)))

    def _ends_label(self, colon):
        index = colon - 1
        while index > 0 and not self.is_at(index, ";", "{", "}", ":", "?"):
            if self.is_at(index, "case", "default"):
                return True
            index -= 1
        return index == colon - 2 and self.is_word(colon - 1) and not self.is_at(index, "?")

    def end_of(self, start):
        """Returns the semicolon that ends the statement at @start, or None if this is a loop or a block."""
        index = start
        while not self.is_at(index, ";", *CLOSE):
            if self.is_at(index, "{") and index in self.blocks and self._controls_block(index):
                return None
            index = self.pair[index] + 1 if self.is_at(index, *OPEN) else index + 1
        return index if self.is_at(index, ";") else None

    def _controls_block(self, brace):
        return self.is_at(brace - 1, ")") and self._controls(self.pair[brace - 1] - 1)

    def head(self, start):
        """Returns the indices before the first assignment, call or initializer, as a range."""
        index = start
        while index < len(self.code) and \
                not self.is_at(index, "(", "{", ";", "++", "--", *ASSIGN):
            index = self.pair[index] + 1 if self.is_at(index, "[") else index + 1
        return range(start, index)

    def is_declaration(self, start):
        if self.is_at(start, *KEYWORDS):
            return False
        head = self.head(start)
        for index in head[1:]:
            if self.is_word(index) and (self.is_word(index - 1) or (
                    self.is_at(index - 1, "*", "&", ">") and index - 1 > start)):
                return True
        return False

    def between(self, opened):
        """Returns the indices between a bracket and its pair."""
        return range(opened + 1, self.pair[opened])

    def top_level(self, opened):
        """Returns the indices between a bracket and its pair that are in no further bracket."""
        return [i for i in self.between(opened) if self.inside[i] == opened]
