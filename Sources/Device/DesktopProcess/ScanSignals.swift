// SPDX-License-Identifier: Apache-2.0
import DBus
import DesktopInterface
import LoginProtocol
import MainContext

/// What a device tells of its scans, to the claimer alone.
@ServiceActor
struct ScanSignals {
    private let path: String
    private let host: DesktopHost

    /// Creates those of the device at a path.
    init(of path: String, host: DesktopHost) {
        self.path = path
        self.host = host
    }

    /// Tells how a scan goes on, or has ended.
    func tell(_ scan: RunningScan, _ report: ScanReport) {
        emit(
            scan.action == .verify ? "VerifyStatus" : "EnrollStatus",
            [.string(report.worded(for: scan.vocabulary).result), .boolean(report.isDone)],
            to: scan.client)
    }

    /// Tells which finger is awaited; nil for any.
    func tell(_ scan: RunningScan, selected finger: Finger?) {
        emit(
            "VerifyFingerSelected", [.string(finger.map(FingerName.text) ?? FingerName.any)],
            to: scan.client)
    }

    private func emit(_ member: String, _ arguments: [BusValue], to client: String) {
        host.emit(
            BusEmission(
                from: path, interface: InterfaceDescription.device, member: member,
                arguments: arguments), to: client)
    }
}
