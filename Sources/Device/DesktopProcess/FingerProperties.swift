// SPDX-License-Identifier: Apache-2.0
import DBus
import DesktopInterface
import MainContext

/// The properties of a device that tell what it has to do with a finger now; changes are announced.
@ServiceActor
final class FingerProperties {
    private let path: String
    private let host: DesktopHost
    /// The scan that waits for a finger.
    private var scan: DeviceState.ScanID?

    /// Creates those of the device at a path: no finger is needed, and none there.
    init(of path: String, host: DesktopHost) {
        self.path = path
        self.host = host
    }

    /// Both properties with their values now.
    var all: [(name: String, value: BusValue)] {
        [("finger-present", .boolean(isPresent)), ("finger-needed", .boolean(scan != nil))]
    }

    /// Whether a finger is on the reader.
    var isPresent = false {
        didSet { if isPresent != oldValue { announce("finger-present", isPresent) } }
    }

    /// A scan waits for a finger.
    func isNeeded(by scan: DeviceState.ScanID) {
        let wasNeeded = self.scan != nil
        self.scan = scan
        if !wasNeeded { announce("finger-needed", true) }
    }

    /// A scan waits for no finger any more; does nothing if another one does.
    func isNoMoreNeeded(by scan: DeviceState.ScanID) {
        guard self.scan == scan else { return }
        self.scan = nil
        isPresent = false
        announce("finger-needed", false)
    }

    private func announce(_ name: String, _ value: Bool) {
        host.emit(
            .propertiesChanged(
                [(name, .boolean(value))], of: InterfaceDescription.device, at: path))
    }
}
