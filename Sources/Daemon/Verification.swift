import Loop
import Policy
import Posix
import Store
import Systemd
import Wire

extension Service {
    /// A touch that signs nothing: tells which finger it was. It counts like any other try.
    func verify(
        _ account: Account, milliseconds: UInt32, _ client: any Client
    ) async -> Answer {
        let timeout = touchTime(milliseconds)
        let end = clock.sinceBoot() + timeout
        var wish = TouchWish(
            account: account, asker: Asker("signet verify (\(account.name))"), tries: 1,
            timeout: timeout)
        if case .deny(let denial) = fingers(of: account) { return .denial(denial) }
        switch await presence(in: Session(ofPeer: client.descriptor)) {
        case .deny(let denial): return .denial(denial)
        case .allow(let seat): wish.seat = seat
        }
        if let denial = await turnDenial(wish, client) { return .denial(denial) }
        defer { queue.leave() }
        switch fingers(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let (kept, enrolment)):
            switch await attempt(wish, kept, enrolment, until: end, client) {
            case .deny(let denial): return .denial(denial)
            case .allow(let finger): return await matched(finger, account, kept)
            }
        }
    }

    private func matched(
        _ finger: MatchedFinger, _ account: Account, _ kept: AccountState
    ) async -> Answer {
        do throws(StoreFault) {
            // While the finger was awaited, it may have been deleted.
            let print = try kept.prints.enrolment().prints.first {
                $0.identifier == finger.print.identifier && $0.template == finger.print.template
            }
            guard let print else {
                try finger.counted.takeBack()
                return .denial(Denial(.noMatch))
            }
            try finger.counted.succeeded()
            await keepUpdate(finger, account, kept)
            return .done(DoneAnswer(finger: print.finger))
        } catch {
            return .denial(denial(for: error, account))
        }
    }

    private func fingers(of account: Account) -> Ruling<(AccountState, Enrolment)> {
        reading(account) { () throws(StoreFault) in
            guard let kept = try kept(account) else { return .deny(Denial(.notEnrolled)) }
            let enrolment = try kept.prints.enrolment()
            if enrolment.isEmpty { return .deny(Denial(.notEnrolled)) }
            return .allow((kept, enrolment))
        }
    }
}
