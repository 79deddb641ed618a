# SPDX-License-Identifier: GPL-2.0-only
"""Reads tables in C and C++ as text: the rows of an initializer, and their names.

A row begins with its name, or says `.desc =` or `.name =` first. A row may be a macro, which may stand for
several rows, or a variable. The module ignores `#if`: a row that the preprocessor takes away is still in the
source. A table that cannot be read raises Unreadable, so that no row is lost.
"""
import re

TEXT = r'"(?:\\.|[^"\\\n])*"'
COMMENT = re.compile(rf"{TEXT}|'(?:\\.|[^'\\\n])*'|/\*.*?\*/|//[^\n]*", re.S)
PUNCTUATION = re.compile(rf"{TEXT}|'(?:\\.|[^'\\\n])*'|[{{}}()\[\],]")
# { "name", ...   { .desc = "name", ...   Type{ "name", ...   "name"
ROW = re.compile(rf"^(?:\w+\s*)?[{{\s]*(?:\.(?:desc|name)\s*=\s*)?((?:{TEXT}\s*)+)(?=[,}}]|$)")
CALL = re.compile(r"^(\w+)\s*(?:\((.*)\))?$", re.S)
ARRAY = re.compile(r"(\w+)\[[^\]]*\]\s*=\s*(?={)")
DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.M)
INCLUDE = re.compile(r'^#include "(.*?)"', re.M)


class Unreadable(Exception):
    """A table cannot be read; the text says why."""


def without_comments(text):
    return COMMENT.sub(lambda m: m[0] if m[0][0] in "\"'" else " ", text)


def inside(text, begin):
    """Returns the text between the bracket at @begin and the one that closes it."""
    depth = 0
    for match in PUNCTUATION.finditer(text, begin):
        depth += (match[0] in "{([") - (match[0] in "})]")
        if not depth:
            return text[begin + 1:match.start()]
    raise Unreadable(f"no end of '{text[begin:begin + 30]}'")


def elements(text):
    """Returns the parts of @text between its commas; commas in brackets do not count."""
    depth, begin, found = 0, 0, []
    for match in PUNCTUATION.finditer(text):
        depth += (match[0] in "{([") - (match[0] in "})]")
        if match[0] == "," and not depth:
            found.append(text[begin:match.start()].strip())
            begin = match.end()
    last = text[begin:].strip()
    return found + [last] * bool(last)


def literal(text):
    """Returns the value of adjacent string literals."""
    return re.sub(r"\\(.)", r"\1", "".join(t[1:-1] for t in re.findall(TEXT, text)))


class Tables:
    """The tables of some files: @texts is {path: text}."""

    def __init__(self, texts):
        self.texts = {path: without_comments(text) for path, text in texts.items()}
        self.arrays = {}
        for path, text in self.texts.items():
            for match in ARRAY.finditer(text):
                self.arrays.setdefault(match[1], {}).setdefault(path, []).append(match)

    def rows(self, name, path):
        """Returns the names of the rows of the array @name, as the file at @path sees it."""
        homes = self.arrays.get(name, {})
        home = path if path in homes else next(iter(homes), None)
        found = homes.get(path) or [m for matches in homes.values() for m in matches]
        return self.names(self._only(found, name, path), home)

    def names(self, text, path):
        """Returns the names of the rows in @text, which stands between the braces of a table."""
        text = DIRECTIVE.sub("", text)
        return [name for row in elements(text) if re.sub(r"\s", "", row) != "{}"
                for name in self._names_of(row, path)]

    def returned(self, function, path):
        """Returns the names of the rows of the table in a function that returns it."""
        body = self._found(rf"\b{function}\(\)\s*(?={{)", f"{function}()", path)
        table = re.search(r"=\s*(?={)", body)
        if not table:
            raise Unreadable(f"{function}() has no table")
        return self.names(inside(body, table.end()), path)

    def arrays_in(self, text):
        """Returns the names in @text that are arrays."""
        return [word for word in dict.fromkeys(re.findall(r"\w+", text)) if word in self.arrays]

    def _found(self, pattern, name, path):
        """Returns the text in braces behind @pattern: that of the file itself, or else of any other file."""
        own = list(re.finditer(pattern, self.texts[path]))
        return self._only(own or [m for text in self.texts.values()
                                  for m in re.finditer(pattern, text)], name, path)

    @staticmethod
    def _only(found, name, path):
        if len(found) != 1:
            raise Unreadable(f"{path}: {len(found)} tables {name}")
        return inside(found[0].string, found[0].end())

    def _names_of(self, row, path):
        if match := ROW.match(row):
            return [literal(match[1])]
        call = CALL.match(row)
        body = call and self._macro(call[1], call[2], path)
        if body:
            return self.names(body, path)
        if call and call[2] is None:
            text = self._found(rf"\b{row}\s*=\s*(?={{)", row, path)
            return self._names_of(f"{{{text}}}", path)
        raise Unreadable(f"{path}: a row without a name: {' '.join(row.split())[:60]}")

    def _macro(self, name, arguments, path):
        """Returns the expansion of NAME or NAME(arguments), or None."""
        macro = next(filter(None, (re.search(
            rf"^#\s*define {name}(?:\((.*?)\))?[ \t\\]((?:[^\n]*\\\n)*[^\n]*)", text, re.M)
            for text in self._seen(path))), None)
        if not macro:
            return None
        body = macro[2].replace("\\\n", " ")
        given = elements(arguments or "")
        for number, parameter in enumerate(elements(macro[1] or "")):
            value = given[number] if number < len(given) else ""
            if parameter == "...":
                parameter, value = "__VA_ARGS__", ", ".join(given[number:])
            body = re.sub(rf"\b{parameter}\b", lambda _, value=value: value, body)
        return body

    def _seen(self, path):
        """Returns the texts of the file and of the files beside it that it includes."""
        todo, seen = [path], []
        while todo:
            path = todo.pop(0)
            if path in self.texts and path not in seen:
                seen.append(path)
                folder = path.rpartition("/")[0]
                todo += [f"{folder}/{name}" for name in INCLUDE.findall(self.texts[path])]
        return [self.texts[path] for path in seen]
