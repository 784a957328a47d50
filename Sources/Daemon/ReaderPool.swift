import Loop
import ReaderProtocol
import Statement
import Texts
import Wire

/// The readers that the administrator lets us use, in the words of the socket.
///
/// They are in a process of their own, which may end at any time. What it says is held to what it was
/// asked: a match is one of a template that it was given, on a reader that was meant.
@ServiceActor
final class ReaderPool {
    /// How long a reader's list may take, and whatever wants no finger.
    private static let (listing, upkeep) = (Duration.seconds(10), Duration.seconds(120))
    /// How long it may take to find the readers, which some drivers probe.
    private static let search = Duration.seconds(15)

    private let line: ReaderLine
    private let ignored: Set<String>
    private var isSuspended = false

    /// Those with an id in `ignored` are left alone.
    init(_ line: ReaderLine, ignoring ignored: [String]) {
        self.line = line
        self.ignored = Set(ignored)
    }

    /// Has the process of the readers started, without waiting for it.
    func wake() {
        onService { [self] in _ = await usable() }
    }

    /// The readers there are; the fault where their process does not tell.
    func answers() async -> Result<[ReaderAnswer], ReaderFault> {
        do throws(ReaderFault) {
            return .success(try await found().map(ReaderAnswer.init))
        } catch { return .failure(error) }
    }

    /// The reader to enrol on: the one asked for, else the first.
    func choose(_ id: Bytes?) async -> ReaderDescription? {
        for lookAgain in [false, true] {
            let found = await usable(lookAgain: lookAgain)
            guard let id else {
                if let first = found.first { return first }
                continue
            }
            if let chosen = found.first(where: { Bytes($0.id.utf8) == id }) { return chosen }
        }
        return nil
    }

    /// Whether there are readers, and all of them at other seats.
    func areElsewhere(than seat: String) async -> Bool {
        let all = await usable()
        return !all.isEmpty && !all.contains { $0.seat == seat }
    }

    /// Whether there is a reader; where there is none, they are found anew, if wanted.
    func areThere(lookingAgain: Bool) async -> Bool {
        if await !usable().isEmpty { return true }
        guard lookingAgain else { return false }
        return await !usable(lookAgain: true).isEmpty
    }

    /// Judges what a reader, by its id, keeps before it is asked for a finger.
    typealias Examination = @ServiceActor (String, ReaderContents) async -> Bool

    /// Waits for a finger on every reader of the seat (nil: of any) that has one of the templates, and
    /// tells whose it is; see `Readers.listAndMatch`.
    func match(
        among templates: [Template], on reader: String? = nil, at seat: String? = nil,
        limit: Duration, examine: Examination? = nil,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<ListedMatch, ReaderFault> {
        guard templates.count <= ReaderLimit.templates else { return .failure(.full) }
        return await untilAnswered(limit, tell) { [self] limit throws(ReaderFault) in
            let asked = try await found().filter { description in
                reader.map { $0 == description.id } ?? (seat == nil || description.seat == seat)
            }
            let request = MatchRequest(
                readers: asked.map(\.id), limit: limit, templates: templates.count,
                isExamined: examine != nil)
            var heard = Heard()
            return try await line.ask(.match(request), templates, within: limit) {
                reply, conversation throws(ReaderFault) in
                switch reply {
                case .event(let event):
                    if let notice = notice(event, asked, templates) { tell(notice) }
                case .print(let print): try heard.take(print)
                case .template(let part, let isLast): try heard.take(part, isLast)
                case .examine(let reader, let identity):
                    guard let examine, asked.contains(where: { $0.id == reader }) else {
                        throw .processEnded
                    }
                    let isAccepted = await examine(reader, heard.contents(of: identity))
                    try await conversation.send(.judged(isAccepted: isAccepted))
                case .matched(let index, let reader, let lost):
                    return try heard.match(at: index, on: reader, lost, asked, templates)
                case .noMatch(let reader, let lost):
                    return try heard.noMatch(on: reader, lost, asked, templates)
                case .reader, .contents, .done, .refused, .fault: throw .processEnded
                }
                return nil
            }
        }
    }

    /// Enrols a finger; see `Readers.listAndEnroll`.
    func enroll(
        _ finger: Finger, account: String, on reader: String, limit: Duration,
        replacing old: Template?, examine: @escaping Examination,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<(template: Template, contents: ReaderContents?), ReaderFault> {
        await untilAnswered(limit, tell) { [self] limit throws(ReaderFault) in
            guard let description = try await found().first(where: { $0.id == reader }) else {
                throw .noReader
            }
            let request = EnrolmentRequest(
                finger: finger, account: account, reader: reader, limit: limit,
                replaces: old != nil)
            var heard = Heard()
            return try await line.ask(
                .enroll(request), old.map { [$0] } ?? [], within: limit
            ) { reply, conversation throws(ReaderFault) in
                switch reply {
                case .event(let event):
                    if let notice = notice(event, [description], isEnrolling: true) { tell(notice) }
                case .print(let print): try heard.take(print)
                case .template(let part, let isLast): try heard.take(part, isLast)
                case .examine(let shown, let identity):
                    guard shown == reader else { throw .processEnded }
                    let isAccepted = await examine(shown, heard.contents(of: identity))
                    try await conversation.send(.judged(isAccepted: isAccepted))
                case .contents(let identity):
                    let template = try heard.enrolled(finger, account, on: description)
                    return (template, heard.contents(of: identity))
                case .done: return (try heard.enrolled(finger, account, on: description), nil)
                case .reader, .matched, .noMatch, .refused, .fault: throw .processEnded
                }
                return nil
            }
        }
    }

    /// Runs something on readers, and once more where their process ended meanwhile: a driver that
    /// crashes costs one touch, and the next scan gets a process in which nothing is wrong. Both
    /// together take no longer than the limit.
    private func untilAnswered<Value>(
        _ limit: Duration, _ tell: @ServiceActor (Notice) -> Void,
        _ body: (Duration) async throws(ReaderFault) -> Value
    ) async -> Result<Value, ReaderFault> {
        let end = SuspendingClock.now + limit
        do throws(ReaderFault) {
            if isSuspended { throw .suspended }
            return .success(try await body(limit))
        } catch {
            guard error == .processEnded, !isSuspended else { return .failure(error) }
        }
        let left = end - SuspendingClock.now
        guard left > .zero, !Task.isCancelled else {
            return .failure(left > .zero ? .cancelled : .timedOut)
        }
        tell(Notice(.retry, retry: .restarted))
        do throws(ReaderFault) {
            return .success(try await body(left))
        } catch {
            return .failure(error)
        }
    }

    /// The same for what wants no finger: nobody has to do anything again.
    private func unlessEnded<Value>(
        _ body: () async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        do throws(ReaderFault) {
            return try await body()
        } catch {
            guard error == .processEnded, !Task.isCancelled else { throw error }
            return try await body()
        }
    }

    /// Ends what runs, closes the readers, and lets nothing run until `resume()`.
    func suspend() async {
        isSuspended = true
        await tellProcess(.suspend)
    }

    /// Lets the readers be used again.
    func resume() async {
        isSuspended = false
        await tellProcess(.resume)
    }

    private func tellProcess(_ request: ReaderRequest) async {
        do throws(ReaderFault) {
            try await line.ask(request, within: .seconds(4)) { reply, _ throws(ReaderFault) in
                reply == .done ? () : nil
            }
        } catch {
            // One that is not there uses no reader, and finds them anew when it is asked.
        }
    }

    /// The readers that list what they keep.
    func listing() async -> [ReaderDescription] {
        await usable().filter { $0.features.contains(.list) }
    }

    /// What a reader keeps, if it tells within some seconds.
    func list(_ reader: String) async -> Result<ReaderContents, ReaderFault> {
        do throws(ReaderFault) {
            if isSuspended { throw .suspended }
            let request = ReaderRequest.contents(reader: reader, limit: Self.listing)
            return .success(
                try await unlessEnded { () throws(ReaderFault) in
                    var heard = Heard()
                    return try await line.ask(request, within: Self.listing) {
                        reply, _ throws(ReaderFault) in
                        switch reply {
                        case .print(let print): try heard.take(print)
                        case .contents(let identity): return heard.contents(of: identity)
                        default: throw .processEnded
                        }
                        return nil
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    /// The readers that store prints, listing them or not: all, or the one with this id.
    func storing(_ id: Bytes?) async -> [ReaderDescription] {
        await usable().filter { reader in
            reader.features.contains(.storage) && (id == nil || Bytes(reader.id.utf8) == id)
        }
    }

    /// Deletes all that a reader stores; the fault where it did not.
    func clear(_ reader: String) async -> ReaderFault? {
        do throws(ReaderFault) {
            try await simple(.clear(reader: reader))
            return nil
        } catch { return error }
    }

    /// Deletes what a list showed; false where the reader did not.
    func delete(_ stored: ReaderProtocol.StoredPrint, on reader: String) async -> Bool {
        do throws(ReaderFault) {
            try await simple(.deletePrint(record: stored.bytes, reader: reader))
            return true
        } catch {
            return error == .notFound
        }
    }

    /// Deletes a print from readers that keep it and do not list what they keep; tells whether one is
    /// there. What cannot be reached now names no account any more and opens nothing.
    func forget(_ template: Template) async -> Bool {
        guard template.isStoredOnReader else { return false }
        var isThere = false
        for reader in await fitting(template) where !reader.features.contains(.list) {
            try? await simple(.deleteTemplate(reader: reader.id), [template])
            isThere = true
        }
        return isThere
    }

    /// The readers that a template was made for; where there is none, and one may be back, readers are
    /// looked for anew.
    func found(for template: Template) async -> [ReaderDescription] {
        let known = await fitting(template)
        return known.isEmpty ? await fitting(template, lookAgain: true) : known
    }

    /// Whether the reader's library can use a template on a reader; see `Readers.canUse`.
    func canUse(_ template: Template, on reader: String) async throws(ReaderFault) -> Bool {
        try await unlessEnded { () throws(ReaderFault) in
            try await line.ask(
                .canUse(reader: reader), [template], within: Self.listing
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
        await usable(lookAgain: lookAgain).filter {
            $0.driver == template.driver && $0.deviceID == template.deviceID
        }
    }

    /// What wants no finger, and is answered by its being done.
    private func simple(
        _ request: ReaderRequest, _ templates: [Template] = []
    ) async throws(ReaderFault) {
        if isSuspended { throw .suspended }
        try await unlessEnded { () throws(ReaderFault) in
            try await line.ask(request, templates, within: Self.upkeep) {
                reply, _ throws(ReaderFault) in
                guard reply == .done else { throw .processEnded }
                return ()
            }
        }
    }

    /// The readers there are; none where their process does not tell.
    private func usable(lookAgain: Bool = false) async -> [ReaderDescription] {
        (try? await found(lookAgain: lookAgain)) ?? []
    }

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

    private func notice(
        _ event: ReaderEvent, _ readers: [ReaderDescription], _ templates: [Template] = [],
        isEnrolling: Bool = false
    ) -> Notice? {
        guard let reader = readers.first(where: { $0.id == event.reader }) else { return nil }
        switch event.kind {
        case .fingerNeeded:
            // How many scans are wanted tells an enrolment from the look whose finger it is.
            let total = isEnrolling ? UInt8(clamping: reader.enrolStages) : nil
            return Notice(
                .touch, scan: reader.scanType, total: total,
                subject: Bytes(reader.name.utf8.prefix(Limit.text)))
        // The reader says itself that it needs the finger again.
        case .round: return nil
        case .fingerPresent: return Notice(.fingerPresent)
        case .lost(let index):
            guard templates.indices.contains(index) else { return nil }
            return Notice(.printLost, subject: Bytes(templates[index].finger.name.bytes))
        case .retry(let reason):
            return Notice(.retry, scan: reader.scanType, retry: reason)
        case .stage(let done, let total):
            return Notice(.stage, done: UInt8(clamping: done), total: UInt8(clamping: total))
        }
    }
}

extension ReaderAnswer {
    fileprivate init(_ reader: ReaderDescription) {
        self.init(
            readerID: Bytes(reader.id.utf8.prefix(Limit.label)),
            scan: reader.scanType, total: UInt8(clamping: reader.enrolStages),
            name: Bytes(reader.name.utf8.prefix(Limit.label)),
            driver: Bytes(reader.driver.utf8.prefix(Limit.label)),
            features: ReaderFeatures(reader))
    }
}

extension ReaderFeatures {
    fileprivate init(_ reader: ReaderDescription) {
        self = []
        if reader.features.contains(.identify) { insert(.identify) }
        if reader.features.contains(.storage) { insert(.storage) }
        if reader.features.contains(.list) { insert(.storageList) }
        if reader.features.contains(.updatePrint) { insert(.update) }
        if reader.matchesOnHost { insert(.hostMatching) }
    }
}

extension Denial {
    /// Why a reader could not be asked, or did not answer.
    ///
    /// Labelled: without it `.cancelled` and the like mean a fault again, and this never ends.
    init(of fault: ReaderFault) {
        switch fault {
        case .noReader: self.init(.noReader)
        case .removed: self.init(.readerRemoved)
        case .tooHot: self.init(.readerTooHot)
        case .busy: self.init(.readerBusy)
        case .cancelled: self.init(.cancelled)
        case .timedOut: self.init(.timedOut)
        case .suspended: self.init(.suspending)
        case .duplicate: self.init(.fingerOnReader)
        case .full: self.init(.readerFull)
        case .notFound: self.init(.printLost)
        case .protocolError: self.init(.readerConfused)
        case .notSupported: self.init(.readerFailed, subject: Detail.readerUnable.bytes)
        case .invalidTemplate: self.init(.readerFailed, subject: Detail.printNotAccepted.bytes)
        case .processEnded: self.init(.readerFailed, subject: Detail.readerProcessEnded.bytes)
        case .general(let message):
            self.init(.readerFailed, subject: Bytes(message.utf8.prefix(Limit.text)))
        }
    }
}
