// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// Messages of `signet sign`, and messages about the signing key in other commands.
package enum CommandSigning {
    /// The signing key was created.
    package static func enabled(_ account: AccountName) -> Text {
        """
        \(account) has a signing key: 'signet sign' signs files and challenges with a touch. This \
        is its public key:
        """
    }
    /// The signing key was removed.
    package static func disabled(_ account: AccountName) -> Text {
        "the signing key of \(account) was destroyed. Existing signatures remain valid"
    }

    /// What the touch is for; here and below, `action` is as in `Prompt.action`.
    package static func enabling(_ action: Text) -> Text {
        "\(action) to create a key that signs files and challenges"
    }
    /// What the touch is for: a file, with the start of its digest.
    package static func file(_ action: Text, name: Bytes, digest: Bytes) -> Text {
        "\(action) to sign the file \(name) (SHA-256 \(digest)…)"
    }
    /// What the touch is for: several files, listed on the following lines.
    package static func files(_ action: Text, count: Int) -> Text {
        "\(action) to sign these \(number: UInt64(count)) files:"
    }
    /// One of several files: its name and the start of its digest.
    package static func listed(_ name: Bytes, digest: Bytes) -> Text {
        "  \(name) (SHA-256 \(digest)…)"
    }
    /// One of several files is standard input: the start of its digest.
    package static func listedInput(digest: Bytes) -> Text {
        "  standard input (SHA-256 \(digest)…)"
    }
    /// What the touch is for: standard input, with the start of its digest.
    package static func input(_ action: Text, digest: Bytes) -> Text {
        "\(action) to sign standard input (SHA-256 \(digest)…)"
    }
    /// What the touch is for.
    package static func challenge(
        _ action: Text, audience: Audience, challenge: Bytes
    ) -> Text {
        "\(action) to answer the challenge of \(audience): \(challenge)"
    }
    /// What the touch is for: method, URL, and the server that verifies it.
    package static func request(
        _ action: Text, method: Bytes, url: Bytes, server: ServerURL
    ) -> Text {
        "\(action) to sign the request \(method) \(url), with the key for \(server)"
    }

    /// The signature was written beside its file.
    package static func signed(_ file: Bytes, signature: Bytes) -> Text {
        "\(file) is signed: \(signature)"
    }
    /// The signature file already exists.
    package static func exists(_ path: Bytes) -> Text {
        "\(path) already exists. Use '--force' to replace it"
    }
    /// The file cannot be signed.
    package static func noFile(_ path: Bytes, why: Bytes) -> Text {
        "\(path) cannot be read: \(why)"
    }
    /// The signature could not be passed on.
    package static let unwritten: Text = "the signature could not be written to standard output"

    /// No file was named, or two kinds of input at once.
    package static let choose: Text =
        "sign needs files, or one of --challenge, --request and --public-key"
    /// A request takes exactly one URL.
    package static let chooseURL: Text =
        "--request needs one URL and no file: 'signet sign --request METHOD URL'"
    /// Standard input can be read only once.
    package static let inputTwice: Text = "standard input can be signed only once"
    /// A file was named twice.
    package static func fileTwice(_ path: Bytes) -> Text { "\(path) was named twice" }
    /// There are more files than a user can read before a touch.
    package static func tooManyFiles(_ most: Int) -> Text {
        "one touch signs at most \(number: UInt64(most)) files. Name fewer"
    }
    /// The names are too long to be read before a touch.
    package static func longNames(_ most: Int) -> Text {
        """
        the names of the files for one touch can have at most \(number: UInt64(most)) bytes in \
        total. Name fewer, or change to their directory
        """
    }
    /// A value is too long or empty.
    package static func badLength(_ option: Bytes, most: UInt32) -> Text {
        "\(option) takes 1 to \(number: most) bytes"
    }
    /// The method is not an HTTP method.
    package static func badMethod(_ method: Bytes) -> Text {
        "\(method) is not an HTTP method: use one like GET or POST, in capital letters"
    }
    /// The URL cannot be used for a request.
    package static func badTarget(_ url: Bytes) -> Text {
        """
        \(url) is not a valid URL for an HTTP request: it must look like \
        https://shop.example/payments?id=7, with everything else escaped
        """
    }
    /// It is unclear which key must sign.
    package static let whichServer: Text =
        "this device is registered at several servers. Choose one with '--server URL'"
    /// The header would be too long.
    package static let tooLong: Text =
        "the header of the request would be too long. Shorten the names and the URL"

    /// In `signet status`: the key.
    package static func line(_ key: SigningKeyAnswer) -> Text {
        switch key.state {
        case .good: "on since \(Text.date(key.since)): a touch signs files and challenges"
        case .invalidated, .removing:
            "the fingers have changed. Run 'signet enable --signing' to create another key"
        }
    }
}
