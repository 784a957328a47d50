// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

// How a reader enrols and compares. A scan of poor quality is repeated and judges nothing; only a
// good scan has a verdict, and it is reported once. What the driver claims about prints that were
// not asked for never counts as a match.
extension Device {
    /// How long a reader has to report that it does not store a print.
    private static let glance = Duration.milliseconds(300)

    /// Scans until the enrolment is complete, and reports bad scans, which are repeated.
    ///
    /// If `examine` is given, the reader's storage is examined first. Then the print of `old` is
    /// deleted from the reader; it is no error if the reader does not have it.
    ///
    /// - Throws: `cancelled` if `examine` returns false, or the driver's fault.
    func enroll(
        _ finger: Finger, account: String, replacing old: Template? = nil,
        examine: StorageExamination? = nil, observer: @escaping ReaderEvent.Observer
    ) async throws(ReaderFault) -> Template {
        try await submit(to: examine)
        if let old { try await forget(old) }
        let print = Print.blank(for: handle, finger: finger, account: account)
        let status = FingerStatus(of: self, observer: observer)
        defer { status.end() }
        let total = description.enrolStages
        var reached = 0
        let progress = EnrolProgress { [id] step in
            switch step {
            case .done(let stages):
                reached = stages
                observer(ReaderEvent(reader: id, kind: .stage(done: stages, total: total)))
            case .retry(let reason):
                observer(ReaderEvent(reader: id, kind: .retry(reason)))
            }
        }
        do {
            let enrolled = unsafe try await gioAsync { cancellable, ended, data in
                status.begin()
                unsafe fp_device_enroll(
                    handle.pointer, print.pointer, cancellable, EnrolProgress.callback,
                    progress.retained(), EnrolProgress.release, ended, data)
            } finish: { result, error in
                unsafe fp_device_enroll_finish(handle.pointer, result, error)
                    .map { unsafe Print(owned: $0) }
            }
            guard let enrolled else { throw ReaderFault.general("no print was made") }
            // Some readers need fewer scans than their drivers announce.
            if reached < total {
                observer(ReaderEvent(reader: id, kind: .stage(done: total, total: total)))
            }
            return try enrolled.template()
        } catch let fault as GioFault {
            throw ReaderFault(fault)
        } catch let fault as ReaderFault {
            throw fault
        } catch {
            throw .general("unknown error")
        }
    }

    /// Waits for a finger and compares it with the gallery; bad scans are reported and repeated.
    ///
    /// If `examine` is given, the reader's storage is examined first. A gallery that is larger than
    /// `galleryCap` takes several rounds, each with its own scan. The verdict is given as soon
    /// as the driver has it, because many drivers then wait until the finger is lifted. A print
    /// that the reader turns out to have lost is reported and left out.
    ///
    /// - Throws: `notFound` if the reader misses prints and none of this round's remain,
    ///   `cancelled` if `examine` returns false, or the driver's fault.
    func match(
        _ gallery: [(index: Int, template: Template)], examine: StorageExamination? = nil,
        observer: @escaping ReaderEvent.Observer, verdict: EarlyResult<ListedMatch>
    ) async throws(ReaderFault) -> ListedMatch {
        try await submit(to: examine)
        let cap = description.galleryCap
        let total = max(1, (gallery.count - 1) / cap + 1)
        // A caller that has its verdict gets no more events.
        let observer: ReaderEvent.Observer = { event in
            if !verdict.isGiven { observer(event) }
        }
        let status = FingerStatus(of: self, observer: observer)
        defer { status.end() }
        let search = GallerySearch(on: id)
        for round in 0..<total {
            if round > 0 {
                observer(
                    ReaderEvent(reader: id, kind: .round(next: round + 1, total: total)))
            }
            let part = Array(gallery.dropFirst(round * cap).prefix(cap))
            var prints: [Print] = []
            for entry in part { prints.append(try Print(entry.template)) }
            search.begin(part.map(\.index), isLast: round + 1 == total)
            func scanned() async throws(ReaderFault) -> ListedMatch? {
                search.judge(
                    try await scan(prints, status: status, observer: observer) { scanned in
                        if let found = search.judge(scanned) { verdict.give(found) }
                    })
            }
            do throws(ReaderFault) {
                if let found = try await scanned() { return found }
            } catch {
                guard error == .notFound else { throw error }
                let missing = try await lostPlaces(among: prints)
                for place in missing.reversed() {
                    observer(ReaderEvent(reader: id, kind: .lost(index: search.lose(place))))
                    prints.remove(at: place)
                }
                guard !missing.isEmpty, !prints.isEmpty else { throw error }
                if let found = try await scanned() { return found }
            }
        }
        return search.noMatch
    }

    /// Finds the prints that the reader has lost; returns their positions in `prints`.
    ///
    /// It is for readers that cannot list their storage: there, one lost print makes a comparison
    /// with all of them fail. Each print is looked for separately, for `glance` at most. A single
    /// print needs no search: it is the one that was reported missing.
    private func lostPlaces(among prints: [Print]) async throws(ReaderFault) -> [Int] {
        guard prints.count > 1 else { return Array(prints.indices) }
        var lost: [Int] = []
        for (place, print) in prints.enumerated() {
            if Task.isCancelled { throw .cancelled }
            if await isLost(print) { lost.append(place) }
        }
        return lost
    }

    /// Whether the reader reports the print as missing within `glance`.
    private func isLost(_ print: Print) async -> Bool {
        let outcome = Pending<Bool>()
        let task = onReader { [handle] in
            do throws(GioFault) {
                _ = try await handle.identify([print]) { _ in }
                outcome.settle(false)
            } catch { outcome.settle(ReaderFault(error) == .notFound) }
        }
        let limit = Timer(onReaderAfter: Self.glance) { task.cancel() }
        defer { limit.cancel() }
        return await outcome.wait()
    }

    /// Deletes a print from the reader's storage; it is no error if the reader does not have it.
    private func forget(_ old: Template) async throws(ReaderFault) {
        do throws(ReaderFault) {
            try await handle.delete(try Print(old))
        } catch {
            guard error == .notFound else { throw error }
        }
    }

    /// Lists the reader's storage and passes it to `examine`; does nothing if that is nil.
    ///
    /// - Throws: `cancelled` if `examine` returns false or the task was cancelled.
    private func submit(to examine: StorageExamination?) async throws(ReaderFault) {
        guard let examine else { return }
        guard await examine(id, try await contents()), !Task.isCancelled else {
            throw .cancelled
        }
    }

    /// Repeats the scan until it is good or fails with a fault.
    ///
    /// `reported` gets the result as soon as the driver has it. A reader that can only verify
    /// compares the finger with the first of `prints`.
    private func scan(
        _ prints: [Print], status: FingerStatus, observer: ReaderEvent.Observer,
        reported: @escaping @ReaderActor (Scanned) -> Void
    ) async throws(ReaderFault) -> Scanned {
        let canIdentify = description.features.contains(.identify)
        let keepsPrints = description.features.contains(.storage)
        defer { status.pause() }
        while true {
            do throws(GioFault) {
                status.begin()
                // Readers without storage return a print for every finger they see; it says nothing
                // about what they store. That holds for the early report as well.
                let told = { @ReaderActor (scanned: Scanned) in
                    reported(keepsPrints ? scanned : scanned.withoutStranger)
                }
                let scanned =
                    canIdentify
                    ? try await handle.identify(prints, reported: told)
                    : try await handle.verify(prints, reported: told)
                return keepsPrints ? scanned : scanned.withoutStranger
            } catch {
                switch ScanFailure(error) {
                case .fault(let fault): throw fault
                case .retry(let reason):
                    observer(ReaderEvent(reader: id, kind: .retry(reason)))
                }
            }
            if Task.isCancelled { throw .cancelled }
        }
    }
}

/// Accumulates the results of the scans that compare one gallery, round by round.
@ReaderActor
private final class GallerySearch {
    private let reader: String
    private var part: [Int] = []
    private var isLast = false
    private var stranger: ReaderPrint?
    private var lost: Set<Int> = []

    init(on reader: String) {
        self.reader = reader
    }

    /// Starts the next round, with the gallery positions of the templates it compares.
    func begin(_ part: [Int], isLast: Bool) {
        (self.part, self.isLast) = (part, isLast)
    }

    /// Records that a print of this round is missing from the reader; returns its gallery position.
    func lose(_ place: Int) -> Int {
        let index = part.remove(at: place)
        lost.insert(index)
        return index
    }

    /// Turns a scan into the final result; nil while other rounds are still to come.
    func judge(_ scanned: Scanned) -> ListedMatch? {
        stranger = scanned.stranger ?? stranger
        guard let found = scanned.match else { return isLast ? noMatch : nil }
        return ListedMatch(result: .matched(index: part[found]), reader: reader, lost: lost)
    }

    var noMatch: ListedMatch {
        ListedMatch(result: .noMatch, reader: reader, stranger: stranger, lost: lost)
    }
}

/// The result of one good scan.
private struct Scanned {
    /// The position of the print that matched.
    var match: Int?
    /// A print from the reader's own storage that matched the finger, and was not among those
    /// looked for.
    var stranger: ReaderPrint?

    /// A scan without a match and without a stranger.
    init() {}

    /// The same scan, without a stranger.
    var withoutStranger: Scanned {
        var scanned = self
        scanned.stranger = nil
        return scanned
    }

    /// Reads libfprint's result. libfprint continues to own both prints.
    @ReaderActor
    init(_ match: OpaquePointer?, scanned: OpaquePointer?, among prints: [Print]) {
        if let match = unsafe match {
            self.match =
                prints.firstIndex { unsafe $0.pointer == match }
                ?? prints.firstIndex { unsafe fp_print_equal($0.pointer, match) != 0 }
        } else if let scanned = unsafe scanned {
            unsafe g_object_ref(gpointer(scanned))
            stranger = try? ReaderPrint(unsafe Print(owned: scanned))
        }
    }
}

extension DeviceHandle {
    /// Scans once and looks for the finger among `prints` (`fp_device_identify`).
    @ReaderActor
    fileprivate func identify(
        _ prints: [Print], reported: @escaping @ReaderActor (Scanned) -> Void
    ) async throws(GioFault) -> Scanned {
        guard let gallery = unsafe g_ptr_array_new() else { return Scanned() }
        defer { unsafe g_ptr_array_unref(gallery) }
        for print in prints { unsafe g_ptr_array_add(gallery, gpointer(print.pointer)) }
        let report = MatchReport { match, scanned in
            reported(
                unsafe Scanned(
                    OpaquePointer(bitPattern: match), scanned: OpaquePointer(bitPattern: scanned),
                    among: prints))
        }
        return unsafe try await gioAsync { cancellable, ended, data in
            unsafe fp_device_identify(
                pointer, gallery, cancellable, MatchReport.callback, report.retained(),
                MatchReport.release, ended, data)
        } finish: { result, error in
            var (match, scanned): (OpaquePointer?, OpaquePointer?)
            _ = unsafe fp_device_identify_finish(pointer, result, &match, &scanned, error)
            defer {
                if let match = unsafe match { unsafe g_object_unref(gpointer(match)) }
                if let scanned = unsafe scanned { unsafe g_object_unref(gpointer(scanned)) }
            }
            return unsafe Scanned(match, scanned: scanned, among: prints)
        }
    }

    /// Scans once and compares the finger with the first of `prints` (`fp_device_verify`).
    @ReaderActor
    fileprivate func verify(
        _ prints: [Print], reported: @escaping @ReaderActor (Scanned) -> Void
    ) async throws(GioFault) -> Scanned {
        guard let print = prints.first else { return Scanned() }
        let report = MatchReport { match, _ in
            reported(unsafe Scanned(OpaquePointer(bitPattern: match), scanned: nil, among: prints))
        }
        return unsafe try await gioAsync { cancellable, ended, data in
            unsafe fp_device_verify(
                pointer, print.pointer, cancellable, MatchReport.callback, report.retained(),
                MatchReport.release, ended, data)
        } finish: { result, error in
            var match: gboolean = 0
            _ = unsafe fp_device_verify_finish(pointer, result, &match, nil, error)
            return unsafe Scanned(match != 0 ? print.pointer : nil, scanned: nil, among: prints)
        }
    }
}

extension Print {
    /// An empty print for `fp_device_enroll` to fill in, with finger, account and today's date.
    @ReaderActor
    fileprivate static func blank(
        for device: DeviceHandle, finger: Finger, account: String
    ) -> Print {
        let print = unsafe Print(
            owned: OpaquePointer(
                g_object_ref_sink(
                    gpointer(fp_print_new(device.pointer)))))
        unsafe fp_print_set_finger(print.pointer, FpFinger(UInt32(finger.rawValue)))
        unsafe fp_print_set_username(print.pointer, account)
        let today = unsafe g_date_time_new_now_utc()
        defer { unsafe g_date_time_unref(today) }
        var (year, month, day): (gint, gint, gint) = (0, 0, 0)
        unsafe g_date_time_get_ymd(today, &year, &month, &day)
        let date = unsafe g_date_new_dmy(
            GDateDay(day), GDateMonth(rawValue: UInt32(month)), GDateYear(year))
        defer { unsafe g_date_free(date) }
        unsafe fp_print_set_enroll_date(print.pointer, date)
        return print
    }
}
