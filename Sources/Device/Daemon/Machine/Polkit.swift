// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Gate
import LoginProtocol
import MainContext

/// Asks polkit whether a client of the bus may do something; see
/// org.freedesktop.PolicyKit1.Authority.
///
/// Only an answer that says so authorises. No answer, an answer of another form and a fault are a
/// refusal, and hold up nothing but the request that waits for it.
@ServiceActor
final class Polkit {
    /// The actions that clients of the desktop interface need.
    enum Action: String {
        /// Waits for a touch, and lists fingers.
        case verify = "net.reactivated.fprint.device.verify"
        /// Adds and deletes fingers.
        case enroll = "net.reactivated.fprint.device.enroll"
        /// Asks about another account.
        case setUserName = "net.reactivated.fprint.device.setusername"
    }

    /// polkit's answer.
    enum Verdict: Equatable {
        /// A password was given just now.
        case confirmed
        /// The administrator's rules let the client do it without a password.
        case allowed
        /// An earlier authorisation still holds, or this one will hold for a while.
        case kept
        case refused
    }

    /// How long a user may take to give the password.
    static let patience = Duration.seconds(120)
    private static let name = "org.freedesktop.PolicyKit1"
    private static let path = "/org/freedesktop/PolicyKit1/Authority"
    private static let authority = "org.freedesktop.PolicyKit1.Authority"
    /// The detail with which polkit reports an authorisation that it keeps.
    private static let keptDetail = "polkit.temporary_authorization_id"

    private let bus: Logind
    private let journal: DecisionJournal
    private var lastNumber: UInt64 = 0

    init(bus: Logind, journal: DecisionJournal) {
        self.bus = bus
        self.journal = journal
    }

    /// Asks about a client, which polkit may have give a password.
    ///
    /// Throws `cancelled` if the request was cancelled; the user is then not asked any longer.
    func verdict(
        on action: Action, for client: BusClientName
    ) async throws(Denial) -> Verdict {
        try await answer(on: action, for: client, mayAsk: true).verdict
    }

    /// Asks about a client for something that a password has to be given for, just now.
    ///
    /// polkit is asked first without a question to the user: only if it then says that it would
    /// have to ask is the consent after that one that a password was given for. Throws as
    /// `verdict`.
    func confirmedVerdict(
        on action: Action, for client: BusClientName
    ) async throws(Denial) -> Verdict {
        let before = try await answer(on: action, for: client, mayAsk: false)
        guard before.wouldAsk else { return before.verdict }
        let verdict = try await verdict(on: action, for: client)
        return verdict == .allowed ? .confirmed : verdict
    }

    /// polkit's answer, and whether it would have to ask the user.
    struct Answered: Sendable {
        let verdict: Verdict
        let wouldAsk: Bool
    }

    /// Asks about a client; polkit may have it give a password if `mayAsk`.
    ///
    /// Throws as `verdict`.
    func answer(
        on action: Action, for client: BusClientName, mayAsk: Bool
    ) async throws(Denial) -> Answered {
        lastNumber += 1
        let cancellation = "signetd-\(lastNumber)"
        let flags = BusValue.uint32(mayAsk ? 1 : 0)
        let call = call(
            "CheckAuthorization",
            [
                .structure([
                    .string("system-bus-name"), .dictionary([("name", .string(client.text))]),
                ]),
                .string(action.rawValue), .array(of: "{ss}", []), flags, .string(cancellation),
            ], answer: "((bba{ss}))")
        do throws(BusFault) {
            return Self.answered(in: try await bus.answer(to: call, limit: Self.patience).values)
        } catch {
            // Otherwise the user would still be asked for a password that serves nothing.
            onService { [self] in
                _ = try? await bus.answer(
                    to: self.call(
                        "CancelCheckAuthorization", [.string(cancellation)], answer: "()"),
                    limit: .seconds(5))
            }
            if error == .cancelled { throw Denial(.cancelled) }
            journal.fault("polkit did not decide about \(action.rawValue): \(error)")
            return Answered(verdict: .refused, wouldAsk: false)
        }
    }

    /// Reads the answer: is authorised, could be by a challenge, details.
    private static func answered(in values: [BusValue]) -> Answered {
        guard case .structure(let members)? = values.first, members.count == 3,
            case .array(_, let details) = members[2]
        else { return Answered(verdict: .refused, wouldAsk: false) }
        guard members[0].boolean == true else {
            return Answered(verdict: .refused, wouldAsk: members[1].boolean == true)
        }
        let isKept = details.contains {
            if case .entry(.string(keptDetail), _) = $0 { true } else { false }
        }
        return Answered(verdict: isKept ? .kept : .allowed, wouldAsk: false)
    }

    private func call(_ member: String, _ arguments: [BusValue], answer: String) -> BusCall {
        BusCall(
            to: Self.name, path: Self.path, interface: Self.authority, member: member,
            arguments: arguments, answer: answer, startsService: true)
    }
}

/// polkit's consent to a change of fingers, for which it has had a password given.
struct PolkitConsent: Sendable {}

extension Polkit: ChangeJudge {
    /// Has polkit authorise a change of fingers, just now; nil if it needed no password for that.
    ///
    /// Throws `notPermitted` if it refuses. An authorisation that it keeps is refused as well: it
    /// may have been given earlier, by a touch.
    func consent(to client: BusClientName) async throws(Denial) -> PolkitConsent? {
        switch try await confirmedVerdict(on: .enroll, for: client) {
        case .confirmed: return PolkitConsent()
        case .allowed: return nil
        case .refused: throw Denial(.notPermitted)
        case .kept:
            journal.warning(
                """
                polkit keeps authorisations of \(Action.enroll.rawValue), so no finger was changed. \
                Set the action to auth_self instead of auth_self_keep
                """)
            throw Denial(.notPermitted)
        }
    }
}
