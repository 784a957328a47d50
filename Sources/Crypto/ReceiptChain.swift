// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What is wrong with a chain of receipts, and at which one, counted from 0.
package enum ChainFault: Error, Equatable, Sendable {
    /// The text is no receipt.
    case malformed(index: Int)
    /// It is another account's.
    case anotherAccount(index: Int)
    /// No key that this account ever registered for that credential made it.
    case unknownSigner(index: Int)
    /// The signature does not fit: the text was altered.
    case badSignature(index: Int)
    /// It does not follow the one before: something was removed, altered or moved.
    case broken(index: Int)
    /// Its counter is not greater than the one before.
    case counterNotGreater(index: Int)
    /// The newest receipt that is known of is not the last, or is another.
    case tailMissing
    /// Cryptography failed for a reason that lies not in the receipts.
    case crypto(CryptoFault)
}

/// A public key and the credential it belongs to, as a line of an allowed_signers file tells.
package struct RegisteredSigner: Equatable, Sendable {
    /// The key.
    package let key: SSHPublicKey
    /// The credential's id, 16 bytes.
    package let credential: [UInt8]

    /// Joins both.
    package init(key: SSHPublicKey, credential: [UInt8]) {
        self.key = key
        self.credential = credential
    }
}

/// Checks receipts one after the other: signatures, signers, order, and that none is missing.
package struct ReceiptChain {
    /// What a receipt's signature may be for: a login, or a secret that was released.
    package static let namespaces = [
        SignatureNamespace.login.bytes, SignatureNamespace.secret.bytes,
    ]

    private let account: [UInt8]
    private let uid: UInt32
    private let signers: [RegisteredSigner]
    private let head: (counter: UInt64, digest: [UInt8])
    private var keys: [[UInt8]: P256PublicKey] = [:]
    private var count = 0
    private var last = (counter: UInt64(0), digest: [UInt8](repeating: 0, count: 32))
    private var isHeadSeen: Bool

    /// Begins before the first receipt.
    /// - Parameters:
    ///   - signers: every key that was ever registered for the account.
    ///   - headCounter: the counter of the newest receipt that is known of, 0 for none.
    ///   - headDigest: its SHA-256, 32 bytes.
    package init(
        account: [UInt8], uid: UInt32, signers: [RegisteredSigner], headCounter: UInt64,
        headDigest: [UInt8]
    ) {
        self.account = account
        self.uid = uid
        self.signers = signers
        head = (headCounter, headDigest)
        isHeadSeen = headCounter == 0
    }

    /// Checks that an entry of the log, a receipt and what says that it was granted, is the next one.
    package mutating func verify(_ entry: [UInt8]) throws(ChainFault) {
        guard let parts = ReceiptEntry(entry),
            let statement = try? Statement(parsing: parts.statement),
            parts.isWhole(counter: statement.counter),
            let signature = try? SSHSignature(blob: parts.signature)
        else { throw .malformed(index: count) }
        guard statement.account == account, statement.uid == uid else {
            throw .anotherAccount(index: count)
        }
        let signer = RegisteredSigner(
            key: signature.publicKey, credential: statement.credential)
        guard signers.contains(signer) else { throw .unknownSigner(index: count) }
        guard ReceiptChain.namespaces.contains(signature.namespace),
            try fits(signature, parts.statement)
        else { throw .badSignature(index: count) }
        guard statement.previous == last.digest else { throw .broken(index: count) }
        guard statement.counter > last.counter else { throw .counterNotGreater(index: count) }
        last = (statement.counter, try digest(entry))
        if last.counter == head.counter {
            guard last.digest == head.digest else { throw .broken(index: count) }
            isHeadSeen = true
        }
        count += 1
    }

    /// Checks that the newest receipt that is known of was among them; returns how many there were.
    package consuming func end() throws(ChainFault) -> Int {
        guard isHeadSeen else { throw .tailMissing }
        return count
    }

    private mutating func fits(
        _ signature: SSHSignature, _ statement: [UInt8]
    ) throws(ChainFault) -> Bool {
        do throws(CryptoFault) {
            return try key(signature.publicKey.point).verifies(signature, of: statement)
        } catch { throw .crypto(error) }
    }

    private mutating func key(_ point: [UInt8]) throws(CryptoFault) -> P256PublicKey {
        if let known = keys[point] { return known }
        let key = try P256PublicKey(point: point)
        keys[point] = key
        return key
    }

    private func digest(_ bytes: [UInt8]) throws(ChainFault) -> [UInt8] {
        do throws(CryptoFault) {
            return try SHA256.digest(bytes)
        } catch { throw .crypto(error) }
    }
}

extension RegisteredSigner {
    /// What stands between account and key in a line: the uses that the key is good for.
    package static let options = StaticString(" namespaces=\"login@signet,secret@signet\" ").bytes
    /// The same as version 0.1.0 wrote it.
    private static let olderOptions = StaticString(" namespaces=\"login@signet\" ").bytes

    /// Gives the lines of an older version today's options; the rest stays as it is.
    package static func upgraded(file: [UInt8], account: [UInt8]) -> [UInt8] {
        let older = account + olderOptions
        var upgraded: [UInt8] = []
        upgraded.reserveCapacity(file.count)
        var rest = file[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            let isOlder = line.starts(with: older)
            upgraded += isOlder ? account + options + line.dropFirst(older.count) : Array(line)
            rest = rest[end...]
        }
        return upgraded
    }

    /// Reads the lines of an allowed_signers file as Signet writes them: account, namespaces, key,
    /// and `signet:` account `:` credential. Nil where a line has another form or account.
    package static func parse(file: [UInt8], account: [UInt8]) -> [RegisteredSigner]? {
        let prefix = account + options
        let label = StaticString("signet:").bytes + PercentEncoding.encode(account) + [0x3a]
        var signers: [RegisteredSigner] = []
        var rest = file[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[...end])
            rest = rest[(end + 1)...]
            guard line.starts(with: prefix),
                let parsed = try? SSHPublicKey.parse(line: Array(line.dropFirst(prefix.count))),
                parsed.comment.starts(with: label),
                let credential = Hexadecimal.decode(Array(parsed.comment.dropFirst(label.count))),
                credential.count == 16
            else { return nil }
            signers.append(RegisteredSigner(key: parsed.key, credential: credential))
        }
        return rest.isEmpty ? signers : nil
    }
}
