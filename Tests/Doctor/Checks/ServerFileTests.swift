// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Doctor

@Suite("the file of a server that logins are to be at")
struct ServerFileTests {
    private static let key =
        "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBtzqt6Y9Rig+def9i7tL8VFKsZhCCAac3RA"
        + "IU9QiQtXf7zJa6lqQ9IcSoiql9Lj5ML+t/ffxB/9XDx0qcJ20Bc="

    /// What is reported of a machine whose file has these names.
    private func told(_ accounts: String, on bare: Bare? = nil) throws -> [String] {
        let bare = try bare ?? Bare()
        try bare.write(
            "etc/pam.d/sudo",
            """
            auth [success=done default=ignore] pam_signet.so server=/etc/signet/corp
            auth required pam_unix.so

            """)
        try bare.write(
            "etc/signet/corp",
            """
            url = https://id.example.org
            audience = corp
            key = ecdsa-sha2-nistp256 \(Self.key)
            \(accounts)

            """)
        let area = ["server-file", "server-file-account", "server-file-group"]
        return bare.machine.examine { DaemonView(.absent) }.filter { area.contains($0.code) }
            .map { "\($0.code): \(String(decoding: $0.what.bytes, as: UTF8.self))" }
    }

    @Test("with names that there are, or none, leaves the doctor silent")
    func known() throws {
        #expect(try told("") == [])
        #expect(try told("accounts = alice root @staff") == [])
    }

    @Test("with unknown names is reported, once for each name")
    func unknown() throws {
        #expect(
            try told("accounts = alice aliec @staff @stuff") == [
                "server-file-account: sudo: the account aliec does not exist on this machine, "
                    + "but /etc/signet/corp names it",
                "server-file-group: sudo: the group stuff does not exist on this machine, but "
                    + "/etc/signet/corp names it",
            ])
    }

    @Test("says nothing of names that cannot be looked up")
    func unanswered() throws {
        var bare = try Bare()
        let fault = SystemFault("getpwnam_r", on: "aliec", code: 5)
        bare.machine.nameService.isAccount = { _ throws(SystemFault) in throw fault }
        bare.machine.nameService.isGroup = { _ throws(SystemFault) in throw fault }
        #expect(try told("accounts = aliec @stuff", on: bare) == [])
    }

    /// The findings about registrations, as code and subject, of a machine with this file.
    private func registrations(
        _ accounts: String, _ views: [AccountView], _ change: (inout Bare) throws -> Void = { _ in }
    ) throws -> [String] {
        var bare = try Bare()
        try bare.write("run/signet/relay.sock", "")
        bare.machine.nameService.isMember = { name, group in name == "alice" && group == "staff" }
        _ = try told(accounts, on: bare)
        try change(&bare)
        var view = DaemonView(.answers)
        view.accounts = views
        let area = ["server-unregistered", "relay-missing"]
        return bare.machine.examine { view }.filter { area.contains($0.code) }
            .map { "\($0.code): \(String(decoding: $0.subject, as: UTF8.self))" }
    }

    private func alice(
        _ states: [ServerKeyState]?, at url: String = "https://id.example.org", prints: UInt8 = 1
    ) -> AccountView {
        let status = StatusAnswer(
            account: "alice", since: 1, prints: prints, damaged: 0, state: .valid,
            generation: 7, lock: .open, program: "0.1.0".bytes, vault: "file".bytes,
            device: .sample(0..<16))
        let servers = states?.map { state in
            ServerAnswer(
                account: "al", since: 1, state: state, server: ServerURL(url),
                application: "shop", fingerprint: "SHA256:abc".bytes)
        }
        return AccountView(
            name: "alice", status: status, prints: [], secrets: [], servers: servers)
    }

    @Test("with an account that its server does not know is reported")
    func unregistered() throws {
        let told = ["server-unregistered: alice"]
        for accounts in ["", "accounts = alice", "accounts = @staff"] {
            for states in [[], [.invalidated], [.removing]] as [[ServerKeyState]] {
                #expect(try registrations(accounts, [alice(states)]) == told)
            }
            #expect(
                try registrations(accounts, [alice([.good], at: "https://other.example")]) == told)
        }
        #expect(try registrations("accounts = root", []) == ["server-unregistered: root"])
        #expect(try registrations("accounts = alice", [alice([], prints: 0)]) == told)
    }

    @Test("with accounts that are registered, or not meant, leaves the doctor silent")
    func registered() throws {
        #expect(try registrations("", [alice([.invalidated, .good])]) == [])
        #expect(try registrations("", [alice(nil)]) == [], "the daemon could not tell")
        #expect(try registrations("", [alice([], prints: 0)]) == [])
        #expect(try registrations("accounts = @wheel", [alice([])]) == [])
        #expect(try registrations("accounts = aliec", []) == [], "reported as an unknown name")
        #expect(try registrations("accounts = root", [], { $0.machine.uid = 1_000 }) == [])
    }

    @Test("without the relay's socket is reported, and so is a registration without it")
    func relay() throws {
        let told = ["relay-missing: /run/signet/relay.sock"]
        #expect(
            try registrations("", [alice([.good])]) { bare in
                bare = try Bare()
                _ = try self.told("", on: bare)
            } == told)
        #expect(try registrations("", [alice([.good])]) { $0 = try Bare() } == told)
        #expect(try registrations("", [alice([])]) { $0 = try Bare() } == [])
    }
}
