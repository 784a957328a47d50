import Glibc
import TestSupport

/// The server's own process, as it is installed: its start, its memory, and idle connections.
struct ServerProcessFigures {
    let directory: String
    private static let starts = 21

    /// Measures, and prints the lines.
    func measure(connections: Int) throws {
        let path = try configuration()
        try Program(Command([Self.program, "admin", "--config", path, "migrate"]))
            .expectEnd(within: .seconds(30))
        // The first one makes the keys.
        try end(try start(path))
        var starts = Samples()
        for _ in 0..<Self.starts {
            var server: Program?
            try starts.time { server = try start(path) }
            if let server { try end(server) }
        }
        print("start of signet-server until it serves, median of \(Self.starts): ", terminator: "")
        print(starts.text(.milliseconds))
        let server = try start(path)
        let port = try port(of: server)
        print("memory when it has started: \(try Accounting.status(server.pid, "VmRSS")) kB")
        try allowDescriptors(connections + 256)
        var idle: [Int32] = []
        defer { for connection in idle { close(connection) } }
        for used in [false, true] {
            if used {
                for connection in idle { try ask(connection) }
            } else {
                for _ in 0..<connections { idle.append(try connect(to: port)) }
                // The last one is served when all before it are there.
                if let last = idle.last { try ask(last) }
            }
            let memory = try Accounting.status(server.pid, "VmRSS")
            let what = used ? "that were each used once" : "that were never used"
            print("memory with \(connections) idle connections \(what): \(memory) kB")
        }
        try end(server)
    }

    private static var program: String {
        "\(Layout.products)/signet-server"
    }

    private func configuration() throws -> String {
        let path = "\(directory)/server.conf"
        let text = """
            [server]
            url = https://id.example.org
            [database]
            path = \(directory)/process.db
            [keys]
            master = \(directory)/master-secret
            [listen]
            port = 0
            connections-per-address = 0
            [log]
            requests = none

            """
        guard let file = unsafe fopen(path, "w") else { throw BenchFault.unexpected(path) }
        unsafe fputs(text, file)
        unsafe fclose(file)
        return path
    }

    private func start(_ path: String) throws -> Program {
        let server = try Program(Command([Self.program, "--config", path]))
        try server.expectError(" on port ", within: .seconds(30))
        return server
    }

    private func end(_ server: Program) throws {
        server.signal(SIGTERM)
        try server.expectEnd(within: .seconds(30))
    }

    private func port(of server: Program) throws -> UInt16 {
        guard let said = server.errors.firstMatch(of: #/serves plain HTTP on port (\d+)/#),
            let port = UInt16(said.output.1)
        else { throw BenchFault.unexpected("no port: \(server.errors)") }
        return port
    }

    private func allowDescriptors(_ count: Int) throws {
        let limit = rlim_t(count)
        var wanted = rlimit(rlim_cur: limit, rlim_max: limit)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted) == 0 else {
            throw BenchFault.unexpected("no \(count) descriptors: error \(errno)")
        }
    }

    private func connect(to port: UInt16) throws -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(number, $0, size)
            }
        }
        guard result == 0 else { throw BenchFault.unexpected("connect: error \(errno)") }
        return number
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
