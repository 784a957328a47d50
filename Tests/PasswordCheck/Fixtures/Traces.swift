// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes

/// What /proc shows of a process while it runs.
struct Traces {
    let commandLine: String
    let environment: String
    let status: String
    let coreLimit: [String]

    init(of process: pid_t) throws {
        commandLine = try Self.text("/proc/\(process)/cmdline")
        environment = try Self.text("/proc/\(process)/environ")
        status = try Self.text("/proc/\(process)/status")
        let limits = try Self.text("/proc/\(process)/limits").split(separator: "\n")
        coreLimit =
            limits.first { $0.hasPrefix("Max core file size") }
            .map { $0.split(separator: " ").suffix(3).map(String.init) } ?? []
    }

    /// The process that a pidfd stands for.
    static func process(behind descriptor: Int32) throws -> pid_t {
        let lines = try text("/proc/self/fdinfo/\(descriptor)").split(separator: "\n")
        let value = lines.first { $0.hasPrefix("Pid:") }?.split(separator: "\t").last
        guard let value, let process = pid_t(value) else {
            throw PrivateThread.Fault(step: "fdinfo", code: 0)
        }
        return process
    }

    private static func text(_ path: String) throws -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw PrivateThread.Fault(step: path, code: errno) }
        defer { _ = close(file) }
        var buffer = [UInt8](repeating: 0, count: 16384)
        let count = unsafe read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
