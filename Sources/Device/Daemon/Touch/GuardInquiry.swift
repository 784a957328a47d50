// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol

/// What guards have to know, found out before they are checked: what the readers' process says about
/// readers, logind about the lid, and the examiner about presence.
///
/// The first two are asked at the same time, and possibly while something else is waited for. All of it
/// counts for `lifetime` from the questions on, so that a guard is never passed by an old answer.
@ServiceActor
final class GuardInquiry {
    /// How long after the question an answer counts.
    private static let lifetime = Duration.seconds(1)

    private let clock: Clock
    private let asked: Duration
    private let list: Ahead<Result<[ReaderDescription], ReaderFault>>?
    private let lid: Ahead<Bool>?
    private var judged: Result<Presence, Denial>?

    init(
        clock: Clock, list: Ahead<Result<[ReaderDescription], ReaderFault>>?, lid: Ahead<Bool>?,
        asked: Duration
    ) {
        self.clock = clock
        self.list = list
        self.lid = lid
        self.asked = asked
    }

    /// The readers; nil if they were not asked for, or too long ago.
    func readers() async -> Result<[ReaderDescription], ReaderFault>? {
        guard let list else { return nil }
        let answer = await list.result()
        return isCurrent ? answer : nil
    }

    /// Whether the lid denies a touch; nil if that was not asked for, or too long ago.
    func isLidClosed() async -> Bool? {
        guard let lid else { return nil }
        let answer = await lid.result()
        return isCurrent ? answer : nil
    }

    /// What the guard of presence has said; nil if it was not asked, or too long ago.
    var presence: Result<Presence, Denial>? { isCurrent ? judged : nil }

    /// Notes what the guard of presence says now.
    func note(_ presence: Result<Presence, Denial>) { judged = presence }

    /// Ends the questions that were not answered.
    func cancel() {
        list?.cancel()
        lid?.cancel()
    }

    private var isCurrent: Bool { clock.sinceBoot() - asked < Self.lifetime }
}

extension TouchGuards {
    /// Begins to ask what the guards of a rule will have to know.
    ///
    /// The caller must cancel it. It changes nothing.
    func inquire(for guards: [TouchGuard]) async -> GuardInquiry {
        let asked = clock.sinceBoot()
        var list: Ahead<Result<[ReaderDescription], ReaderFault>>?
        if guards.contains(.reader) {
            list = await Ahead.begin { [readers] in await readers.present() }
        }
        var lid: Ahead<Bool>?
        if guards.contains(.lid) { lid = await Ahead.begin { [self] in await isLidClosed() } }
        return GuardInquiry(clock: clock, list: list, lid: lid, asked: asked)
    }

    /// Judges presence for a plan ahead, so that `admit` need not while the others answer.
    func judge(_ plan: TouchPlan, client: any Client, in inquiry: GuardInquiry) {
        guard let rule = plan.rule else { return }
        do throws(Denial) {
            inquiry.note(.success(try presence(for: plan, rule: rule, client: client)))
        } catch { inquiry.note(.failure(error)) }
    }
}
