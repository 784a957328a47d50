# SPDX-License-Identifier: Apache-2.0
"""What the server answers, read strictly: each member has its type, and is there unless it is optional.

Members that are not named here are passed over, since later releases may add some. A secret is not in
the repr of what has it. Times are in seconds since 1970.
"""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, TypeVar

from .calls import unusable
from .encoding import hex_decode

_Answer = TypeVar("_Answer")


def _secret() -> Any:
    return field(repr=False)


def _named(name: str) -> Any:
    return field(metadata={"name": name})


@dataclass(frozen=True)
class Activation:
    """An activation code, for the user to type on the device."""

    account: str
    application: str
    code: str = _secret()
    expires: int


@dataclass(frozen=True)
class Registration:
    """A device's key for an account. `device_name` is the device's own, unverified claim."""

    registration: Id
    account: str
    device: Id
    status: str
    flags: Texts
    failures: int
    created: int
    reason: Optional[str]
    credential: Optional[Id]
    fingerprint: Optional[str]
    device_name: Optional[str]
    key: Optional[str]
    secure_boot: Optional[str]
    attested: Optional[Texts]
    factors: Optional[Texts]
    last_used: Optional[int]


@dataclass(frozen=True)
class Operation:
    """What a user is asked to approve; `text` is what the device shows."""

    operation: Id
    account: str
    template: str
    purpose: str
    text: str = _named("data")
    status: str
    created: int
    expires: int
    decided: Optional[int]
    confirmed: Optional[int]
    device: Optional[Id]
    registration: Optional[Id]
    device_name: Optional[str]
    factor: Optional[str]


@dataclass(frozen=True)
class PendingLogin:
    """A login that awaits its approval. `session` is the secret of the browser's session."""

    operation: Id
    session: str = _secret()
    text: str = _named("data")
    expires: int


@dataclass(frozen=True)
class Tokens:
    """`expires_in` is how many seconds the access token is valid from now on."""

    access_token: str = _secret()
    refresh_token: str = _secret()
    expires_in: int


@dataclass(frozen=True)
class Login:
    """A login that was confirmed."""

    account: str
    application: str
    registration: Id
    factor: str
    roles: Texts
    flags: Texts
    tokens: Tokens


@dataclass(frozen=True)
class TokenState:
    """What an access token that is valid now says, with the present roles and flags."""

    account: str = _named("sub")
    application: str
    audience: str = _named("aud")
    registration: Id = _named("reg")
    session: Id = _named("sid")
    methods: Texts = _named("amr")
    roles: Texts
    flags: Texts
    issued: int = _named("iat")
    expires: int = _named("exp")


@dataclass(frozen=True)
class Authentication:
    """Who sent a request, as the server has verified."""

    account: str
    application: str
    registration: Id
    device: Id
    factor: str
    roles: Texts
    flags: Texts


def read(kind: Type[_Answer], json: Any) -> _Answer:
    """An answer of a kind; raises `CallFailure` (`unusable-answer`) if it is none."""
    if not isinstance(json, dict):
        raise unusable("not an object")
    values: Dict[str, Any] = {}
    for each in dataclasses.fields(kind):  # type: ignore[arg-type]
        name = each.metadata.get("name") or _camel(each.name)
        type_name = str(each.type)
        if type_name.startswith("Optional["):
            type_name = type_name[9:-1]
            if name not in json:
                values[each.name] = None
                continue
        values[each.name] = _READERS[type_name](json.get(name), name)
    return kind(**values)


def read_list(kind: Type[_Answer], json: Any, name: str) -> List[_Answer]:
    """The answers in the member of this name."""
    entries = json.get(name) if isinstance(json, dict) else None
    if not isinstance(entries, list):
        raise unusable(f"'{name}' is missing or not a list")
    return [read(kind, entry) for entry in entries]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise unusable(f"'{name}' is missing or not a string")
    return value


def _id(value: Any, name: str) -> str:
    if hex_decode(_text(value, name).encode("utf-8", "replace"), 16) is None:
        raise unusable(f"'{name}' is not 32 hexadecimal digits")
    return str(value)


def _integer(value: Any, name: str) -> int:
    # To Python, True is an integer.
    if type(value) is not int or not 0 <= value < 2**53:
        raise unusable(f"'{name}' is missing or not an integer")
    return value


def _texts(value: Any, name: str) -> Tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise unusable(f"'{name}' is missing or not a list of strings")
    return tuple(value)


Id = str
Texts = Tuple[str, ...]

_READERS: Dict[str, Callable[[Any, str], Any]] = {
    "str": _text, "Id": _id, "int": _integer, "Texts": _texts,
    "Tokens": lambda value, name: read(Tokens, value),
}
