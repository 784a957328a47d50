// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// A server as relying party; `laptop` is the machine that takes the place of alice's first.
    static func serverScenes(_ server: DemoServer, laptop: DemoSet) -> [DemoScene] {
        [
            DemoScene(
                title: "A server",
                about: "signet-server issues challenges and verifies the signed answers. It "
                    + "sees no finger and no private key.",
                play: { try begin($0, server) }),
            DemoScene(
                title: "alice registers her machine",
                about: "With a code, her password and a touch. A new key is created for only this "
                    + "server, sealed to her fingers; the server gets the public key.",
                play: { try register($0, server) }),
            DemoScene(
                title: "A touch logs in to the server",
                about: "The server sends a challenge, the touch signs it, the server verifies the "
                    + "signature and issues a token. A stranger's finger signs nothing.",
                play: { try logIn($0, server) }),
            DemoScene(
                title: "A hurt finger is not the end",
                about: "This application accepts passwords, too. Hers opens a key of "
                    + "its own, sealed to it; the server and the token say that it was no touch.",
                play: { try logInByPassword($0, server) }),
            DemoScene(
                title: "sudo asks the server, too",
                about: "In this stack, a touch counts only if the server approves: a verdict, "
                    + "signed with the key that root pinned, about exactly this login. A blocked "
                    + "account is refused at once, on every machine; the password still works.",
                play: { try sudo($0, server) }),
            DemoScene(
                title: "A touch signs one HTTP request",
                about:
                    "Method, address, time and body are signed, without asking the server first. "
                    + "The back end asks the server to verify it, and a second use is refused.",
                play: { try request($0, server) }),
            DemoScene(
                title: "alice approves an operation",
                about: "The shop asks; alice sees exactly the text that her touch will sign.",
                play: { try approve($0, server) }),
            DemoScene(
                title: "The shop is notified",
                about: "The server sends what happens to the shop's URL, signed by the key that is "
                    + "in its JWKS. The shop's back end verifies that with the library for Python. "
                    + "Addresses of the server's own network are refused unless they are listed.",
                play: { try notify($0, server) }),
            DemoScene(
                title: "A new laptop replaces the old one",
                about: "This application allows one device per account. When the old one learns "
                    + "that it was replaced, it destroys its key.",
                play: { try replace($0, server, laptop) }),
            DemoScene(
                title: "The laptop's TPM has proven itself",
                about: "The old machine's word about its key is not enough any more: the shop "
                    + "wants hardware that a named maker has certified. The laptop has proven its "
                    + "TPM when it was registered, and anyone can check that.",
                play: { try prove($0, server, laptop) }),
        ]
    }

    private static func begin(_ set: DemoSet, _ server: DemoServer) throws {
        set.screen.act("root starts signet-server")
        try server.start()
        try server.startRelay(on: set)
        try server.admin(
            "application", "add", "shop", "--devices", "one", "--passwords", "yes",
            meaning: "users of 'shop' may log in here, also with a password")
        try server.makeBackEnd()
    }

    private static func register(_ set: DemoSet, _ server: DemoServer) throws {
        let code = try server.code()
        let terminal = try set.enable(server, code)
        try set.see("touch the reader to register this device", on: terminal)
        try set.touch(.aliceRight)
        try set.see("this device is registered at \(server.url) as alice, for shop", on: terminal)
        try set.end(terminal, "the device is registered")
        let again = try set.alice("signet", "enable", "--server", server.url)
        try set.see("is already registered at \(server.url)", on: again)
        try set.check("a second time is refused at once", try again.expectEnd() != .exited(0))
    }

    private static func logIn(_ set: DemoSet, _ server: DemoServer) throws {
        let terminal = try set.alice("signet", "login", server.url)
        try set.see("touch the reader to log in to \(server.url) as alice", on: terminal)
        try set.touch(.stranger)
        try set.see("the finger did not match", on: terminal)
        try set.see("touch the reader to log in to \(server.url) as alice", on: terminal)
        try set.touch(.aliceLeft)
        try set.end(terminal, "alice has a token")
        let token = terminal.transcript.split(whereSeparator: \.isNewline).last ?? ""
        try set.check(
            "it is a JSON Web Token, in three parts",
            token.hasPrefix("eyJ") && token.split(separator: ".").count == 3,
            came: terminal.transcript)
        let audit = try server.admin(
            "audit", "--event", "login", meaning: "the server has recorded it in its audit trail")
        try set.check(
            "one login, of alice at shop",
            audit.split(whereSeparator: \.isNewline).count { $0.contains(" ok ") } == 1,
            came: audit)
    }

    private static func logInByPassword(_ set: DemoSet, _ server: DemoServer) throws {
        set.screen.act("alice has cut her finger: the reader does not recognise it")
        let hurt = try set.alice("signet", "login", server.url)
        for _ in 0..<3 {
            try set.see("touch the reader to log in to \(server.url) as alice", on: hurt)
            try set.touch(.stranger)
        }
        try set.see("if you cannot use your finger: this server also accepts", on: hurt)
        try set.check("the login failed", try hurt.expectEnd() != .exited(0))
        let wrong = try set.alice("signet", "login", "--password", server.url)
        try set.see("enter your password to log in to \(server.url) as alice", on: wrong)
        try set.see("Password of alice: ", on: wrong)
        set.screen.act("alice mistypes it")
        try wrong.sendLine("no such password")
        try set.see("Password of alice: ", on: wrong)
        try set.typePassword(wrong)
        try set.end(wrong, "alice has a token")
        let token = wrong.transcript.split(whereSeparator: \.isNewline).last ?? ""
        let payload = token.split(separator: ".").dropFirst().first ?? ""
        let claims = try set.shell(
            "printf '%s===' '\(payload)' | tr '_-' '/+' | base64 -di 2>/dev/null || true")
        try set.check(
            "it says 'pwd', and not 'fpt'", claims.contains(#""pwd""#) && !claims.contains("fpt"),
            came: claims)
        let trail = try server.call("GET", "/v1/accounts/alice/audit")
        try set.check(
            "and so does the server's audit trail", trail.contains(#""factor":"password""#),
            came: trail)
    }

    private static func sudo(_ set: DemoSet, _ server: DemoServer) throws {
        let file = "/etc/signet/shop"
        let line = "signet-server admin application pam-file shop >\(file)"
        try set.end(
            set.root(shown: line, ["sh", "-c", line]), "the file names the server and its key")
        set.screen.act("root writes 'pam_signet.so server=\(file)' into sudo's stack")
        try set.signet.writeServices(options: "server=\(file)")
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal)
        try set.touch(.aliceRight)
        try set.seeRoot(terminal)
        let log = try set.shell("signet log --account alice --json")
        try set.check(
            "the receipt says that the server was asked", log.contains(server.url), came: log)

        try server.admin("account", "block", "shop", "alice", meaning: "alice is blocked there")
        let blocked = try set.alice("sudo", "whoami")
        try set.seeInvitation(blocked)
        try set.touch(.aliceRight)
        try set.see(sudoPrompt, on: blocked)
        try set.typePassword(blocked)
        try set.seeRoot(blocked)
        try server.admin("account", "unblock", "shop", "alice", meaning: "alice is unblocked")
        set.screen.act("root takes the server out of sudo's stack")
        try set.signet.writeServices(options: "")
    }

    private static func request(_ set: DemoSet, _ server: DemoServer) throws {
        let terminal = try set.alice(
            "signet", "sign", "--request", "GET", "https://shop.example/orders/7")
        try set.see(
            "touch the reader to sign the request GET https://shop.example/orders/7", on: terminal)
        try set.touch(.aliceRight)
        try set.end(terminal, "the header was created; it is valid for 30 seconds")
        let marker = "Authorization: "
        let header = terminal.transcript.split(whereSeparator: \.isNewline)
            .last { $0.hasPrefix(marker) }?.dropFirst(marker.count)
        guard let header else { throw DemoFault(expected: marker, came: terminal.transcript) }
        let quoted = header.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\\\"")
        // SHA-256 of no body at all.
        let body = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
        func verify(_ method: String) throws -> String {
            try server.call(
                "POST", "/v1/authentication/verify",
                """
                {"authorization":"\(quoted)","method":"\(method)","resource":"/orders/7",\
                "body":"\(body)"}
                """)
        }
        set.screen.act("the shop's back end receives DELETE with this header, and asks the server")
        let another = try verify("DELETE")
        try set.check("it is refused", another.contains(#""valid":false"#), came: another)
        set.screen.act("it receives GET with the header, and asks")
        let good = try verify("GET")
        try set.check(
            "it is alice's request", good.contains(#""valid":true"#) && good.contains("alice"),
            came: good)
        set.screen.act("it receives the same request again")
        let again = try verify("GET")
        try set.check("it was used already", again.contains("replayed"), came: again)
    }

    private static func approve(_ set: DemoSet, _ server: DemoServer) throws {
        try server.admin(
            "template", "add", "shop", "pay", "Pay {amount} to {payee}",
            meaning: "the shop may request this")
        let id = try ask(set, server, amount: "120 EUR", payee: "bob")
        let list = try set.alice("signet", "operations")
        try set.see("touch the reader to list operations", on: list)
        try set.touch(.aliceRight)
        try set.see("Pay 120 EUR to bob", on: list)
        try set.end(list, "the operation waits for alice's decision")
        let terminal = try set.alice("signet", "operations", "approve", String(id.prefix(8)))
        try set.see("Pay 120 EUR to bob", on: terminal)
        try set.see("touch the reader to approve operation", on: terminal)
        try set.touch(.aliceLeft)
        try set.see("is approved", on: terminal)
        try set.end(terminal, "alice has signed exactly that text")
        let state = try server.call("GET", "/v1/operations/\(id)")
        try set.check(
            "the shop learns that it is approved", state.contains(#""status":"APPROVED""#),
            came: state)
    }

    /// Has the shop ask for an approval; gives the operation's id.
    private static func ask(
        _ set: DemoSet, _ server: DemoServer, amount: String, payee: String
    ) throws -> String {
        set.screen.act("the shop's back end asks for an approval")
        let asked = try server.call(
            "POST", "/v1/operations",
            """
            {"account":"alice","template":"pay","data":{"amount":"\(amount)","payee":"\(payee)"}}
            """)
        guard
            let id = asked.split(separator: "\"").drop(while: { $0 != "operation" }).dropFirst(2)
                .first
        else { throw DemoFault(expected: "an operation", came: asked) }
        return String(id)
    }

    private static func notify(_ set: DemoSet, _ server: DemoServer) throws {
        set.screen.act("the shop starts a receiver, on a network that server.conf lists")
        let (url, receiver) = try server.startReceiver()
        try server.admin("callback", "set", "shop", url, meaning: "the shop will be notified there")
        let id = try ask(set, server, amount: "5 EUR", payee: "carol")
        let terminal = try set.alice("signet", "operations", "approve", String(id.prefix(8)))
        try set.see("touch the reader to approve operation", on: terminal)
        try set.touch(.aliceRight)
        try set.end(terminal, "alice approves")
        try receiver.expect("operation.approved alice \(id)\n", within: DemoSet.patience)
        try set.check(
            "the receiver was notified of just that, and verified the signature",
            receiver.output == "operation.approved alice \(id)\n", came: receiver.output)
        set.screen.act("a stranger sends the receiver a callback of their own")
        let status = try set.shell(
            "curl -s -o /dev/null -w '%{http_code}' --data eyJ9.eyJ9.AAAA '\(url)'")
        try set.check("it is refused", status == "400", came: status)
        try server.admin("callback", "show", "shop", meaning: "nothing waits to be sent")
        set.screen.act("a URL of the cloud's metadata service, which only the server can reach")
        let refused = try set.shell(
            """
            signet-server admin callback set shop https://169.254.169.254/latest/meta-data 2>&1 \
                || true
            """)
        try set.check(
            "the server calls nobody there", refused.contains("is not a public address"),
            came: refused)
        try server.admin("callback", "remove", "shop", meaning: "the shop is not notified any more")
    }

    private static func replace(_ set: DemoSet, _ server: DemoServer, _ laptop: DemoSet) throws {
        let code = try server.code()
        laptop.screen.act("alice sits down at her new laptop, the one with a TPM")
        try server.startRelay(on: laptop)
        let new = try laptop.enable(server, code)
        try laptop.see("swipe your finger across the reader to register this device", on: new)
        try laptop.swipe(.aliceRight, "alice swipes her right index finger")
        try laptop.see("this device is registered", on: new)
        try laptop.end(new, "the new laptop is registered, with a key in its TPM")

        set.screen.act("alice logs in on the old machine, which does not know about it")
        let old = try set.alice("signet", "login", server.url)
        try set.see("touch the reader to log in", on: old)
        try set.touch(.aliceRight)
        try set.see("another device replaced this one at", on: old)
        try set.check("the login failed", try old.expectEnd() != .exited(0))
        let list = try set.alice("signet", "login")
        try set.see("alice is not registered at any server", on: list)
        try set.end(list, "the old machine has destroyed its key")
    }

    private static func prove(_ set: DemoSet, _ server: DemoServer, _ laptop: DemoSet) throws {
        try server.admin(
            "application", "set", "shop", "--passwords", "no", "--keys", "attested",
            meaning: "only keys that a TPM has proven, from now on; that of a password is not")
        set.screen.act("alice tries to register the old machine again, which has no TPM")
        let old = try set.enable(server, try server.code())
        try set.see("the server only registers machines that can prove", on: old)
        try set.check("no touch was asked for", try old.expectEnd() != .exited(0))

        let list = try server.admin(
            "registration", "list", "shop", "--status", "active",
            meaning: "the laptop is registered")
        guard
            let id = list.split(whereSeparator: \.isWhitespace).map(String.init)
                .first(where: { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
        else { throw DemoFault(expected: "a registration", came: list) }
        let shown = try server.admin(
            "registration", "show", id, meaning: "what the server knows of it")
        try set.check(
            "its key is attested", shown.contains("attested      key"), came: shown)
        try server.checkEvidence(of: id)
        let login = try laptop.alice("signet", "login", server.url)
        try laptop.see("to log in to \(server.url) as alice", on: login)
        try laptop.swipe(.aliceRight, "alice swipes her right index finger")
        try laptop.end(login, "alice has a token")
        // How '{"amr":["fpt","hwk"' begins a token's second part.
        try laptop.check(
            "its amr says hwk: hardware that was proven",
            login.transcript.contains("eyJhbXIiOlsiZnB0IiwiaHdr"), came: login.transcript)
    }

    /// alice begins to register a machine, with her password.
    private func enable(_ server: DemoServer, _ code: String) throws -> Terminal {
        let terminal = try alice("signet", "enable", "--server", server.url)
        try see("Activation code for \(server.url): ", on: terminal)
        screen.act("alice types the code")
        try terminal.sendLine(code)
        try see("Password of alice: ", on: terminal)
        try typePassword(terminal)
        return terminal
    }
}
