// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What the kernel accounts to a process (proc(5)).
enum Accounting {
    /// A value of `/proc/PID/status`: kB, or a number.
    static func status(_ pid: Int32, _ name: String) throws -> Int {
        try value(in: "/proc/\(pid)/status", name)
    }

    /// Proportional set size in kB.
    static func pss(_ pid: Int32) throws -> Int {
        try value(in: "/proc/\(pid)/smaps_rollup", "Pss")
    }

    /// What is a process's alone and was written to, in kB: what it costs the machine in any case.
    static func privateDirty(_ pid: Int32) throws -> Int {
        try value(in: "/proc/\(pid)/smaps_rollup", "Private_Dirty")
    }

    /// Context switches of each thread until now: the times it went to sleep or was interrupted.
    static func switches(_ pid: Int32) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for thread in Layout.entries(of: "/proc/\(pid)/task") {
            let path = "/proc/\(pid)/task/\(thread)/status"
            counts[thread] =
                try value(in: path, "voluntary_ctxt_switches")
                + value(in: path, "nonvoluntary_ctxt_switches")
        }
        return counts
    }

    /// Milliseconds that a process has worked until now, all its threads together.
    static func work(_ pid: Int32) throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(pid, &clock) == 0,
            unsafe clock_gettime(clock, &time) == 0
        else { throw BenchFault.unexpected("process \(pid) has no clock") }
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private static func value(in path: String, _ name: String) throws -> Int {
        let text = String(decoding: try Layout.read(path), as: UTF8.self)
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count >= 2, let value = Int(words[1]) { return value }
        }
        throw BenchFault.unexpected("\(path) tells no \(name)")
    }
}
