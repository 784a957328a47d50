// SPDX-License-Identifier: Apache-2.0
/// Whether a server was asked about a login.
package enum ServerMode: LineWord {
    /// It was asked, and its verdict must be about this login.
    case online
    /// It could not be reached, and an earlier verdict is used instead.
    case offline

    /// The word in the line `server-mode`.
    package var word: StaticString {
        switch self {
        case .online: "online"
        case .offline: "offline"
        }
    }
}

/// The lines of a local statement that name the server which must approve the login as well.
///
/// They are signed at the touch, so the server and the mode are fixed before the server answers.
package struct ServerLines: Equatable, Sendable {
    /// The server's URL in normal form.
    package var url: [UInt8]
    /// The account's name at the server.
    package var account: [UInt8]
    /// Whether it was asked.
    package var mode: ServerMode

    /// Creates the lines; sizes are checked only when a text is parsed.
    package init(url: [UInt8], account: [UInt8], mode: ServerMode) {
        self.url = url
        self.account = account
        self.mode = mode
    }

    func write(to lines: inout LineWriter) {
        lines.put("server", url)
        lines.put("server-account", account)
        lines.put("server-mode", word: mode)
    }

    init(reading lines: inout LineReader) throws(LineFault) {
        url = try lines.value("server", cap: 256)
        account = try lines.value("server-account", cap: 256)
        mode = try lines.word("server-mode")
    }
}
