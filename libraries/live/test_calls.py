# SPDX-License-Identifier: Apache-2.0
"""The calls of the client in Python, at a real server."""
import os
import subprocess
import sys
import unittest

import signet_verifier as signet
from devices import SCRIPT, Device

sys.path.insert(0, str(SCRIPT.parent))
URL = os.environ["SIGNET_URL"]
ACCOUNT = "Zoë/../ Ødegård?x=%2e"


def client(name="SIGNET_KEY"):
    return signet.SignetClient(URL, os.environ[name])


class CallTests(unittest.TestCase):
    def setUp(self):
        self.shop = client()
        self.device = None

    def tearDown(self):
        if self.device:
            self.device.end()

    def refused(self, code, call, **details):
        with self.assertRaises(signet.CallFailure) as raised:
            call()
        self.assertEqual((raised.exception.code, raised.exception.details), (code, details))
        self.assertEqual(raised.exception.status is None, code in signet.CALL_CODES)
        return raised.exception

    def register(self, account=ACCOUNT):
        self.device = Device(self.shop.activate(account).code)
        self.assertEqual(self.device.account, account)
        return self.shop.registrations(account)[-1]

    def test_devices(self):
        self.assertEqual(self.shop.registrations("nobody"), [])
        one = self.register()
        self.assertEqual((one.account, one.status, one.key), (ACCOUNT, "ACTIVE", "file"))
        found, = [each for each in signet.active_devices(self.shop.registrations(ACCOUNT))
                  if each.registration == one.registration]
        self.assertEqual((found.credential, found.fingerprint), (one.credential, one.fingerprint))
        self.assertEqual(self.shop.registration(one.registration), one)
        self.refused("not-found", lambda: client("SIGNET_OTHER_KEY").registration(one.registration))
        self.refused("not-found", lambda: client("SIGNET_OTHER_KEY").remove(one.registration))
        self.assertEqual(self.shop.block(one.registration).status, "BLOCKED")
        self.refused("conflict", lambda: self.shop.block(one.registration))
        self.assertEqual(self.shop.unblock(one.registration).status, "ACTIVE")
        removed = self.shop.remove(one.registration)
        self.assertEqual((removed.status, removed.reason), ("REMOVED", "application"))
        self.refused("conflict", lambda: self.shop.unblock(one.registration))

    def test_a_fingerprint_is_compared(self):
        server = client("SIGNET_SERVER_KEY")
        name = f"strict-{os.getpid()}"
        server.admin("application add", name=name, commit="yes")
        key = server.admin("key add", application=name, name="back-end")["key"]
        strict = signet.SignetClient(URL, key)
        code = strict.activate("bob").code
        said = subprocess.run([sys.executable, str(SCRIPT), URL, name, code, "--approve"],
                              capture_output=True, text=True)
        self.assertIn("PENDING_COMMIT", said.stderr)
        one, = strict.registrations("bob")
        self.refused("conflict", lambda: strict.commit(one.registration, "SHA256:" + "A" * 43))
        self.assertEqual(strict.commit(one.registration, one.fingerprint).status, "ACTIVE")
        server.admin("application remove", name=name, devices="remove")
        self.refused("api-key-refused", lambda: strict.registrations("bob"))

    def test_logins(self):
        one = self.register("alice")
        logins = client("SIGNET_LOGINS_KEY")
        pending = logins.begin_login("alice", "sign-in", {"code": "ABC"}, visitor="192.0.2.7",
                                     additional={"agent": "test"})
        other = logins.begin_login("alice", "sign-in", {"code": "DEF", "address": "here"},
                                   expires_in=60)
        self.assertEqual(pending.text, "Sign in to the shop from 192.0.2.7?\nThe page shows ABC.")
        self.assertEqual(logins.operation(pending.operation).status, "PENDING")
        self.refused("conflict", lambda: logins.confirm_login(pending.operation, pending.session))
        self.assertEqual(self.device.question(), pending.text)
        self.assertEqual(self.device.answer("y"), "APPROVED")
        self.assertEqual(self.device.question().splitlines()[1], "The page shows DEF.")
        self.assertEqual(self.device.answer("n"), "REJECTED")
        self.assertEqual(logins.operation(other.operation).status, "REJECTED")
        self.refused("conflict", lambda: logins.confirm_login(other.operation, other.session))
        # The session of another visitor, another application.
        self.refused("refused", lambda: logins.confirm_login(pending.operation, other.session))
        self.refused("not-found", lambda: client("SIGNET_OTHER_KEY").confirm_login(
            pending.operation, pending.session))
        login = logins.confirm_login(pending.operation, pending.session)
        self.assertEqual((login.account, login.application, login.registration, login.factor),
                         ("alice", "shop", one.registration, "fingerprint"))
        self.refused("conflict", lambda: logins.confirm_login(pending.operation, pending.session))
        self.tokens(login)
        self.assertIn(pending.operation, [each.operation for each in self.shop.operations("alice")])

    def tokens(self, login):
        tokens = login.tokens
        state = self.shop.introspect(tokens.access_token)
        self.assertEqual((state.account, state.registration, state.methods),
                         ("alice", login.registration, ("fpt", "swk")))
        verifier = signet.TokenVerifier(
            "https://id.example.org", state.audience, signet.KeySource(self.shop.jwks))
        self.assertEqual(verifier.verify(tokens.access_token).session, state.session)
        self.assertIsNone(client("SIGNET_OTHER_KEY").introspect(tokens.access_token))
        self.assertIsNone(self.shop.introspect("x.y.z"))
        self.refused("scope-missing", lambda: client("SIGNET_LOGINS_KEY").introspect(
            tokens.access_token), scope="verify")
        following = self.shop.refresh(tokens.refresh_token)
        self.assertIsNotNone(self.shop.introspect(following.access_token))
        self.shop.revoke(following.access_token)
        self.assertIsNone(self.shop.introspect(following.access_token))
        self.refused("token-refused", lambda: self.shop.refresh(following.refresh_token))
        self.shop.revoke(following.access_token)

    def test_a_visitor_learns_nothing(self):
        pending = self.shop.begin_login("nobody", "sign-in", {"code": "X"}, visitor="192.0.2.1")
        self.refused("not-found", lambda: self.shop.operation(pending.operation))
        self.refused("not-found", lambda: self.shop.begin_login(
            "nobody", "sign-in", {"code": "X", "address": "here"}))

    def test_operations(self):
        self.register()
        data = {"amount": "12", "payee": "Bób"}
        one = self.shop.create_operation(ACCOUNT, "pay", data)
        self.assertEqual((one.text, one.status, one.purpose), ("Pay 12 EUR\nto Bób?", "PENDING", "operation"))
        self.refused("not-found", lambda: client("SIGNET_OTHER_KEY").operation(one.operation))
        self.refused("not-found", lambda: client("SIGNET_OTHER_KEY").cancel(one.operation))
        self.assertEqual(self.device.question(), one.text)
        self.assertEqual(self.device.answer("y"), "APPROVED")
        decided = self.shop.operation(one.operation)
        self.assertEqual((decided.status, decided.factor), ("APPROVED", "fingerprint"))
        self.refused("conflict", lambda: self.shop.cancel(one.operation))
        two = self.shop.create_operation(ACCOUNT, "pay", data, expires_in=60)
        self.assertEqual(self.shop.cancel(two.operation).status, "CANCELED")
        self.assertEqual({each.operation for each in self.shop.operations(ACCOUNT)} & {
            one.operation, two.operation}, {one.operation, two.operation})
        self.refused("malformed", lambda: self.shop.create_operation(ACCOUNT, "pay", {"amount": "1"}))
        self.refused("not-found", lambda: self.shop.create_operation(ACCOUNT, "none", {}))

    def test_what_the_server_does_not_know_is_refused(self):
        failure = self.refused("malformed", lambda: self.shop.call(
            "POST", "activations", body={"account": "alice", "expires": 60}, success=201))
        self.assertIn("'expires' is not a member that this call knows", failure.message)
        self.refused("not-found", lambda: self.shop.call("GET", "nothing"))
        self.refused("api-key-refused", lambda: signet.SignetClient(
            URL, "sgk_" + "A" * 43).registrations("alice"))

    def test_administration(self):
        server = client("SIGNET_SERVER_KEY")
        self.shop.activate("carol")
        server.admin("account block", application="shop", account="carol")
        self.refused("conflict", lambda: self.shop.activate("carol"))
        accounts = server.admin("account list", application="shop")
        self.assertIn(("carol", True), [(one["name"], one["blocked"]) for one in accounts])
        server.admin("account unblock", application="shop", account="carol")
        self.shop.activate("carol")
        self.refused("scope-missing", lambda: self.shop.admin(
            "account block", application="shop", account="carol"), scope="admin")
        self.refused("malformed", lambda: server.admin("account block", application="shop"))
        self.refused("not-found", lambda: server.admin("account erase", application="shop"))

    def test_a_request_is_verified(self):
        import tempfile

        import device
        with tempfile.TemporaryDirectory() as directory:
            one = device.Device(device.Key(directory))
            server = device.Server(URL, None)
            code = self.shop.activate("dora").code
            begun = server.call("POST", "/v1/registrations", {"code": code, "device": one.id})
            proof = one.answer(begun["audience"], "dora", begun["challenge"], "register",
                               "registration@signet")
            proof["publicKey"] = device.encoded(one.key.point)
            server.call("POST", f"/v1/registrations/{begun['registration']}/proof", proof)
            header = one.request(begun["audience"], "dora", "GET", "/a?b")
            found = self.shop.verify_request([header], "GET", "/a?b")
            self.assertEqual((found.account, found.device, found.factor), ("dora", one.id, "fingerprint"))
            self.refused("replayed", lambda: self.shop.verify_request([header], "GET", "/a?b"))
            fresh = one.request(begun["audience"], "dora", "GET", "/a?b")
            self.refused("refused", lambda: self.shop.verify_request(fresh, "GET", "/a?c"))
            # Verified here, by the credential that the server has said.
            verifier = signet.RequestVerifier(
                begun["audience"], signet.MemoryNonces(),
                lambda account, _: signet.active_devices(self.shop.registrations(account)))
            self.assertEqual(verifier.verify(fresh, "GET", "/a?b").credential, one.credential)
            one.credential = os.urandom(16).hex()
            forged = one.request(begun["audience"], "dora", "GET", "/a?b")
            with self.assertRaises(signet.VerificationFailure) as raised:
                verifier.verify(forged, "GET", "/a?b")
            self.assertEqual(raised.exception.code, "unknown-key")
        self.refused("malformed", lambda: self.shop.verify_request("Signet x", "GET", "/"))


if __name__ == "__main__":
    unittest.main()
