import CFprint
import Loop
import Wire

extension Device {
    /// Waits for fingers until the enrolment is complete; bad scans are reported and repeated. What
    /// the reader keeps is examined first, if wanted.
    func enroll(
        _ finger: Finger, account: String, examine: StorageExamination? = nil,
        observer: @escaping ReaderEvent.Observer
    ) async throws(ReaderFault) -> Template {
        try await submit(to: examine)
        let print = Print.blank(for: handle, finger: finger, account: account)
        let status = FingerStatus(of: self, observer)
        defer { status.end() }
        let progress = EnrolProgress { [id, total = description.enrolStages] step in
            switch step {
            case .done(let stages):
                observer(ReaderEvent(reader: id, kind: .stage(done: stages, total: total)))
            case .retry(let reason):
                observer(ReaderEvent(reader: id, kind: .retry(reason)))
            }
        }
        do {
            let enrolled = unsafe try await gioAsync { cancellable, ended, data in
                unsafe fp_device_enroll(
                    handle.pointer, print.pointer, cancellable, EnrolProgress.callback,
                    progress.retained(), EnrolProgress.release, ended, data)
            } finish: { result, error in
                unsafe fp_device_enroll_finish(handle.pointer, result, error)
                    .map { unsafe Print(owned: $0) }
            }
            guard let enrolled else { throw ReaderFault.general("no print was made") }
            return try enrolled.template()
        } catch let fault as GioFault {
            throw ReaderFault(fault)
        } catch let fault as ReaderFault {
            throw fault
        } catch {
            throw .general("unknown error")
        }
    }

    /// Waits for a finger and compares it with the gallery, in as many rounds as its size takes;
    /// bad scans are reported and repeated. What the reader keeps is examined first, if wanted.
    func match(
        _ gallery: [(index: Int, template: Template)], examine: StorageExamination? = nil,
        observer: @escaping ReaderEvent.Observer
    ) async throws(ReaderFault) -> MatchResult {
        try await submit(to: examine)
        let cap = description.galleryCap
        let total = (gallery.count - 1) / cap + 1
        let status = FingerStatus(of: self, observer)
        defer { status.end() }
        for round in 0..<total {
            if round > 0 {
                observer(
                    ReaderEvent(reader: id, kind: .round(next: round + 1, total: total)))
            }
            let part = gallery.dropFirst(round * cap).prefix(cap)
            var prints: [Print] = []
            for entry in part { prints.append(try Print(entry.template)) }
            guard let found = try await scan(prints, observer: observer) else { continue }
            let entry = part[part.startIndex + found]
            return .matched(
                index: entry.index, updated: try updated(prints[found], from: entry.template))
        }
        return .noMatch
    }

    /// Has what the reader keeps judged; throws `cancelled` where it may not go on.
    private func submit(to examine: StorageExamination?) async throws(ReaderFault) {
        guard let examine else { return }
        guard await examine(id, try await contents()), !Task.isCancelled else {
            throw .cancelled
        }
    }

    /// One good scan; the place of the print that it matched.
    private func scan(
        _ prints: [Print], observer: ReaderEvent.Observer
    ) async throws(ReaderFault) -> Int? {
        let canIdentify = description.features.contains(.identify)
        while true {
            do throws(GioFault) {
                return canIdentify
                    ? try await handle.identify(prints) : try await handle.verify(prints)
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

    private func updated(
        _ print: Print, from template: Template
    ) throws(ReaderFault) -> Template? {
        guard description.features.contains(.updatePrint) else { return nil }
        let now = try print.template()
        return now.bytes == template.bytes ? nil : now
    }
}

extension DeviceHandle {
    /// Scans once and finds the finger among `prints` (`fp_device_identify`).
    @ReaderActor
    fileprivate func identify(_ prints: [Print]) async throws(GioFault) -> Int? {
        guard let gallery = unsafe g_ptr_array_new() else { return nil }
        defer { unsafe g_ptr_array_unref(gallery) }
        for print in prints { unsafe g_ptr_array_add(gallery, gpointer(print.pointer)) }
        return unsafe try await gioAsync { cancellable, ended, data in
            unsafe fp_device_identify(
                pointer, gallery, cancellable, nil, nil, nil, ended, data)
        } finish: { result, error in
            var match: OpaquePointer?
            _ = unsafe fp_device_identify_finish(pointer, result, &match, nil, error)
            guard let match = unsafe match.map({ unsafe Print(owned: $0) }) else { return nil }
            return prints.firstIndex { unsafe $0.pointer == match.pointer }
                ?? prints.firstIndex { unsafe fp_print_equal($0.pointer, match.pointer) != 0 }
        }
    }

    /// Scans once and compares the finger with the only one of `prints` (`fp_device_verify`).
    @ReaderActor
    fileprivate func verify(_ prints: [Print]) async throws(GioFault) -> Int? {
        guard let print = prints.first else { return nil }
        return unsafe try await gioAsync { cancellable, ended, data in
            unsafe fp_device_verify(
                pointer, print.pointer, cancellable, nil, nil, nil, ended, data)
        } finish: { result, error in
            var match: gboolean = 0
            _ = unsafe fp_device_verify_finish(pointer, result, &match, nil, error)
            return match != 0 ? 0 : nil
        }
    }
}

extension Print {
    /// What `fp_device_enroll` takes to fill in.
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
