// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol

/// Examines the prints in a reader's storage before the reader scans.
///
/// `reader` is the reader's id. Returning false ends the operation on that reader with `cancelled`.
package typealias StorageExamination =
    @Sendable (_ reader: String, ReaderContents) async -> Bool

extension ReaderEvent {
    /// Receives events on the reader's actor, in order; it should return quickly.
    package typealias Observer = @ReaderActor (ReaderEvent) -> Void
}

extension Readers {
    /// Waits for a finger on all readers that fit one of the templates, and compares it with them.
    ///
    /// The first reader with a result decides, even if it is `noMatch`, and the others are
    /// cancelled. A fault counts only when every reader has failed; the first fault is then thrown.
    /// With no templates, the readers in `ids` scan for a stranger, a print in their own storage.
    ///
    /// - Parameters:
    ///   - ids: The readers that may scan; nil for all.
    /// - Returns: The result, whose index is a position in `templates`.
    /// - Throws: `noReader` if no reader fits a template, and the faults of `Device.run`.
    package func match(
        among templates: [Template], on ids: [String]? = nil, limit: Duration = Readers.limit,
        observer: @escaping ReaderEvent.Observer = { _ in }
    ) async throws(ReaderFault) -> MatchResult {
        try await listAndMatch(
            among: templates, on: ids, limit: limit, examine: nil, observer: observer
        ).result
    }

    /// Does what `match` does, and has each reader's storage examined before the reader scans.
    ///
    /// Only a reader that can list its storage, and stores one of the templates itself, is
    /// examined. The reader stays open from the listing to the match, so that its storage cannot
    /// change in between. If the listing fails, that reader counts as failed.
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

    /// A reader and the templates that fit it, with their positions in the list that was passed.
    private struct Gallery {
        let device: Device
        let entries: [(index: Int, template: Template)]

        /// Whether the reader stores one of the templates and can list its storage.
        @ReaderActor var isListed: Bool {
            device.description.features.contains(.list)
                && entries.contains { $0.template.isStoredOnReader }
        }
    }

    /// Sorts the templates by reader: a template fits each reader with its driver and device id.
    private func galleries(of templates: [Template], on ids: [String]?) -> [Gallery] {
        devices.compactMap { device in
            guard !device.isGone, ids?.contains(device.id) != false else { return nil }
            let (driver, deviceID) = (device.handle.driver, device.handle.deviceID)
            let entries = templates.enumerated()
                .filter { $0.element.driver == driver && $0.element.deviceID == deviceID }
                .map { (index: $0.offset, template: $0.element) }
            // Without templates, a reader that was named still scans, to find a stranger.
            guard !entries.isEmpty || (templates.isEmpty && ids != nil) else { return nil }
            return Gallery(device: device, entries: entries)
        }
    }

    /// Runs `body` on all readers at once, and cancels the rest when one succeeds.
    ///
    /// - Throws: `suspended`, `noReader` if there are no galleries, `cancelled` with the task, or
    ///   the first fault when all readers have failed.
    private func first<Value: Sendable>(
        of galleries: [Gallery], limit: Duration,
        _ body: @escaping @ReaderActor (Gallery, Duration) async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        if suspension.isSuspended { throw .suspended }
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
    /// Lists the reader's storage; the reader must be open and able to list.
    ///
    /// - Throws: `cancelled` if the task was cancelled in the meantime, or the driver's fault.
    func contents() async throws(ReaderFault) -> ReaderContents {
        var prints: [ReaderPrint] = []
        for print in try await handle.listPrints() { prints.append(try ReaderPrint(print)) }
        if Task.isCancelled { throw .cancelled }
        return ReaderContents(prints, of: description.identity)
    }
}
