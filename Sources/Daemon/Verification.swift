// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store

extension Service {
    /// A touch that signs nothing: tells which finger it was. It counts like any other try. `reason`
    /// is why the caller wants it, in the caller's own words.
    func verify(
        _ account: Account, milliseconds: UInt32, because reason: Bytes?, _ client: any Client
    ) async throws(Denial) -> Answer {
        // What could show other than it is, or not at all, is nobody's reason.
        if let reason, !AskersReason.isSound(reason) { throw Denial(.badRequest) }
        var plan = plan(.verify, "signet verify", account, milliseconds: milliseconds)
        plan.tries = 1
        plan.reason = reason
        let presence = try await admit(plan, client)
        let turn = try await turn(plan, presence, client)
        let (kept, enrolment) = try fingers(of: account)
        let query = FingerQuery(
            gallery: Gallery(enrolment.prints), seat: seat(of: presence))
        let told = tell(plan, presence, client)
        defer { told?.end() }
        let touch = try await gate.touch(
            TouchRequest(account: account.uid, query: query, tries: plan.tries, end: plan.end),
            presence: presence, during: turn, counting: lockoutLedger(of: account, kept),
            interruptedBy: Interruption()
        ) { client.post(.notice($0, requestedBy: presence)) }
        return try await matched(touch, account, kept)
    }

    private func matched(
        _ touch: Touch<ScannedFinger>, _ account: Account, _ kept: AccountState
    ) async throws(Denial) -> Answer {
        // While the finger was awaited, it may have been deleted.
        let print = try reading(account) { () throws(StoreFault) in
            try kept.prints.enrolment().prints.first {
                $0.identifier == touch.finger.print.identifier
                    && $0.template == touch.finger.print.template
            }
        }
        guard let print else {
            touch.attempt.takeBack()
            throw Denial(.noMatch)
        }
        try touch.attempt.succeeded()
        return .done(DoneAnswer(finger: print.finger))
    }

    /// An account's fingers; throws where it has none.
    func fingers(of account: Account) throws(Denial) -> (AccountState, Enrolment) {
        try reading(account) {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            let enrolment = try kept.prints.enrolment()
            if enrolment.isEmpty { throw Denial(.notEnrolled) }
            return (kept, enrolment)
        }
    }
}
