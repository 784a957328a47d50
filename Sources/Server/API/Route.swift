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
}

/// One row of the table of calls. What has no row is not served.
struct Route: Sendable {
    let method: String
    /// The parts of the path; `{…}` stands for one part of any text.
    let path: [Substring]
    let caller: Caller
    /// Whether every call counts against the address that it comes from.
    let isLimited: Bool
    let answer: @Sendable (Service, Call) async throws(Problem) -> Answer

    init(
        _ method: String, _ path: String, _ caller: Caller, limited: Bool = false,
        _ answer: @escaping @Sendable (Service, Call) async throws(Problem) -> Answer
    ) {
        self.method = method
        self.path = path.split(separator: "/")
        self.caller = caller
        isLimited = limited
        self.answer = answer
    }

    /// As the table has it: what a log may show of a path.
    var pattern: String { "/" + path.joined(separator: "/") }

    /// Whether it looks at a proof of callers of whom nothing is known before.
    var judgesStrangers: Bool {
        switch caller {
        case .anybody: method == "POST"
        case .device: true
        case .application, .rememberedApplication: false
        }
    }

    /// The open parts of a path that this row serves; nil if it does not.
    func parameters(of parts: [Substring]) -> [String]? {
        guard parts.count == path.count else { return nil }
        var open: [String] = []
        for (want, part) in zip(path, parts) {
            if want.hasPrefix("{") {
                open.append(String(part))
            } else if want != part {
                return nil
            }
        }
        return open
    }
}
