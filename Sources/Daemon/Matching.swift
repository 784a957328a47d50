import Loop
import Policy
import Posix
import Reader
import Store
import Wire

/// What a request for a touch wants.
struct TouchWish {
    let account: Account
    /// Who asks, for whoever waits behind.
    let asker: Asker
    let tries: Int
    var timeout: Duration
    /// The seat whose readers are meant; nil for any.
    var seat: String?
}

/// A finger that matched, and what remains to be done about it.
struct MatchedFinger {
    let print: Store.StoredPrint
    /// The id of the reader that it matched on.
    let reader: String
    /// The template to keep in its place, where the reader improved it.
    let updated: Template?
    /// The try, which still counts as failed.
    let counted: CountedTry
    /// How often the machine had slept when it was asked for.
    let sleeps: UInt64
}

extension Service {
    /// Waits for the turn at the reader; nil when it has come. The caller ends it with
    /// `queue.leave()`. On the way to sleep nobody gets one.
    func turnDenial(_ wish: TouchWish, _ client: any Client) async -> Denial? {
        if logind.isSuspending { return Denial(.suspending) }
        let (turn, expired) = await limited(to: wish.timeout) { [queue] in
            await queue.turn(for: wish.asker, of: wish.account.uid) { inFront in
                client.post(.notice(Notice(.waiting, subject: inFront)))
            }
        }
        switch turn {
        case .granted where logind.isSuspending:
            queue.leave()
            return Denial(.suspending)
        case .granted: return nil
        case .full(let inFront): return Denial(.queueFull, subject: inFront)
        case .cancelled: return Denial(expired ? .timedOut : .cancelled)
        }
    }

    /// Tries fingers against an account's prints until one matches, the tries are used up, the
    /// time is over, or the lockout closes. Readers that keep prints are examined before each try.
    ///
    /// Each try is on disk as a failure before the reader is asked, so no restart forgives one.
    /// After a match the caller lifts the lockout: not before the answer went out.
    func attempt(
        _ wish: TouchWish, _ kept: AccountState, _ enrolment: Enrolment, until end: Duration,
        _ client: any Client, examine: ReaderPool.Examination? = nil
    ) async -> Ruling<MatchedFinger> {
        let gallery = Gallery(enrolment.prints)
        let sleeps = logind.sleeps
        var mismatches: UInt8 = 0
        while true {
            if var denial = denial(of: kept.lockout.load()) {
                denial.mismatches = mismatches
                return .deny(denial)
            }
            let counted: CountedTry
            do throws(StoreFault) {
                counted = try CountedTry(in: kept.lockout, at: now)
            } catch { return .deny(denial(for: error, wish.account)) }
            switch await scan(gallery, at: wish.seat, until: end, client, examine) {
            case .success(let found):
                guard case .matched(let index, let updated) = found.result else {
                    mismatches += 1
                    if let denial = failed(counted, wish, mismatches, client) {
                        return .deny(denial)
                    }
                    continue
                }
                guard let print = gallery.print(at: index) else {
                    return .deny(Denial(.readerFailed, mismatches: mismatches))
                }
                return .allow(
                    MatchedFinger(
                        print: print, reader: found.reader, updated: updated, counted: counted,
                        sleeps: sleeps))
            case .failure(let fault):
                takeBack(counted, wish.account)
                var denial = Denial(of: fault)
                denial.mismatches = mismatches
                return .deny(denial)
            }
        }
    }

    /// Records that a finger did not match; why there is no further try, nil if there is.
    private func failed(
        _ counted: CountedTry, _ wish: TouchWish, _ mismatches: UInt8, _ client: any Client
    ) -> Denial? {
        do throws(StoreFault) {
            let lockout = try counted.failed(at: now)
            if var denial = denial(of: lockout) {
                denial.mismatches = mismatches
                return denial
            }
        } catch { return denial(for: error, wish.account) }
        let left = wish.tries - Int(mismatches)
        guard left > 0 else { return Denial(.noMatch, mismatches: mismatches) }
        client.post(.notice(Notice(.noMatch, triesLeft: UInt8(clamping: left))))
        return nil
    }

    /// Takes a try back in which no finger failed. Where the disk does not let it, it counts.
    func takeBack(_ counted: CountedTry, _ account: Account) {
        do throws(StoreFault) {
            try counted.takeBack()
        } catch { journal.fault(error.description, account: account.name) }
    }

    private func scan(
        _ gallery: Gallery, at seat: String?, until end: Duration, _ client: any Client,
        _ examine: ReaderPool.Examination?
    ) async -> Result<ListedMatch, ReaderFault> {
        let left = end - clock.sinceBoot()
        guard left > .zero else { return .failure(.timedOut) }
        return await readers.match(
            among: gallery.templates, at: seat, limit: left, examine: examine
        ) { client.post(.notice($0)) }
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
