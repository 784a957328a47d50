// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
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
        /// The user was asked just now, or need not be.
        case authorized
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
        lastNumber += 1
        let cancellation = "signetd-\(lastNumber)"
        let mayAsk = BusValue.uint32(1)
        let call = call(
            "CheckAuthorization",
            [
                .structure([
                    .string("system-bus-name"), .dictionary([("name", .string(client.text))]),
                ]),
                .string(action.rawValue), .array(of: "{ss}", []), mayAsk, .string(cancellation),
            ], answer: "((bba{ss}))")
        do throws(BusFault) {
            return Self.verdict(in: try await bus.answer(to: call, limit: Self.patience).values)
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
            return .refused
        }
    }

    /// Reads the answer: is authorised, could be by a challenge, details.
    private static func verdict(in values: [BusValue]) -> Verdict {
        guard case .structure(let members)? = values.first, members.count == 3,
            members[0].boolean == true, case .array(_, let details) = members[2]
        else { return .refused }
        let isKept = details.contains {
            if case .entry(.string(keptDetail), _) = $0 { true } else { false }
        }
        return isKept ? .kept : .authorized
    }

    private func call(_ member: String, _ arguments: [BusValue], answer: String) -> BusCall {
        BusCall(
            to: Self.name, path: Self.path, interface: Self.authority, member: member,
            arguments: arguments, answer: answer, startsService: true)
    }
}
