// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// What `import-fprintd` was told, in short.
struct Imported {
    let prints: [ImportedPrintAnswer]
    let last: Answer

    /// What became of each file, by its place.
    var outcomes: [String: ImportOutcome] {
        var found: [String: ImportOutcome] = [:]
        for print in prints {
            found[String(decoding: print.place, as: UTF8.self)] = print.outcome
        }
        return found
    }
}

/// fprintd's store beside a daemon.
extension DaemonFixture {
    var fprintd: FprintdStore { FprintdStore(path: directory + "/fprint") }

    /// Asks as root for an account's prints of fprintd.
    func importPrints(_ person: Person = .daemon, client: TestClient? = nil) throws -> Imported {
        let client = try client ?? self.client()
        try client.send(.importPrint(account: person.account))
        return try imported(by: client)
    }

    /// The files that a client is shown before the password is asked for, by their places.
    func shownBeforePassword(to client: TestClient) throws -> [String] {
        var places: [String] = []
        while true {
            switch try client.next() {
            case .some(let answer) where answer.isForetold: continue
            case .importedPrint(let print) where print.outcome == nil:
                places.append(String(decoding: print.place, as: UTF8.self))
            case .passwordWanted: return places
            case let other:
                Issue.record("\(other)")
                return places
            }
        }
    }

    /// What is left to be reported of an import that was asked for.
    func imported(by client: TestClient) throws -> Imported {
        let answers = try client.rest()
        let prints = answers.compactMap { answer -> ImportedPrintAnswer? in
            if case .importedPrint(let print) = answer { print } else { nil }
        }
        return Imported(prints: prints, last: try #require(answers.last))
    }

    /// Puts prints on the reader that keeps them itself, as fprintd's enrolment did before.
    func keepOnReader(_ ids: String...) throws {
        try restart {
            try Self.write(ids.map { $0 + "\n" }.joined(), to: directory + "/storage.prints")
        }
    }
}
