// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginMessages
import LoginProtocol
import Posix
import Systemd

/// Writes the daemon's log: decisions, faults, and changes of credentials and stored passwords.
///
/// Entries go to the systemd journal with a message identifier and `SIGNET_…` fields. Text from
/// outside is escaped. No entry contains a secret.
struct DecisionJournal: Sendable {
    private let journal: Systemd.Journal

    /// Logs to the journal; if there is none and `foreground` is set, to standard error.
    init(foreground: Bool) {
        journal = Systemd.Journal(foreground: foreground)
    }

    /// Message identifiers, by which `journalctl MESSAGE_ID=…` finds entries of one kind.
    private enum Kind {
        static let decision = MessageID(0x7fd1_b3a0_52c9_4e6f, low: 0x9b0e_31d5_a8c4_7720)
        static let credential = MessageID(0x1c5e_8a44_90b7_4d13, low: 0xae62_5f0b_cc1d_3391)
        static let keyring = MessageID(0x9b57_02ce_614d_4f0a, low: 0xb3f8_1da6_4e95_c270)
        static let fault = MessageID(0x52e0_77ab_3fd8_46a1, low: 0x8f14_b09c_6de2_5a57)
        static let taken = MessageID(0x4e1d_60f3_97ab_4c02, low: 0x8ad5_3b71_0ce9_f684)
        static let service = MessageID(0xc0a9_4d2e_1b73_4f58, low: 0xb6d1_7e83_02fa_94ce)
    }

    /// Logs a request and its decision.
    ///
    /// Denials are notices, grants are informational, and everything else is for debugging; a
    /// request's rule for logging may lower that.
    ///
    /// - Parameters:
    ///   - requester: the user who caused the request; nil if that was not determined.
    ///   - purpose: what it has turned out to be for; nil if its own context says it.
    func record(
        _ request: Request, from peer: PeerCredentials, by requester: Requester?,
        for purpose: Bytes?, answer: Answer
    ) {
        journal.send(
            Self.entry(request, from: peer, by: requester?.name, for: purpose, answer: answer))
    }

    /// The entry for a decision.
    static func entry(
        _ request: Request, from peer: PeerCredentials, by requester: AccountName?,
        for purpose: Bytes? = nil, answer: Answer
    ) -> JournalEntry {
        var (decision, reason, priority) = outcome(of: answer)
        switch request.type.logging {
        case .full: break
        case .denials: if decision == "allow" { priority = .debug }
        case .debugging: priority = .debug
        }
        let account = readable(request.account?.bytes ?? [])
        let requester = readable(requester?.bytes ?? answer.refusedRequester ?? [])
        let verb = request.verb.protocolName
        var subject = account.isEmpty ? verb : "\(verb) for \(account)"
        if !requester.isEmpty, requester != account { subject += ", asked by \(requester)" }
        let factor = (request.content as? any AccountRequest)?.factor ?? .finger
        if factor == .password { subject += ", with the password" }
        let context = request.content.context
        return JournalEntry(
            Kind.decision, priority: priority,
            message: "\(subject): \(decision)\(reason.isEmpty ? "" : " (\(reason))")",
            fields: [
                "SIGNET_VERB": verb,
                "SIGNET_ACCOUNT": account,
                "SIGNET_REQUESTER": requester,
                "SIGNET_DECISION": decision,
                "SIGNET_REASON": reason,
                "SIGNET_PEER_UID": String(peer.uid),
                "SIGNET_PEER_PID": String(peer.pid),
                "SIGNET_SERVICE": readable(context.service.bytes),
                "SIGNET_TERMINAL": readable(context.terminal),
                "SIGNET_PURPOSE": readable(purpose ?? context.purpose),
                "SIGNET_PRESENCE": context.presence.map { "\($0)" } ?? "",
                "SIGNET_SERVER": readable(context.server.bytes),
            ])
    }

    /// Logs that a credential was issued, destroyed or changed.
    func credential(of account: Account, change: String, because reason: String) {
        journal.send(
            JournalEntry(
                Kind.credential, priority: .notice,
                message: "credential of \(account.name) \(change): \(reason)",
                fields: [
                    "SIGNET_ACCOUNT": account.name,
                    "SIGNET_CHANGE": change,
                    "SIGNET_REASON": reason,
                ]))
    }

    /// Logs that a login password for the keyring was stored, dropped or released.
    func keyring(of account: Account, change: String, because reason: String) {
        journal.send(
            JournalEntry(
                Kind.keyring, priority: .notice,
                message: "login password of \(account.name) \(change): \(reason)",
                fields: [
                    "SIGNET_ACCOUNT": account.name,
                    "SIGNET_CHANGE": change,
                    "SIGNET_REASON": reason,
                ]))
    }

    /// Logs that a touch released an account's login password to a service.
    func released(to service: ServiceName, of account: Account) {
        keyring(of: account, change: "released", because: "to \(Self.readable(service.bytes))")
    }

    /// Raises an alert: a finger of `owner` was on the reader to be enrolled for another account.
    func taken(_ owner: String, by account: Account) {
        journal.send(
            JournalEntry(
                Kind.taken, priority: .alert,
                message:
                    "a finger of \(owner) was scanned while enrolling a finger for \(account.name)",
                fields: ["SIGNET_ACCOUNT": account.name, "SIGNET_OWNER": owner]))
    }

    /// Logs an error, about an account if one is given.
    func fault(_ what: String, account: String = "") {
        journal.send(
            JournalEntry(
                Kind.fault, priority: .error, message: Self.readable(Bytes(what.utf8)),
                fields: ["SIGNET_ACCOUNT": account]))
    }

    /// Logs a warning for the administrator.
    func warning(_ what: String) {
        journal.send(
            JournalEntry(Kind.service, priority: .warning, message: Self.readable(Bytes(what.utf8)))
        )
    }

    /// Logs an event in the life of the service.
    func service(_ what: String) {
        journal.send(
            JournalEntry(Kind.service, priority: .info, message: Self.readable(Bytes(what.utf8))))
    }

    /// The decision, the reason and the priority for the log.
    private static func outcome(of answer: Answer) -> (String, String, Priority) {
        switch answer {
        case .denial(let denial): ("deny", denial.reason.protocolName, .notice)
        case .assertion, .confirmed, .done, .serverEnabled, .token, .signed, .authorization,
            .decided:
            ("allow", "", .info)
        case .own(let answer) where answer.meaning == .end: ("allow", "", .info)
        case .notice, .passwordWanted, .status, .print, .reader, .receipt, .refusal, .signer,
            .chainHead, .secretPart, .secret, .secretWanted, .event, .importedPrint, .server,
            .signingKey, .macToken, .operation, .serverTrouble, .own:
            ("answer", "", .debug)
        }
    }

    private static func readable(_ outside: Bytes) -> String {
        String(decoding: Text(escaping: outside).bytes, as: UTF8.self)
    }
}

extension Answer {
    /// The requester of a request that was denied because it was for another account.
    fileprivate var refusedRequester: Bytes? {
        guard case .denial(let denial) = self, denial.reason == .otherRequester else { return nil }
        return denial.subject
    }
}
