// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// The server's own process, as it is installed, on SQLite in a directory of its own.
struct BenchServer {
    let directory: String
    private let path: String

    /// Writes the configuration, and has the program make database and keys.
    init(in directory: String) throws {
        self.directory = directory
        path = "\(directory)/server.conf"
        try Self.write(
            path,
            """
            [server]
            url = \(ServerSite.issuer)
            [database]
            path = \(directory)/process.db
            [keys]
            master = \(directory)/master-secret
            [listen]
            port = 0
            connections-per-address = 0
            [log]
            requests = none

            """)
        try Program(Command([Self.program, "admin", "--config", path, "migrate"]))
            .expectEnd(within: .seconds(30))
        // The first one makes the keys.
        try end(try start())
    }

    /// The file of the database.
    var database: String { "\(directory)/process.db" }
    /// The file of the master secret, 32 bytes.
    var master: String { "\(directory)/master-secret" }

    /// Starts it, and waits until it serves.
    func start() throws -> Program {
        let server = try Program(Command([Self.program, "--config", path]))
        try server.expectError(" on port ", within: .seconds(30))
        return server
    }

    /// Ends it as systemd does.
    func end(_ server: Program) throws {
        server.signal(SIGTERM)
        try server.expectEnd(within: .seconds(30))
    }

    /// A new connection to it.
    func connect(to server: Program) throws -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = try port(of: server).bigEndian
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

    private static var program: String {
        "\(Layout.products)/signet-server"
    }

    private static func write(_ path: String, _ text: String) throws {
        guard let file = unsafe fopen(path, "w") else { throw BenchFault.unexpected(path) }
        unsafe fputs(text, file)
        unsafe fclose(file)
    }

    private func port(of server: Program) throws -> UInt16 {
        guard let said = server.errors.firstMatch(of: #/serving plain HTTP on port (\d+)/#),
            let port = UInt16(said.output.1)
        else { throw BenchFault.unexpected("no port: \(server.errors)") }
        return port
    }
}
