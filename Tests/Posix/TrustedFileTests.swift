// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("trusted files")
struct TrustedFileTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("a root-owned file below root-owned directories is read")
    func reads() throws {
        try scratch.write("key", "hello", mode: 0o644)
        #expect(try TrustedFile.read(scratch.at("key"), cap: 5) == Array("hello".utf8))
    }

    @Test("a file one byte over the cap is refused")
    func cap() throws {
        try scratch.write("key", "hello!", mode: 0o644)
        #expect(throws: FileFault.tooLarge(path: scratch.at("key"))) {
            try TrustedFile.read(scratch.at("key"), cap: 5)
        }
    }

    @Test("a file that group or others may write to is refused", arguments: [0o620, 0o602, 0o666])
    func mode(_ mode: UInt32) throws {
        try scratch.write("key", "hello", mode: mode)
        refused(.mode(mode))
    }

    @Test("a file that others may read is refused where it must be private")
    func privacy() throws {
        try scratch.write("key", "hello", mode: 0o640)
        #expect(throws: FileFault.untrusted(path: scratch.at("key"), .mode(0o640))) {
            try TrustedFile.read(scratch.at("key"), isPrivate: true, cap: 9)
        }
    }

    @Test("another's file is refused, unless that account was allowed")
    func owner() throws {
        try scratch.write("key", "hello")
        #expect(unsafe chown(scratch.at("key"), 4711, 4711) == 0)
        refused(.owner(4711))
        #expect(try TrustedFile.read(scratch.at("key"), owner: 4711, cap: 9).count == 5)
        #expect(throws: FileFault.untrusted(path: scratch.at("key"), .owner(4711))) {
            try TrustedFile.read(scratch.at("key"), owner: 4712, cap: 9)
        }
    }

    @Test("a symbolic link in place of the file is refused")
    func link() throws {
        try scratch.write("real", "hello")
        #expect(unsafe symlink(scratch.at("real"), scratch.at("key")) == 0)
        refused(.wrongKind)
    }

    @Test("a second hard link is refused")
    func hardLink() throws {
        try scratch.write("key", "hello")
        #expect(unsafe Glibc.link(scratch.at("key"), scratch.at("other")) == 0)
        refused(.linked)
    }

    @Test("a pipe in place of the file is refused without waiting for a writer")
    func pipe() throws {
        #expect(unsafe mkfifo(scratch.at("key"), 0o600) == 0)
        refused(.wrongKind)
    }

    @Test("a directory in place of the file is refused")
    func directory() throws {
        #expect(unsafe mkdir(scratch.at("key"), 0o700) == 0)
        refused(.wrongKind)
    }

    @Test("a symbolic link among the directories is refused")
    func linkedParent() throws {
        #expect(unsafe mkdir(scratch.at("real"), 0o700) == 0)
        try scratch.write("real/key", "hello")
        #expect(unsafe symlink("real", scratch.at("way")) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("way"), .wrongKind)) {
            try TrustedFile.read(scratch.at("way/key"), cap: 9)
        }
    }

    @Test(
        "a directory that others may write to is refused, sticky or not",
        arguments: [0o777, 0o1777])
    func sharedParent(_ mode: UInt32) throws {
        #expect(unsafe mkdir(scratch.at("way"), 0o700) == 0)
        try scratch.write("way/key", "hello")
        #expect(unsafe chmod(scratch.at("way"), mode) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("way"), .mode(mode))) {
            try TrustedFile.read(scratch.at("way/key"), cap: 9)
        }
    }

    @Test(
        "paths that are not plain and absolute are refused",
        arguments: ["key", "", "/", "//etc/passwd", "/etc/", "/etc/../etc/passwd", "/./etc/passwd"])
    func shape(_ path: String) {
        #expect(throws: FileFault.untrusted(path: path, .notAbsolute)) {
            try TrustedFile.read(path, cap: 100_000)
        }
    }

    @Test("a missing file is reported as missing")
    func missing() throws {
        do {
            _ = try TrustedFile.read(scratch.at("key"), cap: 9)
            Issue.record("read a file that is not there")
        } catch { #expect(error.isMissing) }
    }

    private func refused(_ distrust: Distrust) {
        #expect(throws: FileFault.untrusted(path: scratch.at("key"), distrust)) {
            try TrustedFile.read(scratch.at("key"), cap: 100)
        }
    }
}
