// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the attempts came to, and the bounds that they prove.
struct AcceptanceFigures {
    /// Attempts of one kind.
    struct Attempts {
        private(set) var count = 0
        private(set) var accepted = 0
        private(set) var durations: [Duration] = []

        mutating func add(_ outcome: SyntheticPerson.Outcome) {
            count += 1
            accepted += outcome.isAccepted ? 1 : 0
            durations.append(outcome.duration)
        }

        /// Milliseconds that a part of the touches took at most.
        func milliseconds(at part: Double) -> Double {
            let sorted = durations.sorted()
            guard !sorted.isEmpty else { return 0 }
            let index = min(sorted.count - 1, Int(part * Double(sorted.count)))
            return sorted[index] / .milliseconds(1)
        }
    }

    let fingers: Int
    var genuine = Attempts()
    var impostors = Attempts()

    init(fingers: Int) {
        self.fingers = fingers
    }

    /// The figures, a line each.
    var table: String {
        let refused = genuine.count - genuine.accepted
        return """
            fingers                          \(fingers)
            genuine attempts                 \(genuine.count), single touch
              accepted                       \(genuine.accepted)
              false rejection rate           \(Self.rate(refused, of: genuine.count))
              touch to answer, ms            \(Self.times(genuine))
            impostor attempts                \(impostors.count)
              accepted                       \(impostors.accepted)
              false acceptance rate          \(Self.rate(impostors.accepted, of: impostors.count))
              touch to answer, ms            \(Self.times(impostors))

            """
    }

    /// The probability that is not exceeded with 95 % confidence where `events` of `count` trials
    /// happened (Clopper and Pearson, one-sided): for none it is the rule of three, 3 / count.
    static func upperBound(_ events: Int, of count: Int) -> Double {
        guard events < count else { return 1 }
        var (low, high) = (Double(events) / Double(count), 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let isTooLow = cumulative(events, of: count, at: middle) > 0.05
            (low, high) = isTooLow ? (middle, high) : (low, middle)
        }
        return high
    }

    /// The binomial probability of at most `events` in `count` trials.
    private static func cumulative(_ events: Int, of count: Int, at rate: Double) -> Double {
        (0...events).reduce(0) { sum, number in
            let ways =
                lgamma(Double(count + 1)) - lgamma(Double(number + 1))
                - lgamma(Double(count - number + 1))
            let chance = Double(number) * log(rate) + Double(count - number) * log1p(-rate)
            return sum + exp(ways + chance)
        }
    }

    private static func rate(_ events: Int, of count: Int) -> String {
        guard count > 0 else { return "not measured" }
        let rate = percent(Double(events) / Double(count))
        return "\(rate), at most \(percent(upperBound(events, of: count))) (95 % confidence)"
    }

    private static func times(_ attempts: Attempts) -> String {
        "median \(rounded(attempts.milliseconds(at: 0.5))), "
            + "p90 \(rounded(attempts.milliseconds(at: 0.9)))"
    }

    private static func percent(_ value: Double) -> String {
        let hundredths = Int((value * 10_000).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }

    private static func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
