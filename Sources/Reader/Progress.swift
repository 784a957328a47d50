import CFprint
import Loop
import Wire

/// Passes on what libfprint reports in the course of an enrolment.
@ReaderActor
final class EnrolProgress {
    enum Step: Sendable {
        case done(Int)
        case retry(RetryReason)
    }

    private let body: @ReaderActor (Step) -> Void

    init(_ body: @escaping @ReaderActor (Step) -> Void) {
        self.body = body
    }

    /// A reference for libfprint to hold until it calls `release`.
    func retained() -> gpointer {
        unsafe Unmanaged.passRetained(self).toOpaque()
    }

    nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<EnrolProgress>.fromOpaque(data).release() }
    }

    nonisolated static let callback: FpEnrollProgress = { _, stages, _, data, error in
        guard let data = unsafe data else { return }
        let progress = unsafe Unmanaged<EnrolProgress>.fromOpaque(data).takeUnretainedValue()
        var step = Step.done(Int(stages))
        if let error = unsafe error { step = .retry(unsafe RetryReason(code: error.pointee.code)) }
        ReaderActor.assumeIsolated { progress.body(step) }
    }
}

/// Reports when the reader wants a finger and when it has one, until it is ended.
@ReaderActor
final class FingerStatus {
    private var connection: SignalConnection?
    private var last: UInt32 = 0

    init(of device: Device, _ observer: @escaping ReaderEvent.Observer) {
        let (handle, id) = (device.handle, device.id)
        connection = unsafe SignalConnection(handle.pointer, "notify::finger-status") {
            [weak self] _ in
            ReaderActor.assumeIsolated {
                guard let self else { return }
                let now = unsafe fp_device_get_finger_status(handle.pointer).rawValue
                let new = now & ~self.last
                self.last = now
                if new & FP_FINGER_STATUS_NEEDED.rawValue != 0 {
                    observer(ReaderEvent(reader: id, kind: .fingerNeeded))
                }
                if new & FP_FINGER_STATUS_PRESENT.rawValue != 0 {
                    observer(ReaderEvent(reader: id, kind: .fingerPresent))
                }
            }
        }
    }

    func end() {
        connection = nil
    }
}
