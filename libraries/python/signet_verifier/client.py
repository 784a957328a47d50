# SPDX-License-Identifier: Apache-2.0
"""The calls that a back end makes to signet-server with its API key.

docs/developer/SERVER-INTEGRATE.md says what each does, and libraries/README.md which of them can be repeated.
"""
from __future__ import annotations

import hashlib
import re
from typing import Any, Dict, List, Mapping, Optional, Union

from .answers import Activation, Authentication, Login, Operation, PendingLogin, Registration, Tokens
from .answers import TokenState, read, read_list
from .calls import CallFailure, Connector, escape, is_code, unusable
from .encoding import base64url_encode
from .requests import Header, encoded, only


class SignetClient:
    """Calls one server for one application. Safe for threads. All calls raise `CallFailure`.

    `url` is the server's (`server.url`), `api_key` an API key with the scopes of what is called.
    `authority` is the file of a certificate authority, if it is not one that this machine trusts. A call
    ends when the server has been silent for `timeout` seconds, and at ten times that; an answer has at
    most `longest_answer` bytes. Each call is one request on a connection of its own, which is sent once.
    """

    def __init__(
        self, url: str, api_key: str, *, authority: Optional[str] = None, timeout: float = 60,
        longest_answer: int = 4_194_304,
    ) -> None:
        self._connector = Connector(url, api_key, timeout, longest_answer, authority)

    # Devices.

    def activate(self, account: str, expires_in: Optional[int] = None) -> Activation:
        """A new activation code for an account, whose earlier one ends. Scope: registrations."""
        body = _given(account=account, expiresIn=expires_in)
        return _about(account, read(Activation, self.call("POST", "activations", body=body, success=201)))

    def registrations(self, account: str) -> List[Registration]:
        """All registrations of an account, the oldest first. Scope: registrations."""
        answer = self.call("GET", "accounts", account, "registrations")
        return [_about(account, one) for one in read_list(Registration, answer, "registrations")]

    def registration(self, registration: str) -> Registration:
        """The state of a registration. Scope: registrations."""
        return self._registration(registration)

    def commit(self, registration: str, fingerprint: str) -> Registration:
        """Confirms that a person has compared the key's fingerprint. Scope: registrations."""
        return self._registration(registration, "commit", {"fingerprint": fingerprint})

    def block(self, registration: str) -> Registration:
        """Blocks an ACTIVE registration, until it is unblocked. Scope: registrations."""
        return self._registration(registration, "block")

    def unblock(self, registration: str) -> Registration:
        """Makes a BLOCKED registration ACTIVE. Scope: registrations."""
        return self._registration(registration, "unblock")

    def remove(self, registration: str) -> Registration:
        """Removes a registration for ever. Scope: registrations."""
        return self._registration(registration, "remove")

    # Logins that are approved on a device.

    def begin_login(
        self, account: str, template: str, data: Mapping[str, str], *,
        visitor: Optional[str] = None, device: Optional[str] = None,
        expires_in: Optional[int] = None, additional: Optional[Mapping[str, str]] = None,
    ) -> PendingLogin:
        """Asks the account's devices to approve a login. Scope: logins.

        `visitor` is the browser's address where anyone can type any name: the answer does not show then
        whether the account exists. Keep `session` in the session of the browser that asks, on the side of
        the server, and nowhere else.
        """
        return read(PendingLogin, self.call("POST", "login", "init", success=201, body=_given(
            account=account, template=template, data=dict(data), visitor=visitor, device=device,
            expiresIn=expires_in, additional=additional and dict(additional))))

    def confirm_login(self, operation: str, session: str) -> Login:
        """The tokens of an APPROVED login, once, for the session that began it. Scope: logins."""
        return read(Login, self.call(
            "POST", "login", "confirm", body={"operation": operation, "session": session}))

    # Operations. A login is one as well.

    def create_operation(
        self, account: str, template: str, data: Mapping[str, str], *,
        device: Optional[str] = None, expires_in: Optional[int] = None,
        additional: Optional[Mapping[str, str]] = None,
    ) -> Operation:
        """Asks the account's devices to approve something. Scope: operations."""
        return _about(account, read(Operation, self.call("POST", "operations", success=201, body=_given(
            account=account, template=template, data=dict(data), device=device,
            expiresIn=expires_in, additional=additional and dict(additional)))))

    def operation(self, operation: str) -> Operation:
        """The state of an operation. Scope: operations, or for logins: logins."""
        return self._operation(operation)

    def cancel(self, operation: str) -> Operation:
        """Cancels a PENDING operation. Scope: operations, or for logins: logins."""
        return self._operation(operation, "cancel")

    def operations(self, account: str) -> List[Operation]:
        """The 50 newest operations and logins of an account, newest first. Scope: operations."""
        answer = self.call("GET", "accounts", account, "operations")
        return [_about(account, one) for one in read_list(Operation, answer, "operations")]

    # Tokens and requests.

    def introspect(self, access_token: str) -> Optional[TokenState]:
        """What a token of this application says; None if it is not valid now. Scope: verify."""
        answer = self.call("POST", "token", "introspect", body={"token": access_token})
        is_active = answer.get("active") if isinstance(answer, dict) else None
        if is_active is not True and is_active is not False:
            raise unusable("'active' is missing or neither true nor false")
        return read(TokenState, answer) if is_active else None

    def refresh(self, refresh_token: str) -> Tokens:
        """The next pair of tokens. Never repeat this: a token that is sent twice ends the session."""
        return read(Tokens, self.call("POST", "token", "refresh", body={"refreshToken": refresh_token}))

    def revoke(self, token: str) -> None:
        """Ends the session of a token of either kind, if there is one."""
        self.call("POST", "token", "revoke", body={"token": token})

    def verify_request(
        self, authorization: Header, method: str, resource: Union[str, bytes], body: bytes = b"",
    ) -> Authentication:
        """Who sent a request with a `Signet` or `SignetMAC` header. Scope: verify.

        The arguments are those of `RequestVerifier.verify`. A code that is not valid raises `CallFailure`
        with the server's code.
        """
        answer = self.call("POST", "authentication", "verify", body={
            "authorization": only(authorization).decode("utf-8", "replace"), "method": method,
            "resource": encoded(resource).decode("utf-8", "replace"),
            "body": base64url_encode(hashlib.sha256(body).digest()).decode()})
        is_valid = answer.get("valid") if isinstance(answer, dict) else None
        if is_valid is True:
            return read(Authentication, answer)
        code = answer.get("code") if is_valid is False else None
        if not is_code(code):
            raise unusable("'valid' is missing, or a refusal has no code")
        raise CallFailure(code, "the server does not accept this request code", status=200)

    def jwks(self) -> bytes:
        """The server's keys for tokens and callbacks: `KeySource(client.jwks)` keeps them current."""
        return self._connector.document("GET", "/.well-known/jwks.json")[1]

    # Administration, and all else.

    def admin(self, command: str, **members: Any) -> Any:
        """Runs a command of `signet-server admin`. Scope: admin, or server.

        `command` is its words (`account block`), and a member stands for each operand and option, by the
        name in docs/developer/openapi.yaml. Returns what the command prints with `--json`.
        """
        return self.call("POST", "admin", *command.split(" "), body=members)

    def call(
        self, method: str, *segments: str, body: Optional[Dict[str, Any]] = None, success: int = 200,
    ) -> Any:
        """A call for which there is no function: its path after `/v1`, each segment by itself.

        Returns the JSON of an answer of the status `success`, None if it has no content.
        """
        if not re.fullmatch("[A-Z]+", method):
            raise ValueError("a method is a word of capital letters")
        path = "/v1/" + "/".join(escape(segment) for segment in segments)
        return self._connector.call(method, path, body, success)

    def _registration(
        self, registration: str, verb: Optional[str] = None, body: Optional[Dict[str, Any]] = None
    ) -> Registration:
        answer = read(Registration, self._state("registrations", registration, verb, body))
        if answer.registration != registration:
            raise unusable("the answer is about another registration")
        return answer

    def _operation(self, operation: str, verb: Optional[str] = None) -> Operation:
        answer = read(Operation, self._state("operations", operation, verb, None))
        if answer.operation != operation:
            raise unusable("the answer is about another operation")
        return answer

    def _state(
        self, kind: str, name: str, verb: Optional[str], body: Optional[Dict[str, Any]]
    ) -> Any:
        if verb is None:
            return self.call("GET", kind, name)
        return self.call("POST", kind, name, verb, body=body or {})


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _about(account: str, answer: Any) -> Any:
    if answer.account != account:
        raise unusable("the answer is about another account")
    return answer
