// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import TestSupport

/// Accounts that every Debian has, as which a client may connect.
struct Person: Sendable {
    let name: String
    let uid: UInt32

    static let root = Person(name: "root", uid: 0)
    static let daemon = Person(name: "daemon", uid: 1)
    static let bin = Person(name: "bin", uid: 2)
    static let sys = Person(name: "sys", uid: 3)
    static let games = Person(name: "games", uid: 5)

    var account: AccountName { AccountName(name) }
}

extension Request {
    /// A login, as the PAM module would ask for it.
    static func login(
        _ person: Person, challenge: UInt8 = 7, service: String = "sudo", tries: UInt8 = 3,
        milliseconds: UInt32 = 30_000, presence: TerminalPosition = .foreground,
        remoteHost: String = "", requester: String = "", wantsKeyring: Bool = false
    ) -> Request {
        .authenticate(
            AuthenticateRequest(
                account: person.account, challenge: .sample(repeating: challenge),
                service: ServiceName(service),
                terminal: presence == .noTerminal ? [] : Bytes("/dev/pts/3".utf8),
                remoteHost: Bytes(remoteHost.utf8), requester: AccountName(requester),
                purpose: Bytes("sudo id".utf8),
                timeoutMilliseconds: milliseconds, maximumTries: tries,
                wantsKeyring: wantsKeyring, presence: presence, background: .allow))
    }
}

extension Answer {
    /// Whether it ends a request.
    var isLast: Bool {
        switch self {
        case .assertion, .confirmed, .denial, .done, .status, .serverEnabled, .token, .signed,
            .signingKey, .authorization, .decided:
            true
        case .own(let own): own.meaning == .end
        case .notice, .passwordWanted, .print, .reader, .receipt, .refusal, .signer, .chainHead,
            .secretPart, .secret, .secretWanted, .event, .importedPrint, .server, .macToken,
            .operation, .serverTrouble:
            false
        }
    }

    var denial: Denial? { if case .denial(let denial) = self { denial } else { nil } }
    var reason: DenialReason? { denial?.reason }
    var notice: Notice? { if case .notice(let notice) = self { notice } else { nil } }
    var assertion: Assertion? {
        if case .assertion(let assertion) = self { assertion } else { nil }
    }
    var done: DoneAnswer? { if case .done(let done) = self { done } else { nil } }
    var reader: ReaderAnswer? { if case .reader(let reader) = self { reader } else { nil } }
    var event: EventAnswer? { if case .event(let event) = self { event } else { nil } }
    var status: StatusAnswer? { if case .status(let status) = self { status } else { nil } }
}
