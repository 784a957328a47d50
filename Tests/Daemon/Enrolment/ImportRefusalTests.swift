// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("what fprintd's store should not have") struct ImportRefusalTests {
        private static let driver = "daemon/virtual_device"
        private static let place = driver + "/0/1"

        /// The genuine print of a thumb, with some of its bytes changed to others of equal number.
        private static func thumb(
            _ text: String = "", as other: String = "", finger: Finger = .leftThumb
        ) throws -> Bytes {
            var bytes = try FprintdStore.genuine("daemon", .text, .rightIndex)
            try #require(bytes[25] == Finger.rightIndex.rawValue)
            bytes[25] = finger.rawValue
            // Another print than that of the right index.
            bytes[43...45] = Bytes("uno".utf8)[...]
            guard !text.isEmpty else { return bytes }
            let (from, to) = (Bytes(text.utf8), Bytes(other.utf8))
            let start = try #require(
                bytes.indices.first { bytes[$0...].starts(with: from) })
            bytes.replaceSubrange(start..<start + from.count, with: to)
            return bytes
        }

        /// Something in the place of the print of a thumb; the path is that of the file.
        struct Bad: Sendable, CustomTestStringConvertible {
            let outcome: ImportOutcome
            let testDescription: String
            var place = "virtual_device/0/1"
            let make: @Sendable (_ store: FprintdStore, _ path: String) throws -> Void

            init(
                _ outcome: ImportOutcome, _ description: String,
                place: String = "virtual_device/0/1",
                _ make: @escaping @Sendable (FprintdStore, String) throws -> Void
            ) {
                self.outcome = outcome
                testDescription = description
                self.place = place
                self.make = make
            }

            /// The same with bytes in a file.
            init(
                _ outcome: ImportOutcome, _ description: String,
                place: String = "virtual_device/0/1", mode: UInt32 = 0o644,
                _ bytes: @escaping @Sendable () throws -> Bytes
            ) {
                self.init(outcome, description, place: place) { store, _ in
                    try store.write(try bytes(), at: "daemon/\(place)", mode: mode)
                }
            }
        }

        static let bad: [Bad] = [
            Bad(.malformed, "an empty file") { [] },
            Bad(.malformed, "a text") { Bytes("hello\n".utf8) },
            Bad(.malformed, "a print cut short") { Array(try thumb().dropLast()) },
            Bad(.malformed, "a print with something behind it") { try thumb() + [0] },
            Bad(.malformed, "a print of an earlier form") {
                Bytes("FP2".utf8) + (try thumb())[3...]
            },
            Bad(.malformed, "a damaged print") {
                var bytes = try thumb()
                bytes[bytes.count - 2] ^= 0x40
                return bytes
            },
            Bad(.malformed, "zeros as far as a print can go") {
                Bytes(repeating: 0, count: 1 << 20)
            },
            Bad(.tooLarge, "a file that no print fills") {
                Bytes(repeating: 0, count: (1 << 20) + 1)
            },
            Bad(.otherReader, "a print of another driver") {
                try thumb("virtual_device", as: "another_driver")
            },
            Bad(.otherReader, "a print of another device") {
                try thumb("\u{0}0\u{0}", as: "\u{0}1\u{0}")
            },
            Bad(.noReader, "a print of a driver that is not here", place: "another_driver/0/1") {
                try thumb("virtual_device", as: "another_driver")
            },
            Bad(.noReader, "a print of a device that is not here", place: "virtual_device/1/1") {
                try thumb("\u{0}0\u{0}", as: "\u{0}1\u{0}")
            },
            Bad(.otherFinger, "a print of another finger") { try thumb(finger: .leftRing) },
            Bad(.otherAccount, "a print of another account") { try thumb("daemon", as: "nobody") },
            Bad(.malformed, "a print with an account's name that is cut short") {
                try thumb("daemon", as: "root\u{0}\u{0}")
            },
            Bad(.foreign, "a file of no finger", place: "virtual_device/0/b") { try thumb() },
            Bad(.foreign, "a finger in two digits", place: "virtual_device/0/01") { try thumb() },
            Bad(.foreign, "what an interrupted write left", place: "virtual_device/0/1.X3K2Q0") {
                try thumb()
            },
            Bad(.foreign, "a hidden directory", place: ".driver") { _, path in
                #expect(unsafe mkdir(path, 0o700) == 0)
            },
            Bad(.writable, "a file that others may write to", mode: 0o666) { try thumb() },
            Bad(.otherOwner, "a file of another owner") { store, path in
                try store.write(try thumb(), at: place)
                #expect(unsafe chown(path, 5, 0) == 0)
            },
            Bad(.linked, "a file with a second name") { store, path in
                try store.write(try thumb(), at: "elsewhere")
                #expect(unsafe link(store.path + "/elsewhere", path) == 0)
            },
            Bad(.notPlain, "a link to a print") { store, path in
                try store.write(try thumb(), at: "elsewhere")
                #expect(unsafe symlink(store.path + "/elsewhere", path) == 0)
            },
            Bad(.notPlain, "a directory") { _, path in #expect(unsafe mkdir(path, 0o700) == 0) },
            Bad(.notPlain, "a pipe without a writer") { _, path in
                #expect(unsafe mkfifo(path, 0o600) == 0)
            },
            Bad(.notPlain, "a file in a driver's place", place: "stray") { try thumb() },
            Bad(.notPlain, "a link in a driver's place", place: "another") { store, path in
                try store.write(try thumb(), at: "elsewhere/0/1")
                #expect(unsafe symlink(store.path + "/elsewhere", path) == 0)
            },
            Bad(.writable, "a directory that others may write to", place: "open") { _, path in
                #expect(unsafe mkdir(path, 0o700) == 0 && chmod(path, 0o777) == 0)
            },
            Bad(.otherOwner, "a directory of another owner", place: "theirs") { _, path in
                #expect(unsafe mkdir(path, 0o700) == 0 && chown(path, 5, 0) == 0)
            },
        ]

        @Test("each is refused for its own reason, and the rest is imported")
        func refused() throws {
            let fixture = try DaemonFixture([.text])
            for bad in Self.bad {
                try fixture.fprintd.add("daemon", .text, .rightIndex)
                try bad.make(fixture.fprintd, "\(fixture.fprintd.path)/daemon/\(bad.place)")
                let imported = try fixture.importPrints()
                #expect(
                    imported.outcomes == [
                        "virtual_device/0/7": .imported, bad.place: bad.outcome,
                    ], "\(bad.testDescription)")
                #expect(imported.last.done == DoneAnswer(prints: 1, state: .valid))
                let login = try fixture.touchEach(.login(.daemon, tries: 1), with: "one")
                #expect(login.assertion != nil, "\(bad.testDescription)")
                let deleted = try fixture.ask(
                    .delete(account: Person.daemon.account, finger: nil))
                #expect(deleted.done?.prints == 0)
                DaemonFixture.remove(fixture.fprintd.path)
            }
            #expect(fixture.program.ended == nil)
        }

        @Test("the thumb that they are made of is imported itself")
        func sound() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.fprintd.write(try Self.thumb(), at: Self.place)
            #expect(try fixture.importPrints().outcomes == ["virtual_device/0/1": .imported])
            let login = try fixture.touchEach(.login(.daemon, tries: 1), with: "uno")
            #expect(login.assertion != nil)
        }

        @Test("a store that is not root's alone, or no directory, is not used at all")
        func store() throws {
            let fixture = try DaemonFixture([.text])
            let path = fixture.fprintd.path
            let own = path + "/daemon"
            let ways: [(String, () -> Bool)] = [
                (path, { unsafe chmod(path, 0o777) == 0 }),
                (path, { unsafe chown(path, 5, 0) == 0 }),
                (own, { unsafe chmod(own, 0o770) == 0 }), (own, { unsafe chown(own, 1, 1) == 0 }),
                (own, { unsafe rename(own, path + "/x") == 0 && symlink(path + "/x", own) == 0 }),
                (path, { unsafe rename(path, path + "2") == 0 && symlink(path + "2", path) == 0 }),
            ]
            for (what, spoil) in ways {
                try fixture.fprintd.add("daemon", .text, .rightIndex)
                #expect(spoil())
                let imported = try fixture.importPrints()
                #expect(imported.prints.isEmpty)
                #expect(imported.last.reason == .storage)
                let told = String(decoding: imported.last.denial?.subject ?? [], as: UTF8.self)
                #expect(told.hasPrefix(what + " "), "\(told)")
                DaemonFixture.remove(path)
            }
            #expect(try fixture.status(of: .daemon).prints == 0)
        }

        @Test("more files than prints can be are not looked at")
        func tooMany() throws {
            let fixture = try DaemonFixture([.text])
            for number in 0..<205 {
                try fixture.fprintd.write([], at: "\(Self.driver)/0/z\(number)")
            }
            let imported = try fixture.importPrints()
            #expect(imported.prints.count == 201)
            #expect(imported.prints.last?.outcome == .tooMany)
            #expect(imported.last.done?.prints == 0)
        }

        @Test("no damage to a print ends the daemon")
        func damaged() throws {
            let fixture = try DaemonFixture([.text])
            var random = Seeded(seed: 1)
            let good = try Self.thumb()
            for _ in 0..<60 {
                for finger in Finger.allCases {
                    var bytes = good
                    bytes[25] = finger.rawValue
                    for _ in 0...Int.random(in: 0..<4, using: &random) {
                        let position = Int.random(in: bytes.indices, using: &random)
                        switch Int.random(in: 0..<3, using: &random) {
                        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                        case 1: bytes.remove(at: position)
                        default: bytes.insert(0, at: position)
                        }
                    }
                    let digit = String(finger.rawValue, radix: 16)
                    try fixture.fprintd.write(bytes, at: "\(Self.driver)/0/\(digit)")
                }
                let imported = try fixture.importPrints()
                #expect(imported.prints.count == Finger.allCases.count)
                #expect(imported.last.done != nil)
                // What came through is read for a login, and deleted again.
                let request = Request.login(.daemon, tries: 1, milliseconds: 1)
                #expect(try fixture.ask(request).denial != nil)
                _ = try fixture.ask(.delete(account: Person.daemon.account, finger: nil))
            }
            #expect(fixture.program.ended == nil)
        }
    }
}
