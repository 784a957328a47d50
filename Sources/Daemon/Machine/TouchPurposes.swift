// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats

/// The purpose of a touch for a secret, in receipts and the journal.
enum SecretPurpose {
    /// `secret NAME`. The name is not escaped here.
    static func text(_ name: Bytes) -> Bytes { Bytes("secret ".utf8) + name }
}

/// The purpose of a request for a MAC token, in receipts and the journal.
enum MACTokenPurpose {
    /// `server URL: MAC token NAME`. URL and name are not escaped here.
    static func text(_ name: Bytes, _ server: Bytes) -> Bytes {
        Bytes("server ".utf8) + server + Bytes(": MAC token ".utf8) + name
    }
}

/// The purpose of a request for an operation, in receipts and the journal.
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

/// The purpose of a signature, in receipts and the journal. The caller's bytes are not escaped
/// here.
enum SigningPurpose {
    /// Text of a fixed form comes before text that the caller chose, so that a long name can hide
    /// nothing and only its own end is cut off.
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
