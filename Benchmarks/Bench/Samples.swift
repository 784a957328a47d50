// SPDX-License-Identifier: Apache-2.0
/// The unit of a figure: how its values are printed.
enum Unit {
    case milliseconds
    case seconds
    case instructions
    case kilobytes
    case number

    /// A value with its unit.
    func text(_ value: Double) -> String {
        switch self {
        case .milliseconds: "\(rounded(value, 1000)) ms"
        case .seconds: "\(rounded(value, 10)) s"
        case .instructions: "\(rounded(value / 1_000_000, 1000)) M"
        case .kilobytes: "\(Int(value.rounded())) KB"
        case .number: "\(rounded(value, 10))"
        }
    }

    private func rounded(_ value: Double, _ parts: Double) -> Double {
        (value * parts).rounded() / parts
    }
}

/// Values of one figure in repeated runs.
struct Samples {
    private(set) var values: [Double] = []
    /// Why the figure could not be measured; the first reason.
    private(set) var failure: String?

    /// Takes one run's value, or why there is none.
    mutating func take(_ measure: () throws -> Double) {
        guard failure == nil else { return }
        do { values.append(try measure()) } catch { failure = "\(error)" }
    }

    /// Takes the milliseconds of one run, and gives what it came to.
    mutating func time<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = monotonicNow()
        let result = try body()
        values.append(Double(monotonicNow() - start) / 1e6)
        return result
    }

    /// The value that a share of the runs does not exceed (nearest rank); nil without runs.
    func quantile(_ share: Double) -> Double? {
        let rank = Int((share * Double(values.count)).rounded(.up)) - 1
        let sorted = values.sorted()
        return sorted.indices.contains(rank) ? sorted[rank] : nil
    }

    /// The value in the middle.
    var median: Double? { quantile(0.5) }

    /// The median as a multiple of another's.
    func ratio(to other: Samples) -> String {
        guard let own = median, let other = other.median, other > 0 else { return "–" }
        return "\((own / other * 100).rounded() / 100)×"
    }

    /// Median, and the 90th percentile where there were several runs.
    func text(_ unit: Unit) -> String {
        if let failure { return "failed: \(failure)" }
        guard let median, let high = quantile(0.9) else { return "not measured" }
        return values.count < 3
            ? unit.text(median) : "\(unit.text(median)) (p90 \(unit.text(high)))"
    }
}
