// SPDX-License-Identifier: Apache-2.0
/// Whether a server was asked about a login.
package enum ServerMode: LineWord {
    /// It was, and its verdict has to be about this very login.
    case online
    /// It could not be, and an earlier verdict stands for it.
    case offline

    /// As it stands in the line `server-mode`.
    package var word: StaticString {
        switch self {
        case .online: "online"
        case .offline: "offline"
        }
    }
}

/// The lines of a local statement that say at which server the login was, too, and how.
///
/// They are signed at the touch, so that what was asked for is settled before the server answers.
package struct ServerLines: Equatable, Sendable {
    /// The server's URL in its one form.
    package var url: [UInt8]
    /// The account's name there.
    package var account: [UInt8]
    /// Whether it was asked.
    package var mode: ServerMode

    /// All of it; the sizes are checked where the text is read.
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
