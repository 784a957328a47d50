// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import Sealing
import TestSupport
import Testing

@Suite("the host secret")
struct HostSecretTests {
    let root: Scratch

    init() throws { root = try Scratch() }

    @Test("it is made at the first start, private, and stays unchanged ever after")
    func made() throws {
        let first = try HostSecret.load(credentials: nil, state: try open(root))
        let second = try HostSecret.load(credentials: nil, state: try open(root))
        #expect(try first.identifier() == second.identifier())
        var status = stat()
        #expect(unsafe stat(root.at("host-secret"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == 32)
    }

    @Test("two machines have different ones, and the name does not reveal the secret")
    func different() throws {
        let one = try HostSecret.load(credentials: nil, state: try open(root))
        let elsewhere = try Scratch()
        let other = try HostSecret.load(credentials: nil, state: try open(elsewhere))
        #expect(try one.identifier() != other.identifier())
        #expect(try one.identifier().count == 16)
        let stored = try #require(try open(root).read("host-secret", cap: 32))
        #expect(try Array(stored.prefix(16)) != one.identifier())
    }

    @Test("a systemd credential takes precedence over the file, and no file is made then")
    func credential() throws {
        let credentials = try Scratch()
        let known = [UInt8](repeating: 5, count: 32)
        try open(credentials).replace("signet-host-secret", bytes: known)
        let loaded = try HostSecret.load(credentials: credentials.path, state: try open(root))
        var copy = known
        let expected = try #require(HostSecret(try SecretBytes(moving: &copy)))
        #expect(try loaded.identifier() == expected.identifier())
        #expect(try open(root).list() == [])
    }

    @Test("without the credential in its directory the file is used")
    func noCredential() throws {
        let credentials = try Scratch()
        _ = try HostSecret.load(credentials: credentials.path, state: try open(root))
        #expect(try open(root).list() == ["host-secret"])
    }

    @Test("a file or credential of another size is refused and left alone", arguments: [0, 31, 33])
    func size(_ count: Int) throws {
        let bytes = [UInt8](repeating: 5, count: count)
        try open(root).replace("host-secret", bytes: bytes)
        #expect(throws: HostSecretFault.wrongSize(path: root.at("host-secret"))) {
            try HostSecret.load(credentials: nil, state: try open(root))
        }
        #expect(try open(root).read("host-secret", cap: 40) == bytes)
        let credentials = try Scratch()
        try open(credentials).replace("signet-host-secret", bytes: bytes)
        #expect(throws: HostSecretFault.wrongSize(path: credentials.at("signet-host-secret"))) {
            try HostSecret.load(credentials: credentials.path, state: try open(root))
        }
    }

    @Test("a file of another's, one that others may read, and a link are refused and left alone")
    func untrusted() throws {
        let bytes = [UInt8](repeating: 5, count: 32)
        let path = root.at("host-secret")
        try open(root).replace("host-secret", bytes: bytes)
        #expect(unsafe chmod(path, 0o640) == 0)
        refused(.untrusted(path: path, .mode(0o640)))
        #expect(unsafe chmod(path, 0o600) == 0)
        #expect(unsafe chown(path, 4711, 0) == 0)
        refused(.untrusted(path: path, .owner(4711)))
        #expect(unsafe chown(path, 0, 0) == 0)
        #expect(unsafe rename(path, root.at("real")) == 0)
        #expect(unsafe symlink("real", path) == 0)
        refused(.untrusted(path: path, .wrongKind))
        #expect(try open(root).read("real", cap: 32) == bytes)
    }

    @Test("a full disk at the first start is a fault, and leaves nothing that looks like a secret")
    func fullDisk() throws {
        for step in [DurableStep.create, .write, .writeHalf, .synchronise, .rename] {
            let faults = DurableFaults { (reached, name) throws(SystemFault) in
                if reached == step { throw SystemFault("test", on: name, code: ENOSPC) }
            }
            let state = try Directory.open(root.path, faults: faults)
            #expect(throws: HostSecretFault.self) {
                try HostSecret.load(credentials: nil, state: state)
            }
            #expect(try open(root).list() == [])
        }
    }

    private func open(_ scratch: Scratch) throws -> Directory { try Directory.open(scratch.path) }

    private func refused(_ fault: FileFault) {
        #expect(throws: HostSecretFault.file(fault)) {
            try HostSecret.load(credentials: nil, state: try open(root))
        }
    }
}
