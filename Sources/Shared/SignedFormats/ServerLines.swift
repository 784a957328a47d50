// SPDX-License-Identifier: Apache-2.0
import Domain

/// Whether the server was asked about a login, or an earlier verdict takes its place.
package enum ServerMode: LineWord {
    /// The server was asked, and its verdict must be about this login.
    case online
    /// The server could not be reached, and an earlier verdict is used instead.
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
/// They are signed at the touch, so the server, the account's name there and the mode are fixed
/// before the server answers. They say nothing about the answer, which is in a `Verdict`.
package struct ServerLines: Equatable, Sendable {
    /// The server's URL in normal form.
    package var url: ServerURL
    /// The account's name at the server.
    package var account: ServerAccountName
    /// Whether the server was asked or an earlier verdict is used.
    package var mode: ServerMode

    /// Creates the lines; sizes are checked only when a text is parsed.
    package init(url: ServerURL, account: ServerAccountName, mode: ServerMode) {
        self.url = url
        self.account = account
        self.mode = mode
    }

    func write(to lines: inout LineWriter) {
        lines.put("server", name: url)
        lines.put("server-account", name: account)
        lines.put("server-mode", word: mode)
    }

    init(reading lines: inout LineReader) throws(LineFault) {
        url = try lines.name("server", cap: 256)
        account = try lines.name("server-account", cap: 256)
        mode = try lines.word("server-mode")
    }
}
