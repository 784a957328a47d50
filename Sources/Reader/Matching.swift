// SPDX-License-Identifier: Apache-2.0
import Loop
import ReaderProtocol

/// Judges what the reader with this id keeps itself, before that is asked for a finger; false ends
/// the match on it as `cancelled`.
package typealias StorageExamination =
    @Sendable (_ reader: String, ReaderContents) async -> Bool

extension ReaderEvent {
    /// Takes events on the reader's thread, in order; should only pass them on.
    package typealias Observer = @ReaderActor (ReaderEvent) -> Void
}

extension Readers {
    /// Waits for a finger on every reader that has templates among these, or on those of `ids`
    /// alone, and tells whose it is. The first reader with a result wins; the others are cancelled.
    ///
    /// A reader's fault counts only when no other reader is left: then the first one is thrown.
    /// Throws `noReader` where no reader fits a template. Without templates the readers of `ids`
    /// find one among none, which tells of prints that they keep.
    package func match(
        among templates: [Template], on ids: [String]? = nil, limit: Duration = Readers.limit,
        observer: @escaping ReaderEvent.Observer = { _ in }
    ) async throws(ReaderFault) -> MatchResult {
        try await listAndMatch(
            among: templates, on: ids, limit: limit, examine: nil, observer: observer
        ).result
    }

    /// As `match`, and has each reader that keeps one of the templates list what it keeps, and
    /// `examine` judge it, before it scans.
    ///
    /// The reader stays open from its list to its match: nobody else can change what it keeps. One
    /// that can list and fails to has failed.
    package func listAndMatch(
        among templates: [Template], on ids: [String]? = nil, limit: Duration = Readers.limit,
        examine: StorageExamination?,
        observer: @escaping ReaderEvent.Observer = { _ in }
    ) async throws(ReaderFault) -> ListedMatch {
        await settled()
        return try await first(of: galleries(of: templates, on: ids), limit: limit) {
            gallery, limit async throws(ReaderFault) -> ListedMatch in
            let device = gallery.device
            return try await device.run(limit: limit, observer: observer) {
                verdict async throws(ReaderFault) -> ListedMatch in
                try await device.match(
                    gallery.entries, examine: gallery.isListed ? examine : nil,
                    observer: observer, verdict: verdict)
            }
        }
    }

    /// One reader, and the templates that fit it with their places in what was asked for.
    private struct Gallery {
        let device: Device
        let entries: [(index: Int, template: Template)]

        /// Whether the reader keeps one of the templates, and can tell.
        @ReaderActor var isListed: Bool {
            device.description.features.contains(.list)
                && entries.contains { $0.template.isStoredOnReader }
        }
    }

    private func galleries(of templates: [Template], on ids: [String]?) -> [Gallery] {
        devices.compactMap { device in
            guard !device.isGone, ids?.contains(device.id) != false else { return nil }
            let (driver, deviceID) = (device.handle.driver, device.handle.deviceID)
            let entries = templates.enumerated()
                .filter { $0.element.driver == driver && $0.element.deviceID == deviceID }
                .map { (index: $0.offset, template: $0.element) }
            // A reader that is named may be asked what it makes of a finger all the same.
            guard !entries.isEmpty || (templates.isEmpty && ids != nil) else { return nil }
            return Gallery(device: device, entries: entries)
        }
    }

    /// Runs `body` on all readers at once; the first value wins.
    private func first<Value: Sendable>(
        of galleries: [Gallery], limit: Duration,
        _ body: @escaping @ReaderActor (Gallery, Duration) async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        if rest.isSuspended { throw .suspended }
        guard let only = galleries.first else { throw .noReader }
        if galleries.count == 1 { return try await body(only, limit) }
        let (results, feed) = AsyncStream<Result<Value, ReaderFault>>.makeStream()
        let tasks = galleries.map { gallery in
            onReader {
                do throws(ReaderFault) {
                    feed.yield(.success(try await body(gallery, limit)))
                } catch {
                    feed.yield(.failure(error))
                }
            }
        }
        defer { for task in tasks { task.cancel() } }
        var faults: [ReaderFault] = []
        for await result in results {
            switch result {
            case .success(let value): return value
            case .failure(let fault): faults.append(fault)
            }
            if faults.count == tasks.count { break }
        }
        guard !Task.isCancelled, let fault = faults.first else { throw .cancelled }
        throw fault
    }
}

extension Device {
    /// The prints that the reader, which must be open and able to list, keeps itself. Throws
    /// `cancelled` when the task was in the meantime.
    func contents() async throws(ReaderFault) -> ReaderContents {
        var prints: [StoredPrint] = []
        for print in try await handle.listPrints() { prints.append(try StoredPrint(print)) }
        if Task.isCancelled { throw .cancelled }
        return ReaderContents(prints, of: description.identity)
    }
}
