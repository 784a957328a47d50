// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// Real ssh where the key cannot be used: it says why, and goes on with its next key.
@Suite("ssh with a key that cannot be used", .timeLimit(.minutes(5)))
struct SSHKeyFaultTests {
    private let ssh: SSHFixture
    private var signet: SignetFixture { ssh.signet }
    private var host: HostFixture { ssh.host }
    private static let next = "/home/alice/.ssh/file"
    private static let tpm = "/run/tpm/socket"

    init() throws {
        ssh = try SSHFixture()
    }

    /// alice's key of Signet's, and one in a file that the server accepts as well.
    private func makeKeys() throws {
        try ssh.makeKey()
        try ssh.aliceDoes("ssh-keygen -q -t ed25519 -N '' -f \(Self.next)")
        try signet.shell("cat \(Self.next).pub >>/home/alice/.ssh/authorized_keys")
    }

    /// ssh with both keys, the one of Signet's first.
    private func login() throws -> Terminal { try ssh.ssh([SSHFixture.key, Self.next]) }

    private func expectLogin(_ terminal: Terminal) throws {
        try terminal.expect("logged in")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
    }

    /// Writes alice's key file anew, with one byte of its key handle changed.
    ///
    /// The handle follows the version 1 and the id of the device, which stands in the account's
    /// receipts and in every handle.
    private func alter(_ place: Int) throws {
        let text = String(decoding: try host.read(SSHFixture.key), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let body = Bytes(lines.dropFirst().dropLast().joined().utf8)
        var bytes = try #require(Base64.decode(body, alphabet: .standard))
        let handle = try self.handle(in: bytes)
        bytes[handle + place] ^= 1
        let written = String(
            decoding: Base64.encode(bytes, alphabet: .standard), as: UTF8.self)
        let file = "\(lines[0])\n\(written)\n\(lines[lines.count - 1])\n"
        try host.write(SSHFixture.key, file, mode: 0o600)
    }

    /// Where the key handle begins: after its length, 37, and with its version, 1.
    private func handle(in file: Bytes) throws -> Int {
        let start: Bytes = [0, 0, 0, 37, 1]
        let places = file.indices.filter { file[$0...].starts(with: start) }
        try #require(places.count == 1)
        return places[0] + 4
    }

    @Test(
        "because its handle was altered, is another account's, another machine's or unknown",
        arguments: [
            (0, "the key's file is damaged", "sshHandleMalformed"),
            (16, "the ssh key is on another machine", "sshHandleOfOtherMachine"),
            (20, "the ssh key belongs to another account", "sshHandleOfOtherAccount"),
            (36, "the ssh key does not exist any more", "unknownSshKey"),
        ])
    func handles(place: Int, text: String, reason: String) throws {
        try makeKeys()
        try alter(place)
        let terminal = try login()
        try terminal.expect(text)
        try expectLogin(terminal)
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try ssh.expectRefusal(reason)
    }

    @Test("because the service stands still, which it says and waits for: a touch counts then")
    func standstill() throws {
        try makeKeys()
        signet.suspend()
        defer { signet.resume() }
        let terminal = try login()
        try terminal.expect("preparing the fingerprint reader")
        signet.resume()
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try expectLogin(terminal)
    }

    @Test("because the lid is closed, and uses it again once that is open")
    func lid() throws {
        try makeKeys()
        let (bus, logind) = try signet.startBus()
        defer { withExtendedLifetime((bus, logind)) {} }
        // With a touch, the daemon comes to know logind.
        let first = try login()
        try first.expect(SignetFixture.invitation)
        try bus.awaitInhibitors(1)
        try signet.touch(Touch.alice)
        try expectLogin(first)
        try bus.setLid(closed: true)
        let closed = try login()
        try expectLogin(closed)
        #expect(!closed.transcript.contains(SignetFixture.invitation))
        try ssh.expectRefusal("lidClosed")
        try bus.setLid(closed: false)
        let open = try login()
        try open.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try expectLogin(open)
    }

    @Test("because the machine falls asleep meanwhile")
    func sleep() throws {
        try makeKeys()
        let (bus, logind) = try signet.startBus()
        defer { withExtendedLifetime((bus, logind)) {} }
        let terminal = try login()
        try terminal.expect(SignetFixture.invitation)
        try bus.awaitInhibitors(1)
        _ = try bus.sleep()
        try expectLogin(terminal)
        try ssh.expectRefusal("suspending")
        try bus.wake()
    }

    @Test("but for that one in the TPM is used like any other, also after the fingers changed")
    func inTPM() throws {
        try signet.shell(
            """
            mkdir -m 700 -p /run/tpm /run/tpm-state
            swtpm socket --tpm2 --daemon --server type=unixio,path=\(Self.tpm) \
                --ctrl type=unixio,path=\(Self.tpm).ctrl \
                --tpmstate dir=/run/tpm-state --flags not-need-init,startup-clear
            """)
        try host.write(
            "/etc/signet/signet.conf", "[vault]\nkind = tpm\ntpm = swtpm:path=\(Self.tpm)\n")
        try signet.stop()
        try signet.start()
        try signet.shell("signet vault migrate tpm --account alice")
        try makeKeys()
        let list = try host.run(["signet", "ssh", "list"], as: HostFixture.alice)
        #expect(list.output.contains("tpm"), "\(list.output)")
        let first = try login()
        try first.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try expectLogin(first)
        try ssh.addFinger("alice's other")
        let again = try login()
        try again.expect(SignetFixture.invitation)
        try signet.touch("alice's other")
        try expectLogin(again)
    }
}
