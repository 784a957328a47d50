// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL

/// The parameters of a connection, parsed from a connection string by libpq (PQconninfoParse).
///
/// Timeouts and keepalives are added where the string sets none. The encoding is always UTF-8, and
/// only a server that can write is used: a standby lags behind, and does not know yet what was revoked.
/// The passwords in the string are remembered, so that `redact` can keep them out of messages.
struct ConnectionParameters: Sendable {
    /// The keywords, by libpq's names.
    private(set) var keywords: [String] = []
    /// The values, in the order of `keywords`.
    private(set) var values: [String] = []
    private var secrets: [String] = []

    /// Defaults that limit how long to wait for a server that does not respond.
    private static let defaults = [
        ("application_name", "signet-server"), ("connect_timeout", "5"),
        ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
    ]

    /// Parses a connection string: `host=… dbname=… sslmode=verify-full …`, or `postgresql://…`.
    ///
    /// - Throws: `.broken` without a quotation of the string, which may contain a password, also if
    ///   it asks for another kind of server.
    init(_ string: String) throws(DatabaseFault) {
        var problem: UnsafeMutablePointer<CChar>?
        defer { unsafe PQfreemem(problem) }
        guard !string.utf8.contains(0), let options = unsafe PQconninfoParse(string, &problem)
        else {
            throw .broken("the connection string is not one of PostgreSQL's")
        }
        defer { unsafe PQconninfoFree(options) }
        var next = unsafe options
        while let keyword = unsafe next.pointee.keyword {
            if let value = unsafe next.pointee.val {
                try add(unsafe String(cString: keyword), unsafe String(cString: value))
            }
            unsafe next += 1
        }
        for (keyword, value) in Self.defaults where !keywords.contains(keyword) {
            try add(keyword, value)
        }
        keywords += ["client_encoding", "target_session_attrs"]
        values += ["UTF8", "read-write"]
    }

    /// Whether there is no other server to turn to.
    var namesOneServer: Bool {
        zip(keywords, values).allSatisfy { keyword, value in
            !["host", "hostaddr"].contains(keyword) || !value.contains(",")
        }
    }

    /// The same parameters, with which a server that cannot write is connected to as well.
    var ofAnyKind: ConnectionParameters {
        var other = self
        other.values[other.values.count - 1] = "any"
        return other
    }

    /// Makes one line of at most 300 characters from a message of libpq.
    ///
    /// A message that contains a password is replaced as a whole.
    func redact(_ text: String) -> String {
        let isTelling = secrets.contains { text.contains($0) }
        guard !isTelling else { return "the connection failed" }
        let words = text.split { $0.isWhitespace || $0 == "\0" }
        return String(words.joined(separator: " ").prefix(300))
    }

    private mutating func add(_ keyword: String, _ value: String) throws(DatabaseFault) {
        guard keyword != "client_encoding" else { return }
        if keyword == "target_session_attrs" {
            // A primary is the server that can write, unless it is set to refuse that.
            guard ["read-write", "primary"].contains(value) else {
                throw .broken(
                    "the connection string asks for target_session_attrs=\(value): leave that out")
            }
            return
        }
        keywords.append(keyword)
        values.append(value)
        if keyword == "password" || keyword == "sslpassword", !value.isEmpty {
            secrets.append(value)
        }
    }
}
