// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix

/// The process behind a client of the bus, as the bus recorded it when the client connected.
package struct BusCredentials: Sendable {
    /// The effective uid.
    package let uid: UInt32
    /// The process id; the process may have ended since, and another may have its number.
    package let pid: Int32
    /// The process itself, where the bus holds it (dbus 1.15.8, dbus-broker 36); nil for older ones.
    package let process: ProcessHandle?
}

extension BusConnection {
    /// Asks the bus who a client is, by its unique name (`GetConnectionCredentials`).
    ///
    /// - Throws: `unknown` if no client has this name, `invalidCall` for a name that is not unique,
    ///   and `malformed` if the bus does not report uid and pid.
    package func credentials(
        of client: String, limit: Duration
    ) async throws(BusFault) -> BusCredentials {
        guard client.hasPrefix(":") else { throw .invalidCall }
        let answer = try await call(
            BusCall(
                to: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
                member: "GetConnectionCredentials", arguments: [.string(client)],
                answer: "(a{sv})"), limit: limit)
        guard case .array(_, let entries)? = answer.values.first else { throw .malformed }
        var found: [String: BusValue] = [:]
        for case .entry(.string(let name), .variant(let value)) in entries { found[name] = value }
        guard let uid = found["UnixUserID"]?.uint32, let number = found["ProcessID"]?.uint32,
            let pid = Int32(exactly: number), pid > 0
        else { throw .malformed }
        var process: ProcessHandle?
        if case .handle? = found["ProcessFD"], let descriptor = answer.descriptor {
            process = try? descriptor.process(pid: pid)
        }
        return BusCredentials(uid: uid, pid: pid, process: process)
    }
}
