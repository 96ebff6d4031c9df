"""Makes Python types of the app-server protocol from its JSON Schema.

    trace schema --json schema.json          # or docs/protocol/schema.stable.json
    python generate.py schema.json > trace_protocol.py

Objects become `TypedDict`s, so messages stay plain dictionaries: `json.loads` gives them, `json.dumps` takes them, and a type
checker knows their members. Needs Python 3.11 and nothing else.
"""

import json
import keyword
import sys
from pathlib import Path
from typing import Any

HEADER = '''"""Types of the app-server protocol. Made by `generate.py` from the JSON Schema of `trace schema`. Changes here are lost."""

from typing import Any, Literal, NotRequired, TypedDict, Union
'''

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}


class Generator:
    """Collects the definitions of a schema as Python source."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.done: dict[str, str] = {}
        self.order: list[str] = []

    def source(self) -> str:
        for name in self.definitions:
            self.define(name)
        names = ", ".join(f'"{name}"' for name in sorted(self.definitions))
        exported = f"\n__all__ = [{names}]  # noqa\n"
        return HEADER + "".join(f"\n{self.done[name]}\n" for name in self.order) + exported

    def define(self, name: str) -> None:
        """Adds a definition, behind those that it inherits from."""
        if name in self.done:
            return
        self.done[name] = ""
        self.done[name] = self.definition(name, self.definitions[name])
        self.order.append(name)

    def definition(self, name: str, schema: dict[str, Any]) -> str:
        variants = [part for key in ("oneOf", "anyOf") for part in schema.get(key, [])]
        if len(variants) == 1 and not schema.get("properties"):
            return self.definition(name, {"description": schema.get("description", ""), **variants[0]})
        if self.is_class(schema) or schema.get("properties"):
            return self.a_class(name, merged(schema))
        text = schema.get("description", "")
        return f"{name} = {self.expression(schema, name)}" + (f"\n{docstring(text, '')}" if text else "")

    def is_class(self, schema: Any) -> bool:
        if not isinstance(schema, dict) or "oneOf" in schema or "anyOf" in schema:
            return False
        bases = [target(part) for part in schema.get("allOf", []) if "$ref" in part]
        return bool(schema.get("properties")) or any(self.is_class(self.definitions[base]) for base in bases)

    def a_class(self, name: str, schema: dict[str, Any]) -> str:
        bases = [target(part) for part in schema.get("allOf", []) if "$ref" in part]
        bases = [base for base in bases if self.is_class(self.definitions[base])]
        for base in bases:
            self.define(base)
        inherited = {member for base in bases for member in self.members(base)}
        required = set(schema.get("required", []))
        members = []
        for member, of in schema.get("properties", {}).items():
            if member in inherited:
                continue
            annotation = self.expression(of, name + capitalized(member))
            annotation = annotation if member in required else f"NotRequired[{annotation}]"
            members.append((member, annotation, of.get("description", "") if isinstance(of, dict) else ""))
        text = schema.get("description", "")
        if any(not member.isidentifier() or keyword.iskeyword(member) for member, *_ in members):
            fields = ", ".join(f'"{member}": {quoted(annotation)}' for member, annotation, _ in members)
            return f'{name} = TypedDict("{name}", {{{fields}}})'
        lines = [f"class {name}({', '.join(bases) or 'TypedDict'}):"]
        lines += [docstring(text, "    ")] if text else []
        for member, annotation, about in members:
            lines.append(f"    {member}: {quoted(annotation)}")
            lines += [docstring(about, "    ")] if about else []
        if len(lines) == 1:
            lines.append("    pass")
        return "\n".join(lines)

    def members(self, name: str) -> set[str]:
        schema = self.definitions[name]
        own = set(schema.get("properties", {}))
        return own.union(*(self.members(target(part)) for part in schema.get("allOf", []) if "$ref" in part))

    def expression(self, schema: Any, name: str) -> str:
        """Returns the type of a schema. `name` is what a class that has to be made for it is called."""
        if not isinstance(schema, dict) or not schema:
            return "Any"
        if "$ref" in schema:
            return f'"{target(schema)}"'
        if len(schema.get("allOf", [])) == 1 and not schema.get("properties"):
            return self.expression(schema["allOf"][0], name)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
        for key in ("oneOf", "anyOf"):
            if key in schema and not schema.get("properties"):
                parts = [self.expression(part, self.variant(name, number, part)) for number, part in enumerate(schema[key], 1)]
                return union(parts)
        if self.is_class(schema) or schema.get("properties"):
            return self.inner(name, schema)
        kind = schema.get("type")
        if isinstance(kind, list):
            return union([self.expression({**schema, "type": part}, name) for part in kind])
        if kind == "array":
            return f"list[{self.expression(schema.get('items'), name + 'Item')}]"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"dict[str, {self.expression(schema['additionalProperties'], name + 'Value')}]"
        return SCALARS.get(kind or "", "Any")

    def inner(self, name: str, schema: dict[str, Any]) -> str:
        """Adds a class for a schema without a name of its own."""
        while name in self.definitions or name in self.done:
            name += "_"
        self.done[name] = ""
        self.done[name] = self.a_class(name, merged(schema))
        self.order.append(name)
        return f'"{name}"'

    @staticmethod
    def variant(name: str, number: int, schema: Any) -> str:
        properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
        tags = [of["const"] for of in properties.values() if isinstance(of, dict) and isinstance(of.get("const"), str)]
        tag = tags[0] if len(tags) == 1 else schema.get("title", "") if isinstance(schema, dict) else ""
        return name + (capitalized(tag) or str(number))


def merged(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns an object with the members of its variants, which are optional then."""
    variants = [part for key in ("oneOf", "anyOf") for part in schema.get(key, [])]
    members = {member: of for part in variants for member, of in part.get("properties", {}).items()}
    rest = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf")}
    return {**rest, "properties": {**members, **schema.get("properties", {})}}


def target(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[1]


def capitalized(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text).split()
    return "".join(word[0].upper() + word[1:] for word in words)


def union(parts: list[str]) -> str:
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"


def quoted(annotation: str) -> str:
    """Makes an annotation one string, so that it may name types that come later."""
    return "'" + annotation.replace("'", '\\"').replace('"', "") + "'" if '"' in annotation and "'" not in annotation else annotation


def docstring(text: str, indent: str) -> str:
    return f'{indent}"""{text.replace(chr(92), chr(92) * 2).replace(chr(34) * 3, chr(39) * 3)}"""'


def main() -> None:
    schema = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write(Generator(schema["definitions"]).source())


if __name__ == "__main__":
    main()
