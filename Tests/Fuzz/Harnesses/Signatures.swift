// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SignedFormats
import TestSupport

/// An OpenSSH signature's blob.
enum Signatures: Harness {
    static let name = "signatures"
    static let key = SSHPublicKey(point: [4] + [UInt8](0..<64))

    static var seeds: [[UInt8]] {
        let high = [UInt8](repeating: 0xFF, count: 32)
        let low = [UInt8](repeating: 0, count: 31) + [1]
        guard let key else { return [] }
        return [(high, low), (low, high), (high, high)].map { r, s in
            SSHSignature(publicKey: key, namespace: .login, r: r, s: s).blob
        }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let signature = try? SSHSignature(blob: bytes) else { return }
        require(signature.blob == bytes, "a signature has a second form")
    }
}

/// The text around a signature.
enum Armours: Harness {
    static let name = "armours"
    static var seeds: [[UInt8]] { Signatures.seeds.map(Armour.wrap) + [Armour.wrap([])] }

    static func feed(_ bytes: [UInt8]) {
        guard let blob = Armour.unwrap(bytes) else { return }
        require(Armour.wrap(blob) == bytes, "an armour has a second form")
    }
}

/// The line of a public key file, which the module reads.
enum PublicKeys: Harness {
    static let name = "public-keys"
    static var seeds: [[UInt8]] {
        ["signet:alice:00", "", "a b"].compactMap { Signatures.key?.line(comment: bytes($0)) }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let (key, comment) = try? SSHPublicKey.parse(line: bytes) else { return }
        require(key.line(comment: comment) == bytes, "a key has a second form")
    }
}

/// A receipt: a statement, then the armoured signature.
enum Receipts: Harness {
    static let name = "receipts"
    static var seeds: [[UInt8]] {
        Signatures.seeds.map { Receipt.text(statement: Statements.sample.encoded(), signature: $0) }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let (statement, blob) = Receipt.split(bytes) else { return }
        require(
            Receipt.text(statement: statement, signature: blob) == bytes,
            "a receipt has a second form")
    }
}

/// The list of an account's signers.
enum Signers: Harness {
    static let name = "signers"
    static let account: AccountName = "al ice%"
    static var seeds: [[UInt8]] {
        let comment = bytes("signet:al ice%25:000102030405060708090a0b0c0d0e0f")
        guard let line = Signatures.key?.line(comment: comment) else { return [] }
        func signer(_ uses: String) -> [UInt8] {
            account.bytes + bytes(" namespaces=\"\(uses)\" ") + line
        }
        let present = signer("login@signet,secret@signet,desktop@signet")
        let (former, first) = (signer("login@signet,secret@signet"), signer("login@signet"))
        return [present, present + present, former, first, first + former + present]
    }

    static func feed(_ bytes: [UInt8]) {
        let upgraded = RegisteredSigner.upgraded(file: bytes, account: account)
        require(
            RegisteredSigner.upgraded(file: upgraded, account: account) == upgraded,
            "an upgraded list is upgraded again")
        guard let signers = RegisteredSigner.parse(file: bytes) else { return }
        for signer in signers { require(signer.credential.bytes.count == 16, "a short credential") }
    }
}
