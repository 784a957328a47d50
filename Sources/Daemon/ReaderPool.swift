import Loop
import Reader
import Statement
import Texts
import Wire

/// The readers that the administrator lets us use, in the words of the socket.
@ReaderActor
final class ReaderPool {
    private static let listing = Duration.seconds(10)

    private let readers: Readers
    private let ignored: Set<String>

    /// Finds the readers; those with an id in `ignored` are left alone.
    init(ignoring ignored: [String]) {
        self.ignored = Set(ignored)
        readers = Readers()
    }

    /// The readers there are.
    var answers: [ReaderAnswer] { usable.map(ReaderAnswer.init) }

    /// The reader to enrol on: the one asked for, else the first.
    func choose(_ id: Bytes?) async -> ReaderDescription? {
        if let found = chosen(id) { return found }
        return await readers.renew(after: .noReader) ? chosen(id) : nil
    }

    private func chosen(_ id: Bytes?) -> ReaderDescription? {
        guard let id else { return usable.first }
        return usable.first { Bytes($0.id.utf8) == id }
    }

    /// Whether there are readers, and all of them at other seats.
    func areElsewhere(than seat: String) -> Bool {
        let all = usable
        return !all.isEmpty && !all.contains { $0.seat == seat }
    }

    /// Whether there is a reader; where there is none, they are found anew if one may have come back.
    func areThere() async -> Bool {
        if !usable.isEmpty { return true }
        return await readers.renew(after: .noReader) && !usable.isEmpty
    }

    /// Judges what a reader, by its id, keeps before it is asked for a finger; see
    /// `StorageExamination`.
    typealias Examination = @ServiceActor (String, ReaderContents) async -> Bool

    /// Waits for a finger on every reader of the seat (nil: of any) that has one of the templates;
    /// see `Readers.match`.
    func match(
        among templates: [Template], on reader: String? = nil, at seat: String? = nil,
        limit: Duration, examine: Examination? = nil,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<ListedMatch, ReaderFault> {
        await renewing(limit) { [self] limit throws(ReaderFault) in
            let ids =
                reader.map { [$0] }
                ?? usable.filter { seat == nil || $0.seat == seat }.map(\.id)
            return try await readers.listAndMatch(
                among: templates, on: ids, limit: limit, examine: examine,
                observer: observer(tell, templates))
        }
    }

    /// Enrols a finger; see `Readers.listAndEnroll`.
    func enroll(
        _ finger: Finger, account: String, on reader: String, limit: Duration,
        replacing old: Template?, examine: @escaping Examination,
        tell: @escaping @ServiceActor (Notice) -> Void
    ) async -> Result<(template: Template, contents: ReaderContents?), ReaderFault> {
        await renewing(limit) { [self] limit throws(ReaderFault) in
            try await readers.listAndEnroll(
                finger, account: account, on: reader, limit: limit, replacing: old,
                examine: examine, observer: observer(tell, isEnrolling: true))
        }
    }

    /// Runs something on readers, and once more where they had to be found anew; both together take
    /// no longer than the limit.
    private func renewing<Value>(
        _ limit: Duration, _ body: @ReaderActor (Duration) async throws(ReaderFault) -> Value
    ) async -> Result<Value, ReaderFault> {
        let end = SuspendingClock.now + limit
        do throws(ReaderFault) {
            return .success(try await body(limit))
        } catch {
            guard await readers.renew(after: error) else { return .failure(error) }
        }
        let left = end - SuspendingClock.now
        guard left > .zero, !Task.isCancelled else {
            return .failure(left > .zero ? .cancelled : .timedOut)
        }
        do throws(ReaderFault) {
            return .success(try await body(left))
        } catch {
            return .failure(error)
        }
    }

    /// Ends what runs, closes the readers, and lets nothing run until `resume()`.
    func suspend() async { await readers.suspend() }

    /// Lets the readers be used again.
    func resume() { readers.resume() }

    /// The readers that list what they keep.
    var listing: [ReaderDescription] { usable.filter { $0.features.contains(.list) } }

    /// What a reader keeps, if it tells within some seconds; see `Readers.list`.
    func list(_ reader: String) async -> Result<ReaderContents, ReaderFault> {
        do throws(ReaderFault) {
            return .success(try await readers.list(on: reader, limit: Self.listing))
        } catch {
            return .failure(error)
        }
    }

    /// The readers that store prints, listing them or not: all, or the one with this id.
    func storing(_ id: Bytes?) -> [ReaderDescription] {
        usable.filter { reader in
            reader.features.contains(.storage) && (id == nil || Bytes(reader.id.utf8) == id)
        }
    }

    /// Deletes all that a reader stores; the fault where it did not.
    func clear(_ reader: String) async -> ReaderFault? {
        do throws(ReaderFault) {
            try await readers.clearStorage(of: reader)
            return nil
        } catch { return error }
    }

    /// Deletes what a list showed; false where the reader did not.
    func delete(_ stored: Reader.StoredPrint, on reader: String) async -> Bool {
        do throws(ReaderFault) {
            try await readers.delete(stored, on: reader)
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
        for reader in fitting(template) where !reader.features.contains(.list) {
            try? await readers.delete(template, on: reader.id)
            isThere = true
        }
        return isThere
    }

    /// The readers that a template was made for.
    func fitting(_ template: Template) -> [ReaderDescription] {
        usable.filter { $0.driver == template.driver && $0.deviceID == template.deviceID }
    }

    /// As `fitting`, but where there is none, and one may be back, readers are looked for anew.
    func found(for template: Template) async -> [ReaderDescription] {
        let known = fitting(template)
        guard known.isEmpty, await readers.renew(after: .noReader) else { return known }
        return fitting(template)
    }

    /// Whether the reader's library can use a template on a reader; see `Readers.canUse`.
    func canUse(_ template: Template, on reader: String) throws(ReaderFault) -> Bool {
        try readers.canUse(template, on: reader)
    }

    /// Ends what runs and closes the readers.
    func close() async { await readers.close() }

    private var usable: [ReaderDescription] {
        readers.descriptions.filter { !ignored.contains($0.id) }
    }

    /// Passes events on to the service's thread, in their order.
    private func observer(
        _ tell: @escaping @ServiceActor (Notice) -> Void, _ templates: [Template] = [],
        isEnrolling: Bool = false
    ) -> ReaderEvent.Observer {
        { [weak self] event in
            guard let notice = self?.notice(event, templates, isEnrolling) else { return }
            onService { tell(notice) }
        }
    }

    private func notice(
        _ event: ReaderEvent, _ templates: [Template], _ isEnrolling: Bool
    ) -> Notice? {
        // Not asked for where a finger is on the reader: somebody waits for what comes of that.
        var reader: ReaderDescription? { readers.descriptions.first { $0.id == event.reader } }
        switch event.kind {
        case .fingerNeeded:
            let reader = reader
            // How many scans are wanted tells an enrolment from the look whose finger it is.
            let total = isEnrolling ? reader.map { UInt8(clamping: $0.enrolStages) } : nil
            return Notice(
                .touch, scan: reader?.scanType, total: total,
                subject: reader.map { Bytes($0.name.utf8.prefix(Limit.text)) })
        // The reader says itself that it needs the finger again.
        case .round: return nil
        case .fingerPresent: return Notice(.fingerPresent)
        case .lost(let index):
            guard templates.indices.contains(index) else { return nil }
            return Notice(.printLost, subject: Bytes(templates[index].finger.name.bytes))
        case .retry(let reason):
            return Notice(.retry, scan: reader?.scanType, retry: reason)
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
        case .general(let message):
            self.init(.readerFailed, subject: Bytes(message.utf8.prefix(Limit.text)))
        }
    }
}
