// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// The options of several commands; those of one command stand in its file.
extension OptionSyntax {
    static let account = OptionSyntax(
        "account", ValueSyntax("NAME", kind: .account),
        summary: "the account to use; the default is your own. Root must name one")
    static let json = OptionSyntax(
        "json", summary: "print JSON; each document has a version and a kind")
    static let name = OptionSyntax(
        "name", ValueSyntax("NAME") { ServerMessages.badName($0) },
        summary: "what the server calls this device; the default is the machine's name")
    static let password = OptionSyntax(
        "password",
        summary: "confirm with your password instead of a touch, where the server accepts that")
    static let passwordStdin = OptionSyntax(
        "password-stdin",
        summary: "read the password from standard input, up to the end of the line")
    static let reader = OptionSyntax(
        "reader", ValueSyntax("ID", kind: .listed(member: "id", by: "readers")),
        summary: "the ID of the reader to use, as 'signet readers' shows it")
    static let server = server(summary: "for this server only")
    static let signing = OptionSyntax(
        "signing", summary: "create, or destroy, the key that signs files and challenges")
    static let body = OptionSyntax(
        "body", ValueSyntax("FILE", kind: .file), summary: "the file with the body of the request")
    static let replace = OptionSyntax(
        "replace", summary: "replace an existing secret of this name")
    static let force = force(
        summary: "show it on a terminal even if it is not text")

    static func server(summary: Text) -> OptionSyntax {
        OptionSyntax("server", .url, summary: summary)
    }

    static func force(summary: Text) -> OptionSyntax { OptionSyntax("force", summary: summary) }
}

extension ValueSyntax {
    static let url = ValueSyntax("URL", kind: .url)
    static let secretName = ValueSyntax("NAME", kind: .listed(member: "name", by: "secret list"))
    static let method = ValueSyntax(
        "METHOD", kind: .suggestion(["GET", "POST", "PUT", "PATCH", "DELETE"]))
}
