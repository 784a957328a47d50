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
/// look at each call, and when signetd says that readers may have changed.
@ServiceActor
final class DeviceList {
    private struct Entry {
        let device: DeviceObject
        let export: BusExport
    }

    private let host: DesktopHost
    private var entries: [Entry] = []
    private var nextNumber = 0
    /// The request that signetd answers when readers come and go.
    private var watch: DaemonCall?
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

    /// Asks signetd which readers there are; calls at the same time share one answer.
    ///
    /// If it does not answer, the devices stay as they are.
    func refresh() async {
        if waiting != nil {
            return await withCheckedContinuation { waiting?.append($0) }
        }
        waiting = []
        var readers: [ReaderAnswer] = []
        let last = try? await host.ask(.readers) { answer in
            if case .reader(let reader) = answer { readers.append(reader) }
        }
        if case .done? = last {
            take(readers)
            follow()
        }
        let calls = waiting ?? []
        waiting = nil
        for call in calls { call.resume() }
    }

    /// Has signetd tell when readers come and go, unless it does; it ends that when it exits.
    private func follow() {
        guard watch == nil,
            let call = try? DaemonCall.begin(Request(DesktopWatchRequest()), paths: host.paths)
        else { return }
        watch = call
        onService { [weak self] in
            let last = await call.last { answer in
                if answer.own(DesktopReadersAnswer.self) != nil { await self?.refresh() }
            }
            // Without an answer it has exited, and is asked again with the next look.
            if last == nil { self?.watch = nil }
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
