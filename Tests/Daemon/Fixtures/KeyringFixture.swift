// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

/// The keyring, as people and the PAM module meet it.
extension DaemonFixture {
    /// A daemon that sees a shadow(5) of the test's own, with passwords of `daemon` and `bin`.
    static func withShadow(
        _ kinds: [Kind] = [.storage], configuration: String = ""
    ) throws -> DaemonFixture {
        let mount = #"""
            for word; do case $word in
            */state) mount --bind "${word%/state}/shadow" /etc/shadow || exit 99 ;;
            esac; done
            exec "$@"
            """#
        return try DaemonFixture(
            kinds, configuration: configuration,
            wrapper: [
                "unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh",
            ], arguments: ["--one-life", "yes"]
        ) { places in
            let path = places.state.dropLast("state".count) + "shadow"
            try DaemonFixture.write(shadow(), to: String(path), mode: 0o640)
        }
    }

    /// Changes the passwords as passwd(1), chpasswd(8) and the like do: behind the daemon's back.
    func changeShadow(hash: String = "$6$salt$new", day: Int = 20_000) throws {
        try Self.write(Self.shadow(hash: hash, day: day), to: directory + "/shadow", mode: 0o640)
    }

    private static func shadow(hash: String = "$6$salt$old", day: Int = 20_000) -> String {
        ["daemon", "bin"].map { "\($0):\(hash):\(day):0:99999:7:::\n" }.joined()
    }

    /// Says of every password from now on that it is wrong, or cannot be checked.
    func judgePasswords(_ code: Int) throws {
        try Self.write(
            "#!/bin/sh\necho \"$1\" >>\"${0%/*}/checked\"\nexit \(code)\n",
            to: directory + "/verify-password", mode: 0o755)
    }

    /// How many passwords were checked so far.
    func checks() throws -> Int {
        let text = try? String(decoding: Layout.read(directory + "/checked"), as: UTF8.self)
        return text?.split(separator: "\n").count ?? 0
    }

    /// Turns the keyring on, or makes another request that wants the password.
    @discardableResult
    func give(
        _ password: String = "right", to request: Request? = nil, of person: Person = .daemon,
        as caller: Person = .root
    ) throws -> Answer {
        let client = try client(caller)
        try client.send(request ?? .enable(account: person.account, keyring: true))
        guard try client.isAskedPassword(of: person.account) else {
            throw ClientFault.ended(client.heard)
        }
        try client.send(.password(Bytes(password.utf8)))
        return try client.last()
    }

    /// A login that wants the password; gives it, nil where the login was allowed without it.
    func opened(
        by request: Request = .login(.daemon, service: "login", wantsKeyring: true),
        with id: String = "one", client: TestClient? = nil
    ) throws -> String? {
        let client = try client ?? self.client()
        let answer = try touch(request, with: [id], client: client)
        _ = try #require(answer.assertion, "\(answer)")
        return try client.confirmedPassword().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reports a password that was changed, as the PAM module does.
    func report(_ password: String, by caller: Person = .root) throws -> Answer {
        try client(caller).ask(
            .passwordChanged(
                account: Person.daemon.account, service: "passwd",
                password: Bytes(password.utf8)))
    }

    func keyring(of person: Person = .daemon) throws -> KeyringState {
        try status(of: person).keyring
    }
}
