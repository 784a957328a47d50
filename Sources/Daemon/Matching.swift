import Loop
import Policy
import Posix
import Reader
import Store
import Wire

/// What a request for a touch wants.
struct TouchWish {
    let account: Account
    /// Who asks, for whoever waits behind: `sudo (alice, pts/3)`.
    let who: Bytes
    let tries: Int
    let timeout: Duration
}

/// A finger that matched, and what remains to be done about it.
struct MatchedFinger {
    let print: Store.StoredPrint
    /// The template to keep in its place, where the reader improved it.
    let updated: Template?
}

extension Service {
    /// Waits for the turn at the reader; nil when it has come. The caller ends it with
    /// `queue.leave()`.
    func turnDenial(_ wish: TouchWish, _ client: any Client) async -> Denial? {
        let (turn, expired) = await limited(to: wish.timeout) { [queue] in
            await queue.turn(for: wish.who) { inFront in
                client.post(.notice(Notice(.waiting, subject: inFront)))
            }
        }
        switch turn {
        case .granted: return nil
        case .full(let inFront): return Denial(.queueFull, subject: inFront)
        case .cancelled: return Denial(expired ? .timedOut : .cancelled)
        }
    }

    /// Tries fingers against an account's prints until one matches, the tries are used up, the
    /// time is over, or the lockout closes.
    ///
    /// Each try is on disk as a failure before the reader is asked, so no restart forgives one.
    /// After a match the caller lifts the lockout: not before the answer went out.
    func attempt(
        _ wish: TouchWish, _ kept: AccountState, _ enrolment: Enrolment, until end: Duration,
        _ client: any Client
    ) async -> Ruling<MatchedFinger> {
        let gallery = Gallery(enrolment.prints)
        var mismatches = 0
        while true {
            let before = kept.lockout.load()
            if let denial = denial(of: before, mismatches) { return .deny(denial) }
            if let denial = saveDenial(before.beginningAttempt(at: now), kept, wish) {
                return .deny(denial)
            }
            switch await scan(gallery, until: end, client) {
            case .success(.matched(let index, let updated)):
                guard let print = gallery.print(at: index) else {
                    return .deny(Denial(.readerFailed))
                }
                return .allow(MatchedFinger(print: print, updated: updated))
            case .success(.noMatch):
                mismatches += 1
                let after = kept.lockout.load().afterMismatch(at: now)
                if let denial = saveDenial(after, kept, wish) { return .deny(denial) }
                let left = wish.tries - mismatches
                if let denial = denial(of: after, mismatches) { return .deny(denial) }
                guard left > 0 else {
                    return .deny(Denial(.noMatch, mismatches: UInt8(clamping: mismatches)))
                }
                client.post(.notice(Notice(.noMatch, triesLeft: UInt8(clamping: left))))
            case .failure(let fault):
                // No finger was judged, so nothing failed.
                if let denial = saveDenial(before, kept, wish) { return .deny(denial) }
                var denial = Denial(of: fault)
                denial.mismatches = UInt8(clamping: mismatches)
                return .deny(denial)
            }
        }
    }

    private func scan(
        _ gallery: Gallery, until end: Duration, _ client: any Client
    ) async -> Result<MatchResult, ReaderFault> {
        let left = end - clock.sinceBoot()
        guard left > .zero else { return .failure(.timedOut) }
        return await readers.match(among: gallery.templates, limit: left) { notice in
            client.post(.notice(notice))
        }
    }

    private func denial(of lockout: Lockout, _ mismatches: Int) -> Denial? {
        var denial = denial(of: lockout)
        denial?.mismatches = UInt8(clamping: mismatches)
        return denial
    }

    private func saveDenial(
        _ lockout: Lockout, _ kept: AccountState, _ wish: TouchWish
    ) -> Denial? {
        do throws(StoreFault) {
            try kept.lockout.save(lockout)
            return nil
        } catch {
            return denial(for: error, wish.account)
        }
    }
}

/// Prints in the form that readers take, with the way back.
struct Gallery {
    /// The templates, in order.
    let templates: [Template]
    private let prints: [Store.StoredPrint]

    /// All prints whose template is in libfprint's form.
    init(_ prints: [Store.StoredPrint]) {
        let pairs = prints.compactMap { print in
            (try? Template(bytes: print.template)).map { (print, $0) }
        }
        self.prints = pairs.map(\.0)
        templates = pairs.map(\.1)
    }

    /// The print that a template was made of.
    func print(at index: Int) -> Store.StoredPrint? {
        prints.indices.contains(index) ? prints[index] : nil
    }
}
