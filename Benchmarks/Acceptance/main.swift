// SPDX-License-Identifier: Apache-2.0
import Glibc

// libfprint matches synthetic fingers: how often the owner is refused, and another let in.
let numbers = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
guard numbers.count <= 4, numbers.allSatisfy({ $0 > 0 }) else {
    print("usage: fingerprint-acceptance [FINGERS [GENUINE-EACH [IMPOSTORS-EACH [SEED]]]]")
    exit(2)
}
do {
    let figures = try await Acceptance.measured(
        fingers: numbers.first ?? 50, genuine: numbers.dropFirst().first ?? 4,
        impostors: numbers.dropFirst(2).first ?? 25,
        firstSeed: UInt64(numbers.dropFirst(3).first ?? 1))
    print(figures.table, terminator: "")
} catch {
    print("fingerprint-acceptance: \(error)")
    exit(1)
}
