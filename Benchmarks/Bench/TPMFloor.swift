// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What commands take by tpm2-tss alone, with all ready that can be (Benchmarks/tpm-floor.c).
struct TPMFloor {
    /// In one HMAC session, salted and encrypted.
    private(set) var hmac: VaultTimes
    /// With the authorisation value in clear.
    private(set) var password: VaultTimes
    private let command: [String]

    /// Against a TPM that nobody else uses meanwhile.
    init(workshop: Workshop, tcti: String) throws {
        hmac = try VaultTimes()
        password = try VaultTimes()
        command = ["\(workshop.directory)/tpm-floor", tcti]
    }

    /// Runs each command so often.
    mutating func measure(runs: Int) throws {
        // One more: the first finds everything cold.
        let outcome = try Program(Command(command + ["\(runs + 1)"]))
            .expectEnd(within: .seconds(60))
        guard outcome.succeeded else { throw BenchFault.unexpected(outcome.errors) }
        var seen: Set<String> = []
        for line in outcome.output.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let time = Double(words[2]) else { continue }
            guard !seen.insert("\(words[0]) \(words[1])").inserted,
                let operation = Self.operation(words[1])
            else { continue }
            if words[0] == "hmac" {
                hmac.take(operation, milliseconds: time / 1e6)
            } else {
                password.take(operation, milliseconds: time / 1e6)
            }
        }
    }

    private static func operation(_ name: Substring) -> VaultTimes.Operation? {
        switch name {
        case "create": .create
        case "load": .ready
        case "seal": .seal
        case "sign": .sign
        case "unseal": .unseal
        default: nil
        }
    }
}
