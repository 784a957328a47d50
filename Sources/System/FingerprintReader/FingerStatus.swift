// SPDX-License-Identifier: Apache-2.0
import CFprint
import MainContext
import ReaderProtocol

/// Reports when the reader waits for a finger, and when a finger is put on it or lifted, until
/// `end()`.
///
/// Not every driver reports its finger status: synaptics does not while it identifies, and elanmoc
/// and upekts never do. If a scan has started and the driver reports nothing for `patience`, the
/// reader is assumed to wait for a finger, and the observer is told so.
@ReaderActor
final class FingerStatus {
    /// How long to wait for the driver's report before assuming that the reader needs a finger.
    ///
    /// The drivers of image readers all report it, but only once the reader has calibrated itself.
    private static let (patience, patienceWithImages) = (
        Duration.milliseconds(150), Duration.seconds(2)
    )

    private let handle: DeviceHandle
    private let id: String
    private let patience: Duration
    private let observer: ReaderEvent.Observer
    private var connection: SignalConnection?
    private var last: UInt32 = 0
    private var timer: Timer?
    /// Whether the need was assumed; the driver's own report of it is then not repeated.
    private var isAnticipated = false

    init(of device: Device, observer: @escaping ReaderEvent.Observer) {
        (handle, id) = (device.handle, device.id)
        self.observer = observer
        patience =
            device.description.matchesOnHost ? Self.patienceWithImages : Self.patience
        connection = unsafe SignalConnection(handle.pointer, signal: "notify::finger-status") {
            [weak self] _ in
            ReaderActor.assumeIsolated { self?.changed() }
        }
    }

    /// Starts waiting for the driver's report; call it right before a scan is started.
    func begin() {
        isAnticipated = false
        timer = Timer(onReaderAfter: patience) { [weak self] in self?.anticipate() }
    }

    /// Stops waiting for the driver's report; call it when a scan has ended.
    func pause() {
        timer?.cancel()
        timer = nil
    }

    func end() {
        pause()
        connection = nil
    }

    private func changed() {
        let now = unsafe fp_device_get_finger_status(handle.pointer).rawValue
        let (new, gone) = (now & ~last, last & ~now)
        last = now
        // Told first: a reader that needs the finger again has none on it.
        if gone & FP_FINGER_STATUS_PRESENT.rawValue != 0 {
            observer(ReaderEvent(reader: id, kind: .fingerGone))
        }
        if new & FP_FINGER_STATUS_NEEDED.rawValue != 0 {
            pause()
            if !isAnticipated { observer(ReaderEvent(reader: id, kind: .fingerNeeded)) }
            isAnticipated = false
        }
        if new & FP_FINGER_STATUS_PRESENT.rawValue != 0 {
            observer(ReaderEvent(reader: id, kind: .fingerPresent))
        }
    }

    private func anticipate() {
        guard connection != nil, timer != nil else { return }
        timer = nil
        isAnticipated = true
        observer(ReaderEvent(reader: id, kind: .fingerNeeded))
    }
}
