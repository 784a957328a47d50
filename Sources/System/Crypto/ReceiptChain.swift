// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats

/// The first defect of a chain of receipts, with the index of the receipt, counted from 0.
package enum ChainFault: Error, Equatable, Sendable {
    /// The entry is not a receipt with a statement, or its `granted` line has another counter.
    case malformed(index: Int)
    /// The receipt belongs to another account.
    case anotherAccount(index: Int)
    /// The receipt names a key that was never registered for this account and this credential.
    case unknownSigner(index: Int)
    /// The signature is invalid or in a namespace that receipts never have: the text was altered.
    case badSignature(index: Int)
    /// The receipt does not contain the digest of the one before, or the newest known receipt has
    /// another digest: something was removed, altered or moved.
    case broken(index: Int)
    /// The counter is not greater than that of the receipt before.
    case counterNotGreater(index: Int)
    /// The chain does not contain the newest known receipt: receipts were removed from its end.
    case tailMissing
    /// Cryptography failed for a reason unrelated to the receipts.
    case crypto(CryptoFault)
}

/// A public key and the credential that it belongs to, as in a line of an allowed_signers file.
package struct RegisteredSigner: Equatable, Sendable {
    /// The name that the account had when the key was issued.
    package let account: AccountName
    /// The key.
    package let key: SSHPublicKey
    /// The credential's id.
    package let credential: CredentialID

    /// Creates a signer from its values.
    package init(account: AccountName, key: SSHPublicKey, credential: CredentialID) {
        self.account = account
        self.key = key
        self.credential = credential
    }
}

/// Verifies an account's receipts one after the other: signature, signer, order and completeness.
///
/// Each receipt contains the SHA-256 of the entry before it and a counter that is greater than the
/// previous one. The head, which is stored elsewhere, shows whether the end was cut off. Call
/// `verify` for each entry from the first on, then `end`; after a fault, the chain must not be used
/// again. The result is only as good as the list of signers and the head, which come from the
/// daemon.
package struct ReceiptChain {
    /// The namespaces that a receipt's signature may have: a login, the release of a secret, or a
    /// touch for a desktop.
    package static let namespaces = [
        SignatureNamespace.login.bytes, SignatureNamespace.secret.bytes,
        SignatureNamespace.desktop.bytes,
    ]

    private let account: AccountName
    private let uid: UInt32
    private let signers: [RegisteredSigner]
    private let head: (counter: UInt64, digest: [UInt8])
    private var keys: [PublicKeyPoint: P256PublicKey] = [:]
    private var count = 0
    private var last = (counter: UInt64(0), digest: [UInt8](repeating: 0, count: 32))
    private var isHeadSeen: Bool

    /// Starts a chain before its first receipt.
    ///
    /// - Parameters:
    ///   - signers: Every key that was ever registered for the account.
    ///   - headCounter: The counter of the newest known receipt, 0 for none.
    ///   - headDigest: The SHA-256 of that receipt's entry, 32 bytes.
    package init(
        account: AccountName, uid: UInt32, signers: [RegisteredSigner], headCounter: UInt64,
        headDigest: [UInt8]
    ) {
        self.account = account
        self.uid = uid
        self.signers = signers
        head = (headCounter, headDigest)
        isHeadSeen = headCounter == 0
    }

    /// Verifies that an entry of the log is the next one of the chain.
    ///
    /// Checks, in this order: the form, the account's name and uid, the signer, the signature and
    /// its namespace, the digest of the previous entry, and the counter. Throws the fault of the
    /// first check that fails. An entry with the head's counter must also have the head's digest.
    package mutating func verify(_ entry: [UInt8]) throws(ChainFault) {
        guard let parts = ReceiptEntry(entry),
            let statement = try? Statement(parsing: parts.statement),
            parts.isWhole(counter: statement.counter),
            let signature = try? SSHSignature(blob: parts.signature)
        else { throw .malformed(index: count) }
        // An account that was renamed has receipts with each of its names.
        guard
            statement.account == account
                || signers.contains(where: { $0.account == statement.account }),
            statement.uid == uid
        else { throw .anotherAccount(index: count) }
        let signer = RegisteredSigner(
            account: statement.account, key: signature.publicKey, credential: statement.credential)
        guard signers.contains(signer) else { throw .unknownSigner(index: count) }
        guard ReceiptChain.namespaces.contains(signature.namespace),
            try fits(signature, statement: parts.statement)
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

    /// Verifies that the newest known receipt was among the entries; returns the number of entries.
    package consuming func end() throws(ChainFault) -> Int {
        guard isHeadSeen else { throw .tailMissing }
        return count
    }

    private mutating func fits(
        _ signature: SSHSignature, statement: [UInt8]
    ) throws(ChainFault) -> Bool {
        do throws(CryptoFault) {
            return try key(signature.publicKey.point).verifies(signature, of: statement)
        } catch { throw .crypto(error) }
    }

    private mutating func key(_ point: PublicKeyPoint) throws(CryptoFault) -> P256PublicKey {
        if let known = keys[point] { return known }
        let key = try P256PublicKey(point: point.bytes)
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
    /// The part of a line between the account and the key, which names the uses of the key.
    package static let options =
        StaticString(" namespaces=\"login@signet,secret@signet,desktop@signet\" ").bytes
    /// That part as earlier versions wrote it.
    private static let olderOptions = [
        StaticString(" namespaces=\"login@signet\" ").bytes,
        StaticString(" namespaces=\"login@signet,secret@signet\" ").bytes,
    ]

    /// Replaces the options of earlier versions in each line of an allowed_signers file by the
    /// present ones.
    ///
    /// Lines under another name or with other options are unchanged.
    package static func upgraded(file: [UInt8], account: AccountName) -> [UInt8] {
        let older = olderOptions.map { account.bytes + $0 }
        var upgraded: [UInt8] = []
        upgraded.reserveCapacity(file.count)
        var rest = file[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            let beginning = older.first { line.starts(with: $0) }
            upgraded +=
                beginning.map { account.bytes + options + line.dropFirst($0.count) } ?? Array(line)
            rest = rest[end...]
        }
        return upgraded
    }

    /// The account's name as an allowed_signers file has it: in quotes if it has spaces.
    package static func principal(_ account: AccountName) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let isPlain = !account.bytes.contains { $0 == 0x20 || $0 == UInt8(ascii: "#") }
        return isPlain ? account.bytes : [quote] + account.bytes + [quote]
    }

    /// Parses an allowed_signers file as Signet writes it; nil if any line has another form.
    ///
    /// Each line is the account, the namespaces, the key, and the comment `signet:` account `:`
    /// credential, and ends with LF. An account that was renamed has lines with each of its names.
    /// A file of no lines gives an empty list.
    package static func parse(file: [UInt8]) -> [RegisteredSigner]? {
        var signers: [RegisteredSigner] = []
        var rest = file[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[...end])
            rest = rest[(end + 1)...]
            guard let signer = parse(line: line) else { return nil }
            signers.append(signer)
        }
        return rest.isEmpty ? signers : nil
    }

    private static func parse(line: [UInt8]) -> RegisteredSigner? {
        // The comment names the account without ambiguity; what precedes the key must agree.
        guard let key = line.ranges(of: options).first,
            let parsed = try? SSHPublicKey.parse(line: Array(line[key.upperBound...]))
        else { return nil }
        let words = parsed.comment.split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard words.count == 3, Array(words[0]) == StaticString("signet").bytes,
            let name = PercentEncoding.decode(Array(words[1])),
            Array(line[..<key.lowerBound]) == principal(AccountName(name)),
            let credential = CredentialID(hexadecimal: Array(words[2]))
        else { return nil }
        return RegisteredSigner(
            account: AccountName(name), key: parsed.key, credential: credential)
    }
}
