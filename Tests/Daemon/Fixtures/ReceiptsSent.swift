// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// What the daemon sent of an account's receipts, in its order.
struct ReceiptsSent {
    let person: Person
    var head: (counter: UInt64, digest: Bytes)?
    var signers: Bytes = []
    var receipts: [Bytes] = []
    var refusals: [Refusal] = []
    var last: Answer?

    /// Checks them as any holder of the keys would; gives how many there are.
    @discardableResult
    func verify() throws -> Int {
        guard let head else {
            // Before there is an account.
            try #require(receipts.isEmpty && signers.isEmpty)
            return 0
        }
        let signers = try #require(
            RegisteredSigner.parse(file: signers))
        var chain = ReceiptChain(
            account: person.account, uid: person.uid, signers: signers, headCounter: head.counter,
            headDigest: head.digest)
        for receipt in receipts { try chain.verify(receipt) }
        return try chain.end()
    }
}

extension DaemonFixture {
    /// Asks for an account's receipts, as itself.
    func receipts(
        of person: Person, first: UInt64 = 0, count: UInt32 = 0
    ) throws -> ReceiptsSent {
        let client = try client(person)
        try client.send(.log(LogRequest(account: person.account, first: first, count: count)))
        var sent = ReceiptsSent(person: person)
        for answer in try client.rest(within: .seconds(60)) {
            switch answer {
            case .chainHead(let counter, let digest): sent.head = (counter, digest)
            case .signer(let line): sent.signers += line + [0x0a]
            case .refusal(let refusal): sent.refusals.append(refusal)
            case .receipt(let receipt):
                sent.receipts.append(try receipt.entry)
            default: sent.last = answer
            }
        }
        return sent
    }
}

extension ReceiptAnswer {
    /// The receipt as the log has it.
    var entry: Bytes {
        get throws {
            let counter = try Statement(parsing: statement).counter
            return ReceiptEntry.bytes(
                statement: statement, signature: signature,
                grantedCounter: isGranted ? counter : nil)
        }
    }
}
