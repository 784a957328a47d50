// SPDX-License-Identifier: Apache-2.0
import Glibc
import SQL

/// Writes until it is killed, or cannot.
func write(to path: String) async {
    do {
        let database = try SQLiteDatabase(path: path)
        try await database.migrate([
            Migration(1, statements: ["CREATE TABLE numbers (number BIGINT PRIMARY KEY)"])
        ])
        await withTaskGroup(of: Void.self) { group in
            for first in 0..<16 {
                group.addTask { await writeNumbers(from: Int64(first), by: 16, to: database) }
            }
        }
    } catch {
        print("failed: \(error)")
    }
}

private func writeNumbers(from first: Int64, by step: Int64, to database: any Database) async {
    var number = first
    do {
        while true {
            let written = number
            try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run("INSERT INTO numbers VALUES ($1)", [.integer(written)])
            }
            say("\(number)\n")
            number += step
        }
    } catch {
        say("failed: \(error)\n")
    }
}

/// One write of the whole line: nothing is lost with the process.
private func say(_ line: String) {
    let bytes = Array(line.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
}
