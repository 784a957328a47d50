// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// What `signet sign` says, and the other commands about the signing key.
package enum CommandSigning {
    /// The key was made.
    package static func enabled(_ account: AccountName) -> Text {
        """
        \(account) has a signing key: 'signet sign' signs files and challenges with a touch. This \
        is its public key:
        """
    }
    /// It is gone.
    package static func disabled(_ account: AccountName) -> Text {
        "the signing key of \(account) was destroyed. Existing signatures remain valid"
    }

    /// What the touch is for; `action` as `Prompt.action` has it, here and below.
    package static func enabling(_ action: Text) -> Text {
        "\(action) to create a key that signs files and challenges"
    }
    /// What the touch is for: a file, the beginning of its digest.
    package static func file(_ action: Text, name: Bytes, digest: Bytes) -> Text {
        "\(action) to sign the file \(name) (SHA-256 \(digest)…)"
    }
    /// What the touch is for: several files, whose lines follow.
    package static func files(_ action: Text, count: Int) -> Text {
        "\(action) to sign these \(number: UInt64(count)) files:"
    }
    /// One of them: its name, the beginning of its digest.
    package static func listed(_ name: Bytes, digest: Bytes) -> Text {
        "  \(name) (SHA-256 \(digest)…)"
    }
    /// The same of standard input.
    package static func listedInput(digest: Bytes) -> Text {
        "  standard input (SHA-256 \(digest)…)"
    }
    /// What the touch is for: standard input, the beginning of its digest.
    package static func input(_ action: Text, digest: Bytes) -> Text {
        "\(action) to sign standard input (SHA-256 \(digest)…)"
    }
    /// What the touch is for.
    package static func challenge(
        _ action: Text, audience: Audience, challenge: Bytes
    ) -> Text {
        "\(action) to answer the challenge of \(audience): \(challenge)"
    }
    /// What the touch is for: method, URL, and the server that is asked whether it holds.
    package static func request(
        _ action: Text, method: Bytes, url: Bytes, server: ServerURL
    ) -> Text {
        "\(action) to sign the request \(method) \(url), with the key for \(server)"
    }

    /// A signature lies beside its file.
    package static func signed(_ file: Bytes, signature: Bytes) -> Text {
        "\(file) is signed: \(signature)"
    }
    /// There is one already.
    package static func exists(_ path: Bytes) -> Text {
        "\(path) already exists. Use '--force' to replace it"
    }
    /// No file that could be signed.
    package static func noFile(_ path: Bytes, why: Bytes) -> Text {
        "\(path) cannot be read: \(why)"
    }
    /// It could not be handed on.
    package static let unwritten: Text = "the signature could not be written to standard output"

    /// Nothing was named, or two kinds at once.
    package static let choose: Text =
        "sign needs files, or one of --challenge, --request and --public-key"
    /// One URL belongs to a request, and nothing else.
    package static let chooseURL: Text =
        "--request needs one URL and no file: 'signet sign --request METHOD URL'"
    /// Standard input can be read once.
    package static let inputTwice: Text = "standard input can be signed only once"
    /// A file was named twice.
    package static func fileTwice(_ path: Bytes) -> Text { "\(path) was named twice" }
    /// More files than a person reads before a touch.
    package static func tooManyFiles(_ most: Int) -> Text {
        "one touch signs at most \(number: UInt64(most)) files. Name fewer"
    }
    /// Names that are too long to be read before a touch.
    package static func longNames(_ most: Int) -> Text {
        """
        the names of the files for one touch can have at most \(number: UInt64(most)) bytes in \
        total. Name fewer, or change to their directory
        """
    }
    /// A value that is too long, or empty.
    package static func badLength(_ option: Bytes, most: UInt32) -> Text {
        "\(option) takes 1 to \(number: most) bytes"
    }
    /// No method of HTTP's.
    package static func badMethod(_ method: Bytes) -> Text {
        "\(method) is not an HTTP method: use one like GET or POST, in capital letters"
    }
    /// No URL that could be asked for.
    package static func badTarget(_ url: Bytes) -> Text {
        """
        \(url) is not a valid URL for an HTTP request: it must look like \
        https://shop.example/payments?id=7, with everything else escaped
        """
    }
    /// Which key is to sign is not clear.
    package static let whichServer: Text =
        "this device is registered at several servers. Choose one with '--server URL'"
    /// The header has no room for it.
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
