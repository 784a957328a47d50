// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Instructions that callgrind counted, by the object file they belong to.
struct Callgrind {
    private let costs: [String: Double]

    /// Of the whole run.
    var total: Double { costs.values.reduce(0, +) }

    /// Of a run, but for those of one library.
    func total(without library: String) -> Double {
        costs.filter { !$0.key.contains(library) }.values.reduce(0, +)
    }

    /// The command that runs a program and leaves its counts in a file.
    static func command(into file: String) -> [String] {
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=\(file)"]
    }

    /// Reads callgrind's profile format: `ob=(number) name` changes the object, the line after
    /// `calls=` tells what the callee cost and is counted there already, other lines that begin
    /// with a position end with a cost.
    init(profile: String) throws {
        var names: [Substring: String] = [:]
        var costs: [String: Double] = [:]
        var object = ""
        var isCall = false
        for line in profile.split(separator: "\n") {
            if line.hasPrefix("ob=") {
                let parts = line.dropFirst(3).split(separator: " ", maxSplits: 1)
                guard let number = parts.first else { continue }
                if parts.count == 2 { names[number] = String(parts[1]) }
                object = names[number] ?? String(number)
            } else if line.hasPrefix("cob=") {
                let parts = line.dropFirst(4).split(separator: " ", maxSplits: 1)
                if parts.count == 2 { names[parts[0]] = String(parts[1]) }
            } else if line.hasPrefix("calls=") {
                isCall = true
            } else if let first = line.first, first.isNumber || "+-*".contains(first) {
                let words = line.split(separator: " ")
                if !isCall, words.count == 2, let cost = Double(words[1]) {
                    costs[object, default: 0] += cost
                }
                isCall = false
            }
        }
        guard !costs.isEmpty else { throw BenchFault.unexpected("callgrind left no profile") }
        self.costs = costs
    }
}
