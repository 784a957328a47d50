import Posix
import Testing
import Texts

@testable import Doctor

@Suite("the file of a server that logins are to be at")
struct ServerFileTests {
    private static let key =
        "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBtzqt6Y9Rig+def9i7tL8VFKsZhCCAac3RA"
        + "IU9QiQtXf7zJa6lqQ9IcSoiql9Lj5ML+t/ffxB/9XDx0qcJ20Bc="

    /// What is told of a machine whose file has these names.
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
        let area: [FindingCode] = [.serverFile, .serverFileAccount, .serverFileGroup]
        return bare.machine.examine { DaemonView(.absent) }.filter { area.contains($0.code) }
            .map { "\($0.code.word): \(String(decoding: $0.what.bytes, as: UTF8.self))" }
    }

    @Test("with names that there are, or none, leaves the doctor silent")
    func known() throws {
        #expect(try told("") == [])
        #expect(try told("accounts = alice root @staff") == [])
    }

    @Test("with names that nobody has is told, each for itself")
    func unknown() throws {
        #expect(
            try told("accounts = alice aliec @staff @stuff") == [
                "server-file-account: sudo: there is no account aliec on this machine, which "
                    + "/etc/signet/corp names",
                "server-file-group: sudo: there is no group stuff on this machine, which "
                    + "/etc/signet/corp names",
            ])
    }

    @Test("says nothing of names that cannot be looked up")
    func unanswered() throws {
        var bare = try Bare()
        let fault = SystemFault("getpwnam_r", on: "aliec", code: 5)
        bare.machine.isAccount = { _ throws(SystemFault) in throw fault }
        bare.machine.isGroup = { _ throws(SystemFault) in throw fault }
        #expect(try told("accounts = aliec @stuff", on: bare) == [])
    }
}
