// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// The server's own process, as it is installed: its start, its memory, and idle connections.
struct ServerProcessFigures {
    let directory: String
    private static let starts = 21

    /// Measures, and prints the lines.
    func measure(connections: Int) throws {
        let process = try BenchServer(in: directory)
        var starts = Samples()
        for _ in 0..<Self.starts {
            var server: Program?
            try starts.time { server = try process.start() }
            if let server { try process.end(server) }
        }
        print("start of signet-server until it serves, median of \(Self.starts): ", terminator: "")
        print(starts.text(.milliseconds))
        let server = try process.start()
        let started = try Memory(of: server)
        print()
        print("| signet-server, memory | RSS | PSS | more than at the start | of each connection |")
        print("|---|---|---|---|---|")
        print("| when it has started | \(started.text) | – | – |")
        try allowDescriptors(connections + 256)
        var idle: [Int32] = []
        defer { for connection in idle { close(connection) } }
        for used in [false, true] {
            if used {
                for connection in idle { try ask(connection) }
            } else {
                for _ in 0..<connections { idle.append(try process.connect(to: server)) }
                // The last one is served when all before it are there.
                if let last = idle.last { try ask(last) }
            }
            let memory = try Memory(of: server)
            let more = memory.resident - started.resident
            let what = used ? "each used once" : "never used"
            let each = (Double(more) / Double(connections) * 10).rounded() / 10
            print(
                "| with \(connections) idle connections, \(what) | \(memory.text) "
                    + "| \(more) kB | \(each) kB |")
        }
        try process.end(server)
    }

    /// What a process occupies, in kB.
    private struct Memory {
        let resident: Int
        let proportional: Int

        init(of program: Program) throws {
            resident = try Accounting.status(program.pid, "VmRSS")
            proportional = try Accounting.pss(program.pid)
        }

        /// Both, as a table has them.
        var text: String { "\(resident) kB | \(proportional) kB" }
    }

    private func allowDescriptors(_ count: Int) throws {
        let limit = rlim_t(count)
        var wanted = rlimit(rlim_cur: limit, rlim_max: limit)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted) == 0 else {
            throw BenchFault.unexpected("no \(count) descriptors: error \(errno)")
        }
    }

    /// Asks whether the server lives, and waits for the whole answer.
    private func ask(_ connection: Int32) throws {
        let request = Array("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        guard unsafe send(connection, request, request.count, Int32(MSG_NOSIGNAL)) > 0
        else { throw BenchFault.unexpected("a connection was closed") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while !answer.ends(with: Array("live\n".utf8)) {
            let count = unsafe read(connection, &buffer, buffer.count)
            guard count > 0 else { throw BenchFault.unexpected("a connection was closed") }
            answer += buffer[..<count]
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with text: [UInt8]) -> Bool { suffix(text.count).elementsEqual(text) }
}
