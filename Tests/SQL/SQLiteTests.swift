// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import SQL
import Synchronization
import TestSupport
import Testing

@Suite("A SQLite file")
struct SQLiteTests {
    @Test("keeps everything it acknowledged when its program is killed")
    func killed() async throws {
        let scratch = try Scratch()
        let path = scratch.at("database")
        for round in 1...3 {
            let program = try Program(Command([Built.program("database-writer"), path]))
            try program.expect("\n", times: 200)
            program.signal(SIGKILL)
            let outcome = try program.expectEnd()
            let complete = outcome.output.prefix(
                through: outcome.output.lastIndex(of: "\n") ?? outcome.output.startIndex)
            let acknowledged = try complete.split(separator: "\n").map { try #require(Int64($0)) }
            #expect(acknowledged.count >= 200)
            let database = try SQLiteDatabase(path: path)
            let kept = try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run("SELECT number FROM numbers")
                    .map { (row) throws(DatabaseFault) in try row.integer(0) }
            }
            #expect(Set(kept).isSuperset(of: acknowledged), "round \(round)")
            try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run("DELETE FROM numbers")
            }
            await database.close()
        }
    }

    @Test("has writers that arrive while a commit is prepared share it")
    func shared() async throws {
        let scratch = try Scratch()
        let database = try SQLiteDatabase(path: scratch.at("database"))
        try await database.migrate(things)
        let before = database.figures.batches.snapshot
        let others = Mutex<[Task<Void, any Error>]>([])
        try await database.write { (transaction) throws(DatabaseFault) in
            for number in 1...3 as ClosedRange<Int64> {
                // Runs until it waits for its turn, which it cannot have before this one ends.
                let other = Task.immediate { try await Self.insert(number, into: database) }
                others.withLock { $0.append(other) }
            }
            try transaction.run("INSERT INTO codes (code, used) VALUES (4, 0)")
        }
        for other in others.withLock({ $0 }) { try await other.value }
        let after = database.figures.batches.snapshot
        let found = try await codes(of: database)
        #expect(found == [1, 2, 3, 4])
        #expect(after.counts.reduce(0, +) == before.counts.reduce(0, +) + 1)
        #expect(after.sum == before.sum + 4)
        await database.close()
    }

    @Test("commits when a quarter of those being answered have come, without waiting for the rest")
    func gathered() async throws {
        let scratch = try Scratch()
        let database = try SQLiteDatabase(path: scratch.at("database"), gathering: .seconds(3_600))
        try await database.migrate(things)
        let before = database.figures.batches.snapshot
        let callers = database.figures.callers
        for _ in 1...12 { callers.enter() }
        let isOver = Atomic(false)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let first = Task.immediate {
            try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run("INSERT INTO codes (code, used) VALUES (1, 0)")
                beginning.finish()
            }
            isOver.store(true, ordering: .relaxed)
        }
        for await _ in begun {}
        // Twelve are being answered, one is here: two more must come.
        let second = Task.immediate { try await Self.insert(2, into: database) }
        let wasOver = isOver.load(ordering: .relaxed)
        #expect(!wasOver)
        let third = Task.immediate { try await Self.insert(3, into: database) }
        for task in [second, third] { try await task.value }
        try await first.value
        let after = database.figures.batches.snapshot
        #expect(after.counts.reduce(0, +) == before.counts.reduce(0, +) + 1)
        #expect(after.sum == before.sum + 3)
        for _ in 1...12 { callers.leave() }
        await database.close()
    }

    @Test("does not wait where few are being answered")
    func alone() async throws {
        let scratch = try Scratch()
        let database = try SQLiteDatabase(path: scratch.at("database"), gathering: .seconds(3_600))
        try await database.migrate(things)
        database.figures.callers.enter()
        try await Self.insert(1, into: database)
        for _ in 2...7 { database.figures.callers.enter() }
        try await Self.insert(2, into: database)
        #expect(try await codes(of: database) == [1, 2])
        await database.close()
    }

    @Test("commits what it has when those on their way do not come in time, or it is closed")
    func absent() async throws {
        let scratch = try Scratch()
        for (gathering, closes) in [(Duration.milliseconds(1), false), (.seconds(3_600), true)] {
            let path = scratch.at("database-\(closes)")
            let database = try SQLiteDatabase(path: path, gathering: gathering)
            try await database.migrate(things)
            for _ in 1...100 { database.figures.callers.enter() }
            let insertion = Task.immediate { try await Self.insert(1, into: database) }
            if closes { await database.close() }
            try await insertion.value
            if !closes { await database.close() }
            let again = try SQLiteDatabase(path: path)
            #expect(try await codes(of: again) == [1])
            await again.close()
        }
    }

    private static func insert(_ number: Int64, into database: SQLiteDatabase) async throws {
        try await database.write { (transaction) throws(DatabaseFault) in
            try transaction.run(
                "INSERT INTO codes (code, used) VALUES ($1, 0)", [.integer(number)])
        }
    }

    @Test("is full when there is no space, and works again when there is")
    func full() async throws {
        let scratch = try Scratch()
        let place = scratch.at("small")
        #expect(unsafe mkdir(place, 0o700) == 0)
        #expect(unsafe mount("small", place, "tmpfs", 0, "size=1m,mode=0700") == 0)
        defer { unsafe umount2(place, Int32(MNT_DETACH)) }
        let database = try SQLiteDatabase(path: place + "/database")
        try await database.migrate(things)
        let content = [UInt8](repeating: 7, count: 20_000)
        var kept = 0
        var met: DatabaseFault?
        while met == nil && kept < 100 {
            met = await fault {
                try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.run(
                        "INSERT INTO things (content) VALUES ($1)", [.bytes(content)])
                }
            }
            if met == nil { kept += 1 }
        }
        #expect(met == .full)
        #expect(try await count(database) == kept)
        #expect(unsafe mount("small", place, "tmpfs", UInt(MS_REMOUNT), "size=4m") == 0)
        try await database.write { (transaction) throws(DatabaseFault) in
            try transaction.run("INSERT INTO things (content) VALUES ($1)", [.bytes(content)])
        }
        #expect(try await count(database) == kept + 1)
        await database.close()
    }

    @Test("is for its account alone")
    func mode() async throws {
        let scratch = try Scratch()
        let database = try SQLiteDatabase(path: scratch.at("database"))
        try await database.migrate(things)
        for name in ["database", "database-wal", "database-shm"] {
            #expect(FileLook(scratch.at(name))?.permissions == 0o600, "\(name)")
        }
        await database.close()
        #expect(unsafe chmod(scratch.at("database"), 0o644) == 0)
        try await SQLiteDatabase(path: scratch.at("database")).close()
        #expect(FileLook(scratch.at("database"))?.permissions == 0o600)
    }

    @Test("is refused if others may write to its directory, or it is not a file of ours")
    func places() async throws {
        let scratch = try Scratch()
        try await SQLiteDatabase(path: scratch.at("database")).close()
        #expect(unsafe symlink(scratch.at("database"), scratch.at("link")) == 0)
        #expect(unsafe mkdir(scratch.at("directory"), 0o700) == 0)
        for path in [
            scratch.at("link"), scratch.at("directory"), scratch.at("no/file"), "file", "/",
        ] {
            #expect(throws: DatabaseFault.self) { try SQLiteDatabase(path: path) }
        }
        #expect(unsafe chmod(scratch.path, 0o770) == 0)
        #expect(throws: DatabaseFault.self) { try SQLiteDatabase(path: scratch.at("database")) }
    }

    @Test("of another program is refused, and left as it was")
    func foreign() async throws {
        let scratch = try Scratch()
        let path = scratch.at("database")
        try await SQLiteDatabase(path: path).close()
        // The application's number is at byte 68 of the header.
        var bytes = try Layout.read(path)
        bytes[68] ^= 1
        try scratch.write("database", bytes)
        #expect(throws: DatabaseFault.broken("the file is another program's database")) {
            try SQLiteDatabase(path: path)
        }
        #expect(try Layout.read(path) == bytes)
    }

    @Test("that is damaged is refused, or says so", arguments: [0, 30, 4096 + 8])
    func damaged(offset: Int) async throws {
        let scratch = try Scratch()
        let path = scratch.at("database")
        let first = try SQLiteDatabase(path: path)
        try await first.migrate(things)
        await first.close()
        var bytes = try Layout.read(path)
        for index in offset..<min(bytes.count, offset + 60) { bytes[index] = 0xa5 }
        try scratch.write("database", bytes)
        let fault = await fault {
            let database = try SQLiteDatabase(path: path)
            try await database.migrate(things)
        }
        // A header may be damaged so that it is that of another program's database.
        switch fault {
        case .damaged: break
        case .broken: #expect(offset == 30)
        case .unavailable, .full, .busy, .newer, nil:
            Issue.record("gave \(String(describing: fault))")
        }
    }

    private func count(_ database: any Database) async throws -> Int {
        try await database.read { (transaction) throws(DatabaseFault) in
            Int(try transaction.run("SELECT COUNT(*) FROM things")[0].integer(0))
        }
    }
}
