// SPDX-License-Identifier: Apache-2.0

/// The options of all commands; the raw value is the name without hyphens.
enum Option: String, CaseIterable {
    case account = "account"
    case json = "json"
    case help = "help"
    case reader = "reader"
    case all = "all"
    case server = "server"
    case passwordStdin = "password-stdin"
    case verify = "verify"
    case export = "export"
    case to = "to"
    case signers = "signers"
    case check = "check"
    case replace = "replace"
    case force = "force"
    case keyring = "keyring"
    case noNewline = "no-newline"
    case noKeyring = "no-keyring"
    case signing = "signing"
    case challenge = "challenge"
    case audience = "audience"
    case request = "request"
    case body = "body"
    case secret = "secret"
    case reason = "reason"
    case publicKey = "public-key"
    case prints = "prints"
    case watch = "watch"
    case clear = "clear"
    case deleteForeign = "delete-foreign"

    /// The option as typed.
    var name: String { "--\(rawValue)" }

    /// The placeholder for its value in the help; nil if it takes none.
    var value: String? {
        switch self {
        case .account, .audience, .secret: "NAME"
        case .challenge, .reason: "TEXT"
        case .request: "METHOD"
        case .body: "FILE"
        case .reader: "ID"
        case .server: "URL"
        case .export: "N"
        case .to: "DIRECTORY"
        case .json, .help, .all, .passwordStdin, .verify, .signers, .check, .replace, .force,
            .noNewline, .keyring, .noKeyring, .signing, .publicKey, .prints, .watch,
            .deleteForeign, .clear:
            nil
        }
    }
}
