// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What nobody can be faster than, measured with libfprint alone (Benchmarks/floor.c).
struct Floor {
    /// Milliseconds from a touch to libfprint's answer.
    private(set) var match = Samples()
    /// Milliseconds for one signature and its verification.
    private(set) var crypto = Samples()

    /// Runs it in the fixture; `directory` is the one that prepare.sh filled.
    init(on host: HostFixture, directory: String, runs: Int) throws {
        let path = "/run/bench/floor-reader"
        let reader = host.path(path)
        try host.run(["mkdir", "-p", "/run/bench"])
        let program = try host.start(
            ["\(directory)/floor", "\(runs)"],
            environment: [
                "FP_VIRTUAL_DEVICE_STORAGE": path,
                "FP_DRIVERS_WHITELIST": "virtual_device_storage",
            ])
        try program.expect("enrolling")
        let person = VirtualReader(path: reader)
        for _ in 0..<5 { try person.send(.scan("floor")) }
        var touched: [Int64] = []
        for run in 1...runs {
            try program.expect("waiting \(run)\n")
            usleep(Probe.reactionMicroseconds)
            touched.append(monotonicNow())
            try deliver("SCAN floor", to: reader)
        }
        let outcome = try program.expectEnd()
        guard outcome.succeeded else { throw BenchFault.unexpected("floor: \(outcome)") }
        for (end, start) in zip(Self.values(of: "matched", in: outcome.output), touched) {
            match.take { Double(end - start) / 1e6 }
        }
        for time in Self.values(of: "crypto", in: outcome.output) {
            crypto.take { Double(time) / 1e6 }
        }
    }

    private static func values(of name: String, in output: String) -> [Int64] {
        output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 2 && words[0] == name ? Int64(words[1]) : nil
        }
    }
}
