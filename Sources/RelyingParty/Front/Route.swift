// SPDX-License-Identifier: Apache-2.0
/// Who may make a call, and how the caller is authenticated.
enum RouteAccess: Sendable {
    /// Anyone; if the call needs a proof, it is in the body.
    case anybody
    /// An application, with an API key that has this scope, or the other one.
    case application(Scope, or: Scope? = nil)
    /// An application with an API key of this scope, possibly from the cache of API keys.
    ///
    /// Only for calls that check the key again in their own transaction, since the cached entry may
    /// be out of date.
    case rememberedApplication(Scope)
    /// A device: the request is signed with a registered key, or carries a MAC.
    case device
    /// A device, whatever the application's policy, since it may always end what it has: its own
    /// token, and sessions.
    case leavingDevice
}

/// A row of the table of calls; a path and method without a row is not served.
struct Route: Sendable {
    let method: String
    /// The parts of the path; `{…}` matches any one part.
    private let path: [Path.Part]
    /// The path as written in the table, which logs show instead of the actual path.
    let pattern: String
    let caller: RouteAccess
    /// What a call costs its network; nil for calls that cost it nothing.
    let limit: CallLimit?
    let answer: @Sendable (Service, Call) async throws(Problem) -> CallResult

    init(
        _ method: String, path: String, caller: RouteAccess, limit: CallLimit? = nil,
        _ answer: @escaping @Sendable (Service, Call) async throws(Problem) -> CallResult
    ) {
        self.method = method
        self.path = Path.parts(of: path) ?? []
        pattern = path
        self.caller = caller
        self.limit = limit
        self.answer = answer
    }

    /// The call as the audit trail names it, without what the caller put into its path.
    var call: String { "\(method) \(pattern)" }

    /// Whether the path has parameters.
    var isOpen: Bool { path.contains { $0.first == UInt8(ascii: "{") } }

    /// Returns the values of the path parameters if this row matches the path; otherwise nil.
    func parameters(of parts: [Path.Part]) -> [String]? {
        guard parts.count == path.count else { return nil }
        for (want, part) in zip(path, parts) where want.first != UInt8(ascii: "{") {
            guard want == part else { return nil }
        }
        var open: [String] = []
        for (want, part) in zip(path, parts) where want.first == UInt8(ascii: "{") {
            open.append(String(decoding: part, as: UTF8.self))
        }
        return open
    }
}

/// Splits paths by bytes: as a Character, a slash with a combining accent would not be a slash.
enum Path {
    typealias Part = ArraySlice<UInt8>

    /// The parts between the slashes; nil if there is no leading slash, or if a part is empty.
    ///
    /// So each call has exactly one path, and a filter in front of the server cannot be bypassed.
    static func parts(of path: String) -> [Part]? {
        let bytes = [UInt8](path.utf8)
        let slash = UInt8(ascii: "/")
        guard bytes.first == slash else { return nil }
        var parts: [Part] = []
        parts.reserveCapacity(4)
        var start = 1
        for place in 1..<max(1, bytes.count) where bytes[place] == slash {
            guard place > start else { return nil }
            parts.append(bytes[start..<place])
            start = place + 1
        }
        guard start < bytes.count || bytes.count == 1 else { return nil }
        if start < bytes.count { parts.append(bytes[start...]) }
        return parts
    }
}
