// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

extension PAMLogins {
    /// Serves `signet verify`: a touch that signs nothing, and reports which finger matched.
    ///
    /// Root or the account itself may ask. The requester must be at the machine, and the account
    /// needs enrolled fingers but no credential. One try is allowed; it counts towards the lockout
    /// like any other attempt, and a match lifts the lockout. Clients that watch the account are
    /// told about the touch.
    ///
    /// Throws `badRequest` if the reason contains anything that cannot be displayed safely,
    /// otherwise the denial of a guard or of the touch.
    func verify(
        _ request: VerifyRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        // A reason is displayed unchanged or not accepted at all.
        if let reason = request.reason, !AskersReason.isSound(reason) { throw Denial(.badRequest) }
        var plan = guards.plan(
            for: VerifyRequest.self, account: account, milliseconds: request.timeoutMilliseconds)
        plan.tries = 1
        plan.reason = request.reason
        let presence = try await guards.admit(plan, client: client)
        let turn = try await touches.turn(plan, presence: presence, client: client)
        let (kept, enrolment) = try accounts.fingers(of: account)
        let query = FingerQuery(
            gallery: Gallery(enrolment.prints), seat: guards.seat(of: presence),
            reports: PrintReports(
                account: account, kept: kept, accounts: accounts, journal: journal))
        let told = touches.tell(plan, presence: presence, client: client)
        defer { told?.end() }
        let touch = try await gate.touch(
            TouchRequest(
                account: account.uid, query: query, tries: plan.tries, timeout: plan.timeout),
            presence: presence, during: turn,
            counting: accounts.lockoutLedger(of: account, kept: kept),
            interruptedBy: Interruption()
        ) { client.tell($0, requestedBy: presence) }
        return try await matched(touch, account: account, kept: kept)
    }

    /// Settles the attempt and returns the finger, if it is still enrolled.
    ///
    /// If the print was deleted or replaced while the finger was awaited, the attempt is taken back
    /// and `noMatch` is thrown.
    private func matched(
        _ touch: Touch<ScannedFinger>, account: Account, kept: AccountState
    ) async throws(Denial) -> Answer {
        // The finger may have been deleted while it was awaited.
        let print = try accounts.reading(account) { () throws(StoreFault) in
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
}
