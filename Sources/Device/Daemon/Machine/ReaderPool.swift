// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import ReaderProtocol
import SignedFormats

/// The fingerprint readers that the administrator lets Signet use.
///
/// They are driven by a separate process, `signet-reader`, which may crash or be restarted at any
/// time. Its replies are not trusted beyond the request: a match counts only for a template that
/// the process was given, on a reader that it was asked to use. A request whose process ends is
/// repeated once.
@ServiceActor
final class ReaderPool {
    /// Time limits for listing a reader's prints, and for other work that needs no finger.
    private static let (listing, upkeep) = (Duration.seconds(10), Duration.seconds(120))
    /// The time limit for finding the readers; some drivers probe the device for this.
    private static let search = Duration.seconds(15)
    /// How often per request an unplugged reader is waited for, and the interval between looks for
    /// it.
    private static let returns = 3
    private static let glance = Duration.seconds(1)

    private let line: ReaderClient
    private let ignored: Set<String>
    private let absence: Duration
    private var isSuspended = false

    /// Uses the readers behind a line, except those whose identifier is in `ignored`.
    ///
    /// `absence` is how long to wait for a reader that is unplugged while a finger is awaited.
    init(_ line: ReaderClient, ignoring ignored: [String], absence: Duration) {
        self.line = line
        self.absence = absence
        self.ignored = Set(ignored)
    }

    /// Starts the reader process without waiting for it.
    func wake() {
        onService { [self] in _ = await usable() }
    }

    /// Whether the reader process is being started, or has said something within this time.
    func isAtWork(within time: Duration) async -> Bool { await line.isAtWork(within: time) }

    /// The readers for a list, or the fault if the reader process does not report them.
    func answers() async -> Result<[ReaderAnswer], ReaderFault> {
        do throws(ReaderFault) {
            return .success(try await found().map(ReaderAnswer.init))
        } catch { return .failure(error) }
    }

    /// The reader on which to enrol: the requested one, else the first; nil if it is not there.
    func choose(_ id: Bytes?) async throws(ReaderFault) -> ReaderDescription? {
        for lookAgain in [false, true] {
            let found = try await found(lookAgain: lookAgain)
            guard let id else {
                if let first = found.first { return first }
                continue
            }
            if let chosen = found.first(where: { Bytes($0.id.utf8) == id }) { return chosen }
        }
        return nil
    }

    /// The readers, without those that are ignored.
    ///
    /// - Parameter lookAgain: whether to search for them anew, for a reader that was plugged in.
    func present(lookAgain: Bool = false) async -> Result<[ReaderDescription], ReaderFault> {
        do throws(ReaderFault) {
            return .success(try await found(lookAgain: lookAgain))
        } catch { return .failure(error) }
    }

    /// Judges the prints stored on a reader, given by its identifier, before it is asked for a
    /// finger; false rejects the reader.
    typealias Examination = @ServiceActor (String, ReaderContents) async -> Bool

    /// Waits for a finger on each reader that has one of the templates, and reports which template
    /// matched; see `Readers.listAndMatch`.
    ///
    /// - Parameters:
    ///   - reader: the only reader to use; nil for all.
    ///   - seat: the seat whose readers to use; nil for all. Ignored if `reader` is given.
    ///   - examine: judges each reader's contents before it scans; nil to skip that.
    /// - Returns: the match or mismatch, or the fault; `.full` if there are more templates than one
    ///   request may have.
    func match(
        among templates: [Template], on reader: String? = nil, at seat: String? = nil,
        limit: Duration, examine: Examination? = nil,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<ListedMatch, ReaderFault> {
        guard templates.count <= ReaderLimit.templates else { return .failure(.full) }
        func asked(lookAgain: Bool = false) async throws(ReaderFault) -> [ReaderDescription] {
            try await found(lookAgain: lookAgain).filter { description in
                reader.map { $0 == description.id } ?? (seat == nil || description.seat == seat)
            }
        }
        let isBack = { () async throws(ReaderFault) -> Bool in
            try await !asked(lookAgain: true).isEmpty
        }
        return await untilAnswered(limit, tell: tell, isBack: isBack) {
            [self] limit throws(ReaderFault) in
            let asked = try await asked()
            let request = MatchRequest(
                readers: asked.map(\.id), limit: limit, templates: templates.count,
                isExamined: examine != nil)
            var heard = Heard()
            return try await line.ask(.match(request), templates: templates, within: limit) {
                reply, conversation throws(ReaderFault) in
                switch reply {
                case .event(let event):
                    if let notice = Notice(event, of: asked, templates: templates) { tell(notice) }
                case .print(let print): try heard.take(print)
                case .examine(let id, let identity):
                    guard let examine, let reader = asked.first(where: { $0.id == id }),
                        templates.contains(where: { $0.isStored(on: reader) })
                    else { throw .processEnded }
                    let contents = try heard.examined(identity, on: reader)
                    let isAccepted = await examine(id, contents)
                    try await conversation.send(.judged(isAccepted: isAccepted))
                case .matched(let index, let reader, let lost):
                    return try heard.match(
                        at: index, on: reader, lost: lost, asked: asked, templates: templates)
                case .noMatch(let reader, let lost):
                    return try heard.noMatch(
                        on: reader, lost: lost, asked: asked, templates: templates)
                case .reader, .template, .contents, .done, .refused, .alive, .searching, .fault:
                    throw .processEnded
                }
                return nil
            }
        }
    }

    /// Enrols a finger; see `Readers.listAndEnroll`.
    ///
    /// - Parameter tidy: called before the enrolment is repeated; deletes what the first attempt
    ///   has left on the reader.
    /// - Returns: the template, and the reader's contents if it can list them.
    func enroll(
        _ finger: Finger, account: String, on reader: String, limit: Duration,
        replacing old: Template?, examine: @escaping Examination, tidy: () async -> Void,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<(template: Template, contents: ReaderContents?), ReaderFault> {
        var isFirst = true
        return await untilAnswered(limit, tell: tell) { [self] limit throws(ReaderFault) in
            if !isFirst { await tidy() }
            isFirst = false
            guard let description = try await found().first(where: { $0.id == reader }) else {
                throw .noReader
            }
            let request = EnrolmentRequest(
                finger: finger, account: account, reader: reader, limit: limit,
                replaces: old != nil)
            var heard = Heard()
            return try await line.ask(
                .enroll(request), templates: old.map { [$0] } ?? [], within: limit
            ) { reply, conversation throws(ReaderFault) in
                switch reply {
                case .event(let event):
                    if let notice = Notice(event, of: [description], isEnrolling: true) {
                        tell(notice)
                    }
                case .print(let print): try heard.take(print)
                case .template(let part, let isLast): try heard.take(part, isLast: isLast)
                case .examine(let shown, let identity):
                    guard shown == reader else { throw .processEnded }
                    let contents = try heard.examined(identity, on: description)
                    let isAccepted = await examine(shown, contents)
                    try await conversation.send(.judged(isAccepted: isAccepted))
                case .contents(let identity):
                    let template = try heard.enrolled(finger, account: account, on: description)
                    return (template, try heard.contents(of: identity, on: description))
                case .done:
                    return (try heard.enrolled(finger, account: account, on: description), nil)
                case .reader, .matched, .noMatch, .refused, .alive, .searching, .fault:
                    throw .processEnded
                }
                return nil
            }
        }
    }

    /// Runs a request that waits for a finger, and repeats it where that helps.
    ///
    /// If the reader process ends, the request is repeated once: a driver that crashes or hangs
    /// costs one touch, and the next scan gets a new process. If the reader was unplugged and
    /// `isBack` is given, it waits for up to `absence` for the reader, at most three times. `limit`
    /// bounds everything together and does not run while the machine is suspended.
    private func untilAnswered<Value>(
        _ limit: Duration, tell: @ServiceActor (Notice) -> Void,
        isBack: (() async throws(ReaderFault) -> Bool)? = nil,
        _ body: (Duration) async throws(ReaderFault) -> Value
    ) async -> Result<Value, ReaderFault> {
        let end = SuspendingClock.now + limit
        var (restarts, returns, resumes) = (0, 0, 0)
        while true {
            if isSuspended { return .failure(.suspended) }
            let left = end - SuspendingClock.now
            guard left > .zero else { return .failure(.timedOut) }
            do throws(ReaderFault) {
                return .success(try await body(left))
            } catch {
                guard !isSuspended, !Task.isCancelled else { return .failure(error) }
                switch error {
                case .suspended where resumes == 0:
                    // A previous daemon had suspended the process.
                    resumes += 1
                    await tellProcess(.resume)
                case .processEnded where restarts == 0:
                    restarts += 1
                    tell(Notice(.retry, retry: .restarted))
                case .removed where returns < Self.returns:
                    returns += 1
                    guard let isBack else { return .failure(error) }
                    tell(Notice(.retry, retry: .unplugged))
                    let patience = min(end, SuspendingClock.now + absence)
                    guard await isReturned(before: patience, isBack) else {
                        return .failure(Task.isCancelled ? .cancelled : error)
                    }
                default: return .failure(error)
                }
            }
        }
    }

    /// Waits for a reader that was unplugged; returns whether it is back.
    private func isReturned(
        before end: SuspendingClock.Instant, _ isBack: () async throws(ReaderFault) -> Bool
    ) async -> Bool {
        while SuspendingClock.now < end, !isSuspended {
            do throws(CancellationError) {
                try await Timer.sleep(for: Self.glance)
            } catch { return false }
            if (try? await isBack()) == true { return true }
        }
        return false
    }

    /// Runs a request that needs no finger; repeats it once if the reader process has ended or
    /// still assumes that the machine is about to be suspended.
    private func unlessEnded<Value>(
        _ body: () async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        do throws(ReaderFault) {
            return try await body()
        } catch {
            guard !Task.isCancelled, !isSuspended else { throw error }
            switch error {
            case .processEnded: break
            case .suspended: await tellProcess(.resume)
            default: throw error
            }
            return try await body()
        }
    }

    /// Ends the current request, closes the readers, and refuses requests that wait for a finger or
    /// list or delete prints until `resume()`.
    func suspend() async {
        isSuspended = true
        await tellProcess(.suspend)
    }

    /// Allows the readers to be used again.
    func resume() async {
        isSuspended = false
        await tellProcess(.resume)
    }

    /// Waits for at most ten seconds; a process that is still starting uses no reader.
    private func tellProcess(_ request: ReaderRequest) async {
        _ = await limited(to: .seconds(10)) { [line] in
            do throws(ReaderFault) {
                try await line.ask(request, within: .seconds(4)) { reply, _ throws(ReaderFault) in
                    reply == .done ? () : nil
                }
            } catch {
                // A process that is not running uses no reader, and opens none before it is asked.
            }
        }
    }

    /// The readers that can list the prints they store.
    func listing() async -> [ReaderDescription] {
        await usable().filter { $0.features.contains(.list) }
    }

    /// Lists the prints stored on a reader, within ten seconds.
    func list(_ reader: ReaderDescription) async -> Result<ReaderContents, ReaderFault> {
        do throws(ReaderFault) {
            if isSuspended { throw .suspended }
            let request = ReaderRequest.contents(reader: reader.id, limit: Self.listing)
            return .success(
                try await unlessEnded { () throws(ReaderFault) in
                    var heard = Heard()
                    return try await line.ask(request, within: Self.listing) {
                        reply, _ throws(ReaderFault) in
                        switch reply {
                        case .print(let print): try heard.take(print)
                        case .contents(let identity):
                            return try heard.contents(of: identity, on: reader)
                        default: throw .processEnded
                        }
                        return nil
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    /// The readers that store prints, whether or not they can list them: all, or the one with this
    /// identifier.
    func storing(_ id: Bytes?) async -> [ReaderDescription] {
        await usable().filter { reader in
            reader.features.contains(.storage) && (id == nil || Bytes(reader.id.utf8) == id)
        }
    }

    /// Deletes all prints stored on a reader; returns the fault if that failed.
    func clear(_ reader: String) async -> ReaderFault? {
        do throws(ReaderFault) {
            try await simple(.clear(reader: reader))
            return nil
        } catch { return error }
    }

    /// Deletes a print that a list has shown; returns false if the reader has failed.
    ///
    /// A print that is already gone counts as deleted.
    func delete(_ stored: ReaderPrint, on reader: String) async -> Bool {
        do throws(ReaderFault) {
            try await simple(.deletePrint(record: stored.bytes, reader: reader))
            return true
        } catch {
            return error == .notFound
        }
    }

    /// What has become of a print on the readers that cannot list their contents.
    enum Forgetting {
        /// There is no such reader.
        case noReader
        case deleted
        /// A reader could not delete it. The print belongs to no account and opens nothing.
        case failed
    }

    /// Deletes a print from readers that store it and cannot list their contents.
    ///
    /// A print that is already gone counts as deleted.
    @discardableResult
    func forget(_ template: Template) async -> Forgetting {
        guard template.isStoredOnReader else { return .noReader }
        var outcome = Forgetting.noReader
        for reader in await fitting(template) where !reader.features.contains(.list) {
            if outcome == .noReader { outcome = .deleted }
            do throws(ReaderFault) {
                try await simple(.deleteTemplate(reader: reader.id), templates: [template])
            } catch {
                if error != .notFound { outcome = .failed }
            }
        }
        return outcome
    }

    /// The readers for which a template was made; if none is known, searches again, since one may
    /// have been plugged in.
    func found(for template: Template) async -> [ReaderDescription] {
        let known = await fitting(template)
        return known.isEmpty ? await fitting(template, lookAgain: true) : known
    }

    /// The ones of these readers for which a template was made.
    nonisolated static func fitting(
        _ template: Template, among readers: [ReaderDescription]
    ) -> [ReaderDescription] {
        readers.filter {
            $0.driver == template.driver && $0.deviceID == template.deviceID
        }
    }

    /// Whether libfprint can use a template on a reader; see `Readers.canUse`.
    func canUse(_ template: Template, on reader: String) async throws(ReaderFault) -> Bool {
        try await unlessEnded { () throws(ReaderFault) in
            try await line.ask(
                .canUse(reader: reader), templates: [template], within: Self.listing
            ) { reply, _ throws(ReaderFault) in
                switch reply {
                case .done: true
                case .refused: false
                default: throw .processEnded
                }
            }
        }
    }

    private func fitting(
        _ template: Template, lookAgain: Bool = false
    ) async -> [ReaderDescription] {
        Self.fitting(template, among: await usable(lookAgain: lookAgain))
    }

    /// Runs a request that needs no finger and whose only answer is that it is done.
    private func simple(
        _ request: ReaderRequest, templates: [Template] = []
    ) async throws(ReaderFault) {
        if isSuspended { throw .suspended }
        try await unlessEnded { () throws(ReaderFault) in
            try await line.ask(request, templates: templates, within: Self.upkeep) {
                reply, _ throws(ReaderFault) in
                guard reply == .done else { throw .processEnded }
                return ()
            }
        }
    }

    /// The usable readers; none if the reader process does not report them.
    private func usable(lookAgain: Bool = false) async -> [ReaderDescription] {
        (try? await found(lookAgain: lookAgain)) ?? []
    }

    /// The readers that the process reports, without the ignored ones.
    ///
    /// A reader named twice, or too many of them, ends the conversation.
    private func found(lookAgain: Bool = false) async throws(ReaderFault) -> [ReaderDescription] {
        try await unlessEnded { () throws(ReaderFault) in
            var readers: [ReaderDescription] = []
            return try await line.ask(.readers(lookAgain: lookAgain), within: Self.search) {
                [ignored] reply, _ throws(ReaderFault) in
                switch reply {
                case .reader(let reader):
                    guard readers.count < ReaderLimit.readers,
                        !readers.contains(where: { $0.id == reader.id })
                    else { throw .processEnded }
                    readers.append(reader)
                case .done: return readers.filter { !ignored.contains($0.id) }
                default: throw .processEnded
                }
                return nil
            }
        }
    }
}
