// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol

/// What guards have to be told by other processes: by the reader's about readers, by logind about
/// the lid.
///
/// Both are asked at the same time, and possibly while something else is waited for. An answer counts
/// for `lifetime` from the question on, so that a guard is never passed by an old one.
@ServiceActor
final class GuardInquiry {
    /// How long after the question an answer counts.
    private static let lifetime = Duration.seconds(1)

    private let clock: Clock
    private let asked: Duration
    private let list: Ahead<Result<[ReaderDescription], ReaderFault>>?
    private let lid: Ahead<Bool>?

    fileprivate init(
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
}
