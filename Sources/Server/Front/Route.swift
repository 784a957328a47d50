// SPDX-License-Identifier: Apache-2.0
/// Who may make a call.
enum Caller: Sendable {
    /// Anybody: what proves something is in the body.
    case anybody
    /// Who has an API key, for its application.
    case application
    /// The same, for a call that asks whether the key holds in the transaction of its own that
    /// decides: what is known of the key's application may be from before.
    case rememberedApplication
    /// Who signed the request itself with a registered key, or has a MAC token.
    case device
    /// The same, whatever the application's policy: taking back what it has is a device's own right.
    case leavingDevice
}

/// One row of the table of calls. What has no row is not served.
struct Route: Sendable {
    let method: String
    /// The parts of the path; `{…}` stands for one part of any text.
    private let path: [Path.Part]
    /// As the table has it: what a log may show of a path.
    let pattern: String
    let caller: Caller
    /// Whether every call counts against the address that it comes from.
    let isLimited: Bool
    let answer: @Sendable (Service, Call) async throws(Problem) -> Answer

    init(
        _ method: String, _ path: String, _ caller: Caller, limited: Bool = false,
        _ answer: @escaping @Sendable (Service, Call) async throws(Problem) -> Answer
    ) {
        self.method = method
        self.path = Path.parts(of: path) ?? []
        pattern = path
        self.caller = caller
        isLimited = limited
        self.answer = answer
    }

    /// Whether its path leaves a part open.
    var isOpen: Bool { path.contains { $0.first == UInt8(ascii: "{") } }

    /// Whether it looks at a proof of callers of whom nothing is known before.
    var judgesStrangers: Bool {
        switch caller {
        case .anybody: method == "POST"
        case .device, .leavingDevice: true
        case .application, .rememberedApplication: false
        }
    }

    /// The open parts of a path that this row serves; nil if it does not.
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

/// A path, taken apart by its bytes: a letter with an accent on a slash is no other letter.
enum Path {
    typealias Part = ArraySlice<UInt8>

    /// What stands between the slashes; nil where none begins it, two stand together, or one ends it:
    /// each call has one path, for whoever lets some of them through.
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
