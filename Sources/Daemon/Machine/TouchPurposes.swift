// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats

/// What a receipt and the journal say that a secret was asked for.
enum SecretPurpose {
    /// `secret NAME`; whoever writes it down escapes it.
    static func text(_ name: Bytes) -> Bytes { Bytes("secret ".utf8) + name }
}

/// What receipts and the journal say that a MAC token was asked for.
enum MACTokenPurpose {
    /// `server URL: MAC token NAME`; whoever writes it down escapes it.
    static func text(_ name: Bytes, _ server: Bytes) -> Bytes {
        Bytes("server ".utf8) + server + Bytes(": MAC token ".utf8) + name
    }
}

/// What receipts and the journal say that an operation was asked for.
enum OperationPurpose {
    /// `approve operation ID`.
    static func text(_ choice: OperationChoice, _ operation: Bytes) -> Bytes {
        Bytes("\(choice.protocolName) ".utf8) + text(operation)
    }

    /// `operation ID`.
    static func text(_ operation: Bytes) -> Bytes {
        Bytes("operation ".utf8) + Hexadecimal.encode(operation)
    }
}

/// What a receipt and the journal say that was signed; whoever writes it down escapes it.
enum SigningPurpose {
    /// What is fixed in its form stands before what the caller chose, so that no name hides it, and
    /// nothing is lost but the end of a long name.
    static func text(_ matter: SigningMatter) -> Bytes {
        Bytes(whole(matter).prefix(Limit.purpose))
    }

    private static func whole(_ matter: SigningMatter) -> Bytes {
        switch matter {
        case .file(let name, let digest):
            Bytes("sign file sha256:".utf8) + Hexadecimal.encode(digest)
                + (name.isEmpty ? [] : [0x20] + name)
        case .files(let files):
            Bytes("sign \(files.count) files".utf8)
                + files.flatMap { Bytes(" sha256:".utf8) + Hexadecimal.encode($0.digest) }
                + files.flatMap { [0x20] + ($0.name.isEmpty ? Bytes("-".utf8) : $0.name) }
        case .challenge(let audience, let challenge):
            Bytes("sign challenge for ".utf8) + audience + Bytes(": ".utf8) + challenge
        case .request(let server, let method, let resource, _):
            Bytes("server ".utf8) + server + Bytes(": sign ".utf8) + method + [0x20] + resource
        }
    }
}
