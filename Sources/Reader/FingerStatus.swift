// SPDX-License-Identifier: Apache-2.0
import CFprint
import Loop
import ReaderProtocol

/// Reports when the reader wants a finger and when it has one, until it is ended.
///
/// Not every driver tells: synaptics does not where it identifies, elanmoc and upekts never do. A
/// reader that scans and has said nothing for a while wants a finger all the same.
@ReaderActor
final class FingerStatus {
    /// How long a driver may take to say that it wants a finger before that is said for it. The
    /// drivers of image readers all say so, once the reader has measured its surroundings.
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
    /// Whether it was said for the driver, which may say it yet.
    private var isAnticipated = false

    init(of device: Device, _ observer: @escaping ReaderEvent.Observer) {
        (handle, id) = (device.handle, device.id)
        self.observer = observer
        patience =
            device.description.matchesOnHost ? Self.patienceWithImages : Self.patience
        connection = unsafe SignalConnection(handle.pointer, "notify::finger-status") {
            [weak self] _ in
            ReaderActor.assumeIsolated { self?.changed() }
        }
    }

    /// The library is about to be asked for a scan.
    func begin() {
        isAnticipated = false
        timer = Timer(onReaderAfter: patience) { [weak self] in self?.anticipate() }
    }

    /// What the library was asked for is over.
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
        let new = now & ~last
        last = now
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
