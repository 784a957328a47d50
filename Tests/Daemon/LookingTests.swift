// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a request that only looks") struct LookingTests {
        private static let name = Person.daemon.bytes
        private static let looks: [Request] = [
            .status(account: name), .list(account: name), .log(LogRequest(account: name)),
            .secretList(account: name), .serverList(account: name), .signingKey(account: name),
            .macTokenList(account: name), .readers, .configuration, .vault,
            .readerPrints(ReaderPrintsRequest(.list)),
        ]

        /// What happens to the state behind the daemon's back.
        enum Plant: String, CaseIterable, CustomTestStringConvertible {
            case nothing, printGone, printAltered, printsGone, printUnlisted, strayPrint
            case credentialAltered, publicKeyGone, passwordChanged, halfWritten, receiptsCut

            var testDescription: String { rawValue }

            /// Whether login is off then.
            var endsLogin: Bool {
                switch self {
                case .nothing, .strayPrint, .passwordChanged, .halfWritten, .receiptsCut: false
                case .printGone, .printAltered, .printsGone, .printUnlisted, .credentialAltered,
                    .publicKeyGone:
                    true
                }
            }

            /// Whether the next login ends the credential, and remembers why.
            var revokes: Bool { endsLogin && self != .publicKeyGone }

            func make(_ bench: DaemonBench) throws {
                let prints = bench.file("prints", of: .daemon)
                let print = try #require(bench.prints(of: .daemon).first)
                switch self {
                case .nothing: break
                case .printGone: #expect(unsafe unlink(print) == 0)
                case .printAltered: try DaemonBench.damage(print)
                case .printsGone:
                    for path in bench.prints(of: .daemon) { #expect(unsafe unlink(path) == 0) }
                    #expect(unsafe rmdir(prints) == 0)
                case .printUnlisted:
                    try bench.kept(.daemon).prints.remove(
                        try #require(bench.kept(.daemon).prints.enrolment().prints.first).identifier
                    )
                case .strayPrint:
                    let stray = prints + "/" + String(repeating: "0", count: 32)
                    try DaemonBench.write(try Layout.read(print), to: stray)
                case .credentialAltered:
                    let path = bench.file("credential", of: .daemon)
                    try DaemonBench.write(try Layout.read(path) + [0x0A], to: path)
                case .publicKeyGone: #expect(unsafe unlink(bench.publicKey(of: .daemon)) == 0)
                case .passwordChanged: try bench.changeShadow()
                case .halfWritten:
                    for place in ["prints", "secrets", "servers"] {
                        let path = bench.file(place, of: .daemon) + "/.new-1-2"
                        try DaemonBench.write([1], to: path)
                    }
                    try DaemonBench.write([1], to: bench.state + "/keys/.new-1-2")
                case .receiptsCut:
                    let path = bench.file("receipts", of: .daemon)
                    try DaemonBench.write(Array(try Layout.read(path).dropLast(9)), to: path)
                }
            }
        }

        private let bench: DaemonBench
        private let server: PlayedServer

        init() throws {
            bench = try DaemonBench.withShadow([.text])
            try bench.enrol(.daemon, .rightIndex, as: "one")
            try bench.enrol(.daemon, .leftIndex, as: "one")
            try bench.give()
            server = try PlayedServer(for: bench)
            try bench.enablePlayed()
            #expect(
                try bench.touchEach(.signingEnable(account: Self.name), with: "one")
                    != .done(.init()))
            #expect(try bench.client().keep([1, 2, 3], "mail") == .done(DoneAnswer()))
            // What is written behind the last answer is on disk before this one.
            _ = try bench.status(of: .daemon)
        }

        @Test("changes nothing on disk, whatever it finds", arguments: Plant.allCases)
        func changesNothing(_ plant: Plant) throws {
            try plant.make(bench)
            let before = try StateImage(of: bench.state)
            for look in Self.looks {
                let client = try bench.client()
                try client.send(look)
                _ = try client.rest()
                #expect(try StateImage(of: bench.state) == before, "\(look.verb)")
            }
            let status = try bench.status(of: .daemon)
            #expect((status.state == .valid) == !plant.endsLogin)
            #expect((status.refusal == nil) == !plant.endsLogin)
            #expect(try bench.servers() == [plant.revokes ? .invalidated : .good])
            guard plant.endsLogin else {
                #expect(try bench.login(.daemon, with: "one").assertion != nil)
                return
            }
            // The login itself does, and says the same.
            let denied = try #require(try bench.ask(.login(.daemon)).denial)
            #expect(denied.reason == status.refusal?.reason && denied.cause == status.cause)
            guard plant.revokes else { return }
            #expect(status.since == nil && denied.cause != nil)
            let after = try bench.status(of: .daemon)
            #expect(after.cause == denied.cause && after.since != nil)
            #expect(Layout.entries(of: bench.state + "/keys").contains("1.off"))
        }

        @Test("tells of a password that was changed, and the next login drops it and says so")
        func stalePassword() throws {
            try bench.changeShadow()
            #expect(try bench.keyring() == .passwordChanged)
            let before = try StateImage(of: bench.state)
            #expect(try bench.keyring() == .passwordChanged)
            #expect(try StateImage(of: bench.state) == before)
            let client = try bench.client()
            let login = Request.login(.daemon, service: "login", wantsKeyring: true)
            #expect(try bench.opened(by: login, client: client) == nil)
            #expect(client.heard.filter { $0.notice?.kind == .passwordStale }.count == 1)
        }

        @Test("sees a print that was put back, and the key opens again")
        func putBack() throws {
            let print = try #require(bench.prints(of: .daemon).first)
            let bytes = try Layout.read(print)
            try DaemonBench.damage(print)
            #expect(try bench.status(of: .daemon).state == .invalidated)
            try DaemonBench.write(bytes, to: print)
            #expect(try bench.status(of: .daemon).state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }
    }
}

/// All that lies in a directory: each file's contents, number and times.
private struct StateImage: Equatable {
    private var entries: [String: [UInt64]] = [:]
    private var contents: [String: [UInt8]] = [:]

    init(of path: String) throws {
        var status = stat()
        try #require(unsafe lstat(path, &status) == 0, "\(path)")
        let modified = status.st_mtim
        entries[path] = [
            UInt64(status.st_ino), UInt64(status.st_mode),
            UInt64(bitPattern: Int64(modified.tv_sec)),
            UInt64(bitPattern: Int64(modified.tv_nsec)),
        ]
        guard status.st_mode & S_IFMT == S_IFDIR else {
            contents[path] = try Layout.read(path)
            return
        }
        for name in Layout.entries(of: path) {
            let inner = try StateImage(of: "\(path)/\(name)")
            entries.merge(inner.entries) { $1 }
            contents.merge(inner.contents) { $1 }
        }
    }
}
