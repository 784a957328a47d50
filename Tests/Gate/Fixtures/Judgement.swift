// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import Posix
import Systemd
import Testing

@testable import Gate

/// What a request is answered: evidence, or a denial.
enum Judgement: Equatable, CustomStringConvertible {
    case evidence(Gate.Presence.Origin, seat: String?, requester: String)
    case denied(Denial)

    static func missing(_ detail: Text) -> Judgement { .denied(.notAtMachine(detail)) }
    static let remote = Judgement.denied(Denial(.remoteSession))
    static func other(_ uid: UInt32, _ name: String) -> Judgement {
        .denied(.other(Requester(uid: uid, name: AccountName(name))))
    }

    var description: String {
        switch self {
        case .evidence(let origin, let seat, let requester): "\(origin) \(seat ?? "-") \(requester)"
        case .denied(let denial):
            "\(denial.reason) " + String(decoding: denial.subject ?? [], as: UTF8.self)
        }
    }
}

extension PlayedMachine {
    /// Has a client's request judged.
    func judge(
        _ client: ClientProcess, for account: Account = alice, _ claims: PresenceClaims = .init(),
        others: OtherAccounts = .asConfigured, settings: Configuration = Configuration()
    ) -> Judgement {
        do throws(Denial) {
            let presence = try PresenceExaminer(settings, facts: self)
                .evidence(for: client, account: account, claims: claims, others: others)
            #expect(presence.account == account.uid)
            return .evidence(
                presence.origin, seat: presence.seat,
                requester: String(decoding: presence.requester.name.bytes, as: UTF8.self))
        } catch { return .denied(error) }
    }

    /// A machine with a session c2 of alice's, and a client 100 in it.
    static func inSession(
        _ session: LoginSession, uid: UInt32 = 0
    ) -> (PlayedMachine, ClientProcess) {
        let machine = PlayedMachine { $0.sessions[session.id] = session }
        machine.process(100, in: .session(session.id))
        return (machine, machine.client(100, uid: uid))
    }
}

extension LoginSession {
    /// alice's, in front of seat0, if not said otherwise.
    static func alice(
        isRemote: Bool = false, seat: String? = "seat0", isActive: Bool = true,
        class kind: Class = .user
    ) -> LoginSession {
        LoginSession(
            id: "c2", owner: 1000, isRemote: isRemote, seat: seat, isActive: isActive, class: kind)
    }

    /// A greeter's, in front of a seat.
    static func greeter(id: String = "c1", seat: String? = "seat0", isActive: Bool = true)
        -> LoginSession
    {
        LoginSession(id: id, owner: 110, seat: seat, isActive: isActive, class: .greeter)
    }
}
