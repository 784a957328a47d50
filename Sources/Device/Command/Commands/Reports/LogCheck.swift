// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// The first problem of a receipt log.
private struct ReceiptFault {
    /// The position of the receipt, from 0; nil if the problem is not that of a single receipt.
    let index: Int?
    let problem: Text
}

extension LogCommand {
    /// `signet log --verify`: verifies signatures, keys, counters, the chain and its end.
    ///
    /// Throws `.said(.denied)` after printing, if there is a problem.
    func check(_ answers: LogAnswers, account: AccountName) throws(CommandFault) {
        let fault = try firstFault(answers, account: account)
        let count = UInt64(answers.receipts.count)
        let counter = fault?.index.flatMap { answers.counter(at: $0) }
        let text = fault.map { fault in
            guard let index = fault.index else { return fault.problem }
            return LogCheckMessages.receipt(
                position: UInt64(index + 1), counter: counter, problem: fault.problem)
        }
        let position = fault?.index.map { JSON.number(UInt64($0 + 1)) } ?? .null
        run.say(
            .document(
                "log-check",
                members: [
                    ("account", .bytes(account.bytes)), ("receipts", .number(count)),
                    ("intact", .bool(fault == nil)), ("position", position),
                    ("counter", .optional(counter) { .number($0) }),
                    ("problem", .optional(text) { .bytes($0.bytes) }),
                ]),
            text.map { [$0, LogCheckMessages.notIntact] } ?? [LogCheckMessages.intact(count)])
        guard fault == nil else { throw .said(.denied) }
        explainGaps(in: answers)
    }

    private func firstFault(
        _ answers: LogAnswers, account: AccountName
    ) throws(CommandFault) -> ReceiptFault? {
        guard let head = answers.head else {
            // An account without any state has no chain, so no end is recorded.
            if answers.receipts.isEmpty && answers.signers.isEmpty { return nil }
            return ReceiptFault(index: nil, problem: LogCheckMessages.noEnd)
        }
        guard let signers = RegisteredSigner.parse(file: answers.signersFile)
        else { return ReceiptFault(index: nil, problem: LogCheckMessages.badSigners) }
        var chain = ReceiptChain(
            account: account, uid: try uid(of: account), signers: signers,
            headCounter: head.counter, headDigest: head.digest)
        do throws(ChainFault) {
            for receipt in answers.receipts {
                try chain.verify(receipt.entry)
            }
            if answers.damage != nil { throw .malformed(index: answers.receipts.count) }
            _ = try chain.end()
            return nil
        } catch { return try described(error, headCounter: head.counter) }
    }

    private func described(
        _ fault: ChainFault, headCounter: UInt64
    ) throws(CommandFault) -> ReceiptFault {
        switch fault {
        case .malformed(let index): ReceiptFault(index: index, problem: LogCheckMessages.malformed)
        case .anotherAccount(let index):
            ReceiptFault(index: index, problem: LogCheckMessages.anotherAccount)
        case .unknownSigner(let index):
            ReceiptFault(index: index, problem: LogCheckMessages.unknownSigner)
        case .badSignature(let index):
            ReceiptFault(index: index, problem: LogCheckMessages.badSignature)
        case .broken(let index): ReceiptFault(index: index, problem: LogCheckMessages.broken)
        case .counterNotGreater(let index):
            ReceiptFault(index: index, problem: LogCheckMessages.counterNotGreater)
        case .tailMissing:
            ReceiptFault(index: nil, problem: LogCheckMessages.tailMissing(headCounter))
        case .crypto(let fault): throw .fault(CommonMessages.failed("\(fault)".bytes))
        }
    }

    func uid(of account: AccountName) throws(CommandFault) -> UInt32 {
        do throws(SystemFault) {
            let name = String(validating: account.bytes, as: UTF8.self) ?? ""
            if let found = try Account.named(name) { return found.uid }
        } catch { throw .system(error) }
        throw .denied(Denial(.unknownAccount), account: account)
    }
}

extension LogAnswers {
    fileprivate func counter(at index: Int) -> UInt64? {
        guard receipts.indices.contains(index) else { return nil }
        return (try? Statement(parsing: receipts[index].statement))?.counter
    }
}

extension ReceiptAnswer {
    /// The receipt's entry in the log. If the statement cannot be parsed, verification reports it
    /// as malformed, whether it was granted or not.
    fileprivate var entry: Bytes {
        let counter = (try? Statement(parsing: statement))?.counter
        return ReceiptEntry.bytes(
            statement: statement, signature: signature, grantedCounter: isGranted ? counter : nil)
    }
}

/// Messages of `signet log --verify`.
enum LogCheckMessages {
    /// The verification found no fault.
    static func intact(_ count: UInt64) -> Text {
        switch count {
        case 0: "there are no receipts, and none is missing"
        case 1: "1 receipt: its signature is valid, and nothing is missing"
        default: "\(number: count) receipts: all signatures are valid, and nothing is missing"
        }
    }

    /// After the faults that were found.
    static let notIntact: Text = "from that point on, the receipts prove nothing"
    /// Before a receipt's fault; the number is nil if it cannot be read.
    static func receipt(position: UInt64, counter: UInt64?, problem: Text) -> Text {
        guard let counter else {
            return "receipt at position \(number: position): \(problem)"
        }
        return "receipt #\(number: counter): \(problem)"
    }

    /// It does not have the form of a receipt.
    static let malformed: Text = "it cannot be read"
    /// It belongs to another account.
    static let anotherAccount: Text = "it belongs to another account"
    /// Its key is unknown.
    static let unknownSigner: Text = "it was signed by a key that was never registered"
    /// Its signature is wrong.
    static let badSignature: Text = "its signature is invalid: it was altered"
    /// It breaks the chain.
    static let broken: Text =
        "it does not follow the receipt before it: one was altered, removed or inserted"

    /// Its counter is too small.
    static let counterNotGreater: Text =
        "its number is not greater than that of the receipt before it"

    /// The newest receipts were removed.
    static func tailMissing(_ counter: UInt64) -> Text {
        "receipt #\(number: counter), the newest known to the service, is missing"
    }

    /// The daemon did not report the newest receipt.
    static let noEnd: Text = "the service did not report where the receipts end"
    /// A signer that cannot be read.
    static let badSigners: Text =
        "the list of registered keys cannot be read: see 'signet log --signers'"
}
