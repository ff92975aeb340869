"""KGTK's values and RDF's literals: each written as the other, so that a value stays a value.

Strings, texts with a language, plain numbers, booleans, dates without a precision and points have a literal of their
own in RDF. KGTK's other values (a date with its precision, a number with a unit or a tolerance) keep their text under a
data type of ours, and RDF's other literals are kept whole in a KGTK string: all come back as they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from actc.graphs.terms import LITERAL, XSD

WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
OWN = "urn:actc:kgtk-"
SIGILS = frozenset("\"'^@!+-.0123456789")  # what KGTK's values begin with; any other first character makes a name
ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\\": "\\\\", '"': '\\"'}
CONTROL = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}

_TEXT = r"(?:[^{0}\\]|\\.)*"
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_UNIT = rf"(?:\[{_NUMBER},{_NUMBER}\])?(?:Q[1-9][0-9]*|[a-zA-Z][-a-zA-Z0-9./]*)?"
_DAY = r"[-+]?[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_TIME = r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[-+][0-9]{2}:[0-9]{2})?"
_DEGREES = r"-?[0-9]+(?:\.[0-9]+)?"
KINDS = {
    "string": re.compile('"' + _TEXT.format('"') + '"'),
    "language": re.compile("'" + _TEXT.format("'") + r"'@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)"),
    "number": re.compile(_NUMBER + _UNIT),
    "date": re.compile(rf"\^[-+]?[0-9]{{4,}}(?:-[0-9]{{2}})?(?:-[0-9]{{2}})?(?:{_TIME})?(?:/[0-9]{{1,2}})?"),
    "place": re.compile(rf"@{_NUMBER}/{_NUMBER}"),
    "boolean": re.compile("True|False"),
}
"""How KGTK writes each kind of value."""
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@(.+)|\^\^<(.+)>)?', re.DOTALL)
_TYPED = re.compile(LITERAL + r"(?<=>)")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_POINT = re.compile(f"Point\\(({_DEGREES}) ({_DEGREES})\\)")
_TO_MARK = re.compile(r"(?=[\"'^@!+\-.0-9])|(?=%(?:25)*(?:22|27|5E|40|21|2[BDE]|3[0-9]|54|46))|(?=(?:True|False)$)")
_MARKED = re.compile(r"%(25(?=(?:25)*(?:22|27|5E|40|21|2[BDE]|3[0-9]|54|46))|22|27|5E|40|21|2[BDE]|3[0-9]|54|46)")


def kind_of(text: str) -> str | None:
    """Return which kind of KGTK value a cell is; None for a name."""
    if text[0] not in SIGILS and text not in ("True", "False"):
        return None
    return next((kind for kind, pattern in KINDS.items() if pattern.fullmatch(text)), None)


def to_literal(value: str) -> str:
    """Return a KGTK value as an RDF literal, written as in N-Triples."""
    kind = kind_of(value)
    assert kind is not None
    return _READ[kind](value)


def to_value(literal: str) -> str:
    """Return an RDF literal as a KGTK value."""
    found = _LITERAL.fullmatch(literal)
    assert found is not None
    text, language, datatype = _decode(found[1]), found[2], found[3]
    if language is not None:
        return f"'{_encode(text)}'@{language}"
    if datatype is None:
        # Text that itself looks like a literal with a data type would be taken for one kept whole.
        return _in_quotes(f'"{found[1]}"^^<{XSD}string>' if _TYPED.fullmatch(text) else text)
    value = _as_value(text, datatype)
    return value if value is not None and to_literal(value) == literal else _in_quotes(literal)


def _as_value(text: str, datatype: str) -> str | None:
    """Return the KGTK value that a typed literal might be; None where there is none."""
    point = _POINT.fullmatch(text) if datatype == WKT else None
    if point:
        return f"@{point[2]}/{point[1]}"
    if datatype in (f"{XSD}date", f"{XSD}dateTime"):
        return f"^{text}" if KINDS["date"].fullmatch(f"^{text}") else None
    guess = text.capitalize() if datatype == f"{XSD}boolean" else text
    return guess if guess and kind_of(guess) in ("number", "boolean", "date", "place") else None


def _read_string(value: str) -> str:
    text = _decode(value[1:-1])
    if not _TYPED.fullmatch(text):
        return f'"{_quote(text)}"'
    return text.removesuffix(f"^^<{XSD}string>")


def _read_language(value: str) -> str:
    text, _, language = value.rpartition("'@")
    return f'"{_quote(_decode(text[1:]))}"@{language}'


def _read_number(value: str) -> str:
    if not re.fullmatch(_NUMBER, value):
        return _own(value, "quantity")
    kind = "double" if "e" in value.lower() else "decimal" if "." in value else "integer"
    return f'"{value}"^^<{XSD}{kind}>'


def _read_date(value: str) -> str:
    for kind, pattern in (("date", _DAY), ("dateTime", _DAY + _TIME)):
        if re.fullmatch(pattern, value[1:]):
            return f'"{value[1:]}"^^<{XSD}{kind}>'
    return _own(value, "date")


def _read_place(value: str) -> str:
    latitude, longitude = value[1:].split("/")
    if not re.fullmatch(_DEGREES, latitude) or not re.fullmatch(_DEGREES, longitude):
        return _own(value, "place")
    return f'"Point({longitude} {latitude})"^^<{WKT}>'


def _read_boolean(value: str) -> str:
    return f'"{value.lower()}"^^<{XSD}boolean>'


_READ: dict[str, Callable[[str], str]] = {
    "string": _read_string,
    "language": _read_language,
    "number": _read_number,
    "date": _read_date,
    "place": _read_place,
    "boolean": _read_boolean,
}


def to_symbol(name: str, kept: Container[str | None]) -> str:
    """Return a name so that KGTK takes it for one: what it would take for a value begins with an escape.

    Parameters
    ----------
    name : str
    kept : container of str
        Kinds of values that the file uses as names, such as numbers for ids; these stay as they are.
    """
    if _TO_MARK.match(name) and (name[0] == "%" or kind_of(name) not in kept):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return name.replace("|", "\\|")


def to_name(symbol: str) -> str:
    """Undo :func:`to_symbol`."""
    found = _MARKED.match(symbol)
    start = "" if found is None else chr(int(found[1], 16)) + symbol[found.end() :]
    return (start or symbol).replace("\\|", "|")


def _own(value: str, kind: str) -> str:
    return f'"{_quote(value)}"^^<{OWN}{kind}>'


def _in_quotes(text: str) -> str:
    return f'"{_encode(text)}"'


def _quote(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)


def _encode(text: str) -> str:
    return _quote(text).replace("'", "\\'").replace("|", "\\|")


def _decode(text: str) -> str:
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else CONTROL.get(code, code)
