// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

/// The daemon's state as it lies on disk, seen and changed beside it.
extension DaemonFixture {
    /// What is kept for an account. The directory has one writer: ask only while nothing runs.
    func kept(_ person: Person) throws -> AccountState {
        try #require(
            try StateDirectory.open(state).account(person.account, uid: person.uid))
    }

    /// The failed matches as they are on disk.
    func failures(of person: Person) throws -> UInt32 {
        let text = try String(decoding: Layout.read(file("lockout", of: person)), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("failures: ") })
        return try #require(UInt32(line.dropFirst("failures: ".count)))
    }

    /// Writes failed matches to disk, as if they had happened long ago.
    func setFailures(_ count: UInt32, of person: Person) throws {
        try kept(person).lockout.save(Lockout(failures: count, pausedAt: nil))
    }

    /// The files of an account's prints.
    func prints(of person: Person) -> [String] {
        let directory = file("prints", of: person)
        return Layout.entries(of: directory).map { "\(directory)/\($0)" }
    }

    /// Changes one byte of a file in its middle.
    static func damage(_ path: String) throws {
        var bytes = try Layout.read(path)
        bytes[bytes.count / 2] ^= 1
        try write(bytes, to: path)
    }
}
