// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import DesktopInterface
import LoginProtocol
import MainContext

/// The readers that signetd reports, as objects on the bus.
///
/// A reader keeps its object as long as it is there; a number is never used again. The object of a
/// reader that is gone is withdrawn at the next look, or when its claim ends after that. There is a
/// look when signetd says that readers may have changed, and at calls: at each one if signetd cannot
/// tell, and otherwise once in `lifetime`, so that no program's calls become as many requests.
@ServiceActor
final class DeviceList {
    /// How long the list counts while signetd watches for readers.
    private static let lifetime = Duration.seconds(10)

    /// What signetd says about readers that come and go.
    private enum Watch {
        /// It was not asked, or has ended the request.
        case none
        /// It tells, with this request.
        case holding(DaemonCall)
        /// It cannot tell here.
        case unavailable
    }

    /// From when a list is.
    private struct Look {
        /// How many reports there had been when it began.
        let reports: UInt64
        /// The time since boot.
        let time: Duration
    }

    private struct Entry {
        let device: DeviceObject
        let export: BusExport
    }

    private let host: DesktopHost
    private var entries: [Entry] = []
    private var nextNumber = 0
    private var watch = Watch.none
    /// How often signetd has said that readers may have changed.
    private var reports: UInt64 = 0
    /// The last look that succeeded; nil after one that failed, and after the end of a watch.
    private var latest: Look?
    /// The calls that wait for the look in progress; nil while there is none.
    private var waiting: [CheckedContinuation<Void, Never>]?

    init(host: DesktopHost) {
        self.host = host
    }

    /// The devices, the default one first.
    var devices: [DeviceObject] { entries.map(\.device) }

    /// Whether a client has claimed one, or a scan has not ended.
    var isInUse: Bool { entries.contains { $0.device.isInUse } }

    /// Waits until no scan runs; those that do not end by themselves soon are cancelled.
    func awaitScans() async {
        for entry in entries { await entry.device.awaitScans() }
    }

    /// Asks signetd which readers there are, unless that is known; calls at the same time share one
    /// answer.
    ///
    /// If it does not answer, the devices stay as they are.
    func refresh() async {
        if waiting != nil {
            return await withCheckedContinuation { waiting?.append($0) }
        }
        guard !isCurrent else { return }
        waiting = []
        // Before the look, so that no change falls between the two.
        follow()
        // What is reported during a look may be missing from it.
        repeat { latest = await look() } while latest.map { $0.reports != reports } == true
        let calls = waiting ?? []
        waiting = nil
        for call in calls { call.resume() }
    }

    /// Whether signetd would have said if the readers had changed since the last look.
    private var isCurrent: Bool {
        guard case .holding = watch, let latest else { return false }
        return latest.reports == reports && host.now - latest.time < Self.lifetime
    }

    /// Takes the list of readers; returns nil if signetd does not give it.
    private func look() async -> Look? {
        let look = Look(reports: reports, time: host.now)
        var readers: [ReaderAnswer] = []
        let last = try? await host.ask(.readers) { answer in
            if case .reader(let reader) = answer { readers.append(reader) }
        }
        guard case .done? = last else { return nil }
        take(readers)
        return look
    }

    /// Has signetd tell when readers come and go, unless it does or cannot; it ends that when it
    /// exits.
    private func follow() {
        guard case .none = watch,
            let call = try? DaemonCall.begin(Request(DesktopWatchRequest()), on: host.daemon)
        else { return }
        watch = .holding(call)
        onService { [weak self] in
            let last = await call.last { answer in
                guard answer.own(DesktopReadersAnswer.self) != nil else { return }
                self?.reports += 1
                await self?.refresh()
            }
            // Otherwise it is stopping, has exited or was asked too often: it is asked again with
            // the next look.
            let isUnavailable =
                if case .denial(let denial) = last {
                    denial.reason == .notServed
                } else {
                    false
                }
            self?.watch = isUnavailable ? .unavailable : .none
            self?.latest = nil
        }
    }

    private func take(_ readers: [ReaderAnswer]) {
        for device in devices {
            device.isGone = !readers.contains { $0.readerID == device.readerID }
            if device.isGone, !device.isInUse { withdraw(device) }
        }
        for reader in readers where !devices.contains(where: { $0.readerID == reader.readerID }) {
            add(reader)
        }
    }

    private func add(_ reader: ReaderAnswer) {
        let device = DeviceObject(reader, number: nextNumber, host: host)
        device.withdraw = { [weak self, weak device] in
            if let device { self?.withdraw(device) }
        }
        guard
            let export = try? host.bus.export(
                device, at: device.path, interfaces: InterfaceDescription.deviceXML)
        else { return }
        nextNumber += 1
        entries.append(Entry(device: device, export: export))
        host.emit(
            BusEmission(
                from: InterfaceDescription.root, interface: InterfaceDescription.objectManager,
                member: "InterfacesAdded",
                arguments: [.objectPath(device.path), device.interfaces]))
    }

    private func withdraw(_ device: DeviceObject) {
        guard devices.contains(where: { $0 === device }) else { return }
        entries.removeAll { $0.device === device }
        host.emit(
            BusEmission(
                from: InterfaceDescription.root, interface: InterfaceDescription.objectManager,
                member: "InterfacesRemoved",
                arguments: [
                    .objectPath(device.path),
                    .array(of: "s", [.string(InterfaceDescription.device)]),
                ]))
    }
}

extension DeviceObject {
    /// The interfaces with their properties, `a{sa{sv}}`.
    fileprivate var interfaces: BusValue {
        .array(
            of: "{sa{sv}}",
            [.entry(.string(InterfaceDescription.device), .dictionary(properties))])
    }
}

/// The object that lists the devices for programs.
@ServiceActor
final class ManagerObject: BusObject {
    private let host: DesktopHost
    private let devices: DeviceList

    init(host: DesktopHost, devices: DeviceList) {
        self.host = host
        self.devices = devices
    }

    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue] {
        try await host.serve(call) { (_) throws(DesktopFault) in
            await devices.refresh()
            // A client that asks for a device is about to use it.
            host.daemon.prepare()
            let paths = devices.devices.map { BusValue.objectPath($0.path) }
            if call.member == "GetDevices" { return [.array(of: "o", paths)] }
            guard let first = paths.first else {
                throw DesktopFault(.noSuchDevice, "there is no fingerprint reader")
            }
            return [first]
        }
    }
}

/// The object that lists the devices with their properties.
@ServiceActor
final class RootObject: BusObject {
    private let host: DesktopHost
    private let devices: DeviceList

    init(host: DesktopHost, devices: DeviceList) {
        self.host = host
        self.devices = devices
    }

    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue] {
        try await host.serve(call) { (_) throws(DesktopFault) in
            await devices.refresh()
            return [
                .array(
                    of: "{oa{sa{sv}}}",
                    devices.devices.map { .entry(.objectPath($0.path), $0.interfaces) })
            ]
        }
    }
}
