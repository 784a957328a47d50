// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import Loop
import Posix
import ReaderProtocol

/// The machine's fingerprint readers (`FpContext`).
///
/// Make one a process, and `close()` it before the process ends.
@ReaderActor
package final class Readers {
    /// What one operation may take at most, unless its caller says less: readers heat up.
    package nonisolated static let limit = Duration.seconds(120)

    /// Runs after a reader was plugged in or unplugged.
    package var changed: (@ReaderActor () -> Void)?
    /// Runs where a driver goes on with what it was to end: nothing can be done with it any more.
    package var stuck: (@ReaderActor () -> Void)?

    private var context: Context
    private(set) var devices: [Device] = []
    private var connections: [SignalConnection] = []
    /// How the machine slept and woke up.
    var rest = Rest()
    /// The most readers that were there at once, since they were last found to be fewer for good.
    private(set) var known = 0
    /// The end of finding them anew, while that goes on.
    private var renewing: Pending<Void>?

    /// Finds the readers; takes as long as the drivers need for it.
    package init() {
        context = Context()
        listen()
    }

    private func listen() {
        for handle in context.devices { add(handle) }
        connections = [
            unsafe SignalConnection(context.pointer, "device-added") { [weak self] address in
                ReaderActor.assumeIsolated { self?.appeared(address) }
            },
            unsafe SignalConnection(context.pointer, "device-removed") { [weak self] address in
                ReaderActor.assumeIsolated { self?.vanished(address) }
            },
        ]
    }

    /// The readers that are plugged in, in the order they were found.
    package var descriptions: [ReaderDescription] {
        devices.filter { !$0.isGone }.map(\.description)
    }

    /// Enrols `finger` for `account` on one reader. Bad scans are reported and repeated.
    ///
    /// Throws `cancelled` when the task is, `timedOut` after `limit`, `removed`, `tooHot`, `full`,
    /// `duplicate` and so on as the reader says (`fp_device_enroll`).
    package func enroll(
        _ finger: Finger, account: String, on reader: String, limit: Duration = Readers.limit,
        observer: @escaping ReaderEvent.Observer = { _ in }
    ) async throws(ReaderFault) -> Template {
        await settled()
        let device = try device(reader)
        return try await device.run(limit: limit, observer: observer) {
            _ async throws(ReaderFault) -> Template in
            try await device.enroll(finger, account: account, observer: observer)
        }
    }

    /// As `enroll`, on a reader that lists what it keeps: has `examine` judge that before, and gives
    /// what it keeps with the new print. Other readers enrol alone, with `nil` for the latter.
    ///
    /// A print that is to be replaced is deleted after that, on readers that take no finger twice:
    /// it is gone then, whatever the enrolment comes to.
    ///
    /// Nobody else can change what the reader keeps meanwhile. A list that fails afterwards is
    /// thrown, and the print is on the reader then.
    package func listAndEnroll(
        _ finger: Finger, account: String, on reader: String, limit: Duration = Readers.limit,
        replacing old: Template? = nil, examine: @escaping StorageExamination,
        observer: @escaping ReaderEvent.Observer = { _ in }
    ) async throws(ReaderFault) -> (template: Template, contents: ReaderContents?) {
        await settled()
        let device = try device(reader)
        let lists = device.description.features.contains(.list)
        return try await device.run(limit: limit, observer: observer) {
            _ async throws(ReaderFault) -> (template: Template, contents: ReaderContents?) in
            let template = try await device.enroll(
                finger, account: account, replacing: old, examine: lists ? examine : nil,
                observer: observer)
            return (template, lists ? try await device.contents() : nil)
        }
    }

    /// The prints that the reader keeps itself, whoever enrolled them. Throws `notSupported` where
    /// it keeps or lists none.
    package func list(
        on reader: String, limit: Duration = Readers.limit
    ) async throws(ReaderFault) -> ReaderContents {
        await settled()
        let device = try device(reader)
        guard device.description.features.contains(.list) else { throw .notSupported }
        return try await device.run(limit: limit) {
            _ async throws(ReaderFault) -> ReaderContents in
            try await device.contents()
        }
    }

    /// Whether libfprint reads the template, takes it for one of this reader's, and finds in it what
    /// this kind of reader compares (`fp_print_deserialize`, `fp_print_compatible`). Throws `noReader`
    /// where the reader is gone.
    package func canUse(
        _ template: Template, on reader: String
    ) throws(ReaderFault) -> Bool {
        let device = try device(reader)
        guard let print = try? Print(template),
            print.says(template), device.description.matchesOnHost == template.holdsMinutiae
        else { return false }
        return unsafe fp_print_compatible(print.pointer, device.handle.pointer) != 0
    }

    /// Deletes the print from the reader's own storage. Throws `notFound` where it is not there,
    /// `notSupported` where the reader keeps none.
    package func delete(_ template: Template, on reader: String) async throws(ReaderFault) {
        try await delete(try Print(template), on: reader)
    }

    /// Deletes what `list(on:)` showed, by its bytes, from the reader's own storage; throws as for a
    /// template.
    package func delete(record: [UInt8], on reader: String) async throws(ReaderFault) {
        await settled()
        let device = try device(reader)
        guard device.description.features.isSuperset(of: [.list, .delete]) else {
            throw .notSupported
        }
        try await device.run(limit: Self.limit) { _ async throws(ReaderFault) in
            // What was listed then need not be there any more.
            for print in try await device.handle.listPrints() {
                guard try StoredPrint(print).bytes == record else { continue }
                return try await device.handle.delete(print)
            }
            throw .notFound
        }
    }

    private func delete(_ print: Print, on reader: String) async throws(ReaderFault) {
        await settled()
        let device = try device(reader)
        guard device.description.features.contains(.delete) else { throw .notSupported }
        try await device.run(limit: Self.limit) { _ async throws(ReaderFault) in
            try await device.handle.delete(print)
        }
    }

    /// Deletes all that the reader stores, whoever enrolled it. Throws `notSupported` where it cannot.
    package func clearStorage(of reader: String) async throws(ReaderFault) {
        await settled()
        let device = try device(reader)
        guard device.description.features.contains(.clear) else { throw .notSupported }
        try await device.run(limit: Self.limit) { _ async throws(ReaderFault) in
            try await device.handle.clearStorage()
        }
    }

    /// Opens the reader and keeps it open until the hold is released, so that tries in a row need
    /// not open it each time.
    package func hold(_ reader: String) async throws(ReaderFault) -> Hold {
        await settled()
        let device = try device(reader)
        try await device.enter()
        return Hold(device)
    }

    /// Ends what runs on the readers and closes them; afterwards there are none.
    package func close() async {
        connections = []
        let open = devices
        devices = []
        for device in open { await device.shut() }
    }

    /// Finds the readers anew, unless one of them is in use. Those that are known stay where fewer
    /// are found: drivers that probe their readers miss one that does not answer just then.
    func enumerate() async -> Bool {
        await settled()
        let done = Pending<Void>()
        renewing = done
        defer {
            renewing = nil
            done.settle(())
        }
        for device in devices {
            guard await device.becomeIdle() else { return false }
        }
        let found = Context()
        var left = found.devices.map(\.kind)
        for kind in devices.filter({ !$0.isGone }).map(\.handle.kind) {
            guard let index = left.firstIndex(of: kind) else { return true }
            left.remove(at: index)
        }
        connections = []
        devices = []
        context = found
        listen()
        return true
    }

    /// Waits while the readers are being found anew.
    func settled() async {
        while let renewing { await renewing.wait() }
    }

    deinit {
        // Devices may only be closed on their own thread, and before the context goes.
        onReader { [devices, context] in
            for device in devices { await device.shut() }
            withExtendedLifetime(context) {}
        }
    }
}

// MARK: - What the public calls share

extension Readers {
    private func device(_ id: String) throws(ReaderFault) -> Device {
        if rest.isSuspended { throw .suspended }
        guard let device = devices.first(where: { $0.id == id && !$0.isGone }) else {
            throw .noReader
        }
        return device
    }

    private func add(_ handle: DeviceHandle) {
        let base = "\(handle.driver):\(handle.deviceID)"
        var (id, number) = (base, 1)
        while devices.contains(where: { $0.id == id && !$0.isGone }) {
            number += 1
            id = "\(base)#\(number)"
        }
        let device = Device(handle, id: id)
        device.stuck = { [weak self] in self?.stuck?() }
        devices.append(device)
        known = max(known, devices.count)
        rest.appeared()
    }

    private func appeared(_ address: UInt) {
        guard !devices.contains(where: { $0.handle.address == address }),
            let handle = context.devices.first(where: { $0.address == address })
        else { return }
        add(handle)
        changed?()
    }

    private func vanished(_ address: UInt) {
        guard let index = devices.firstIndex(where: { $0.handle.address == address }) else {
            return
        }
        devices.remove(at: index).unplugged()
        rest.isDoubtful = true
        changed?()
    }
}

/// Keeps a reader open until it is released.
package final class Hold: Sendable {
    private let device: Device

    init(_ device: Device) {
        self.device = device
    }

    deinit {
        onReader { [device] in device.leave() }
    }
}

/// A reference to libfprint's context.
///
/// SAFETY: the reference count is atomic; the context is only used by the reader's actor.
@safe private final class Context: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<FpContext>

    @ReaderActor
    init() {
        unsafe pointer = fp_context_new()
        unsafe fp_context_enumerate(pointer)
    }

    deinit {
        unsafe g_object_unref(pointer)
    }

    @ReaderActor
    var devices: [DeviceHandle] {
        guard let array = unsafe fp_context_get_devices(pointer) else { return [] }
        return unsafe (0..<Int(array.pointee.len)).compactMap { index in
            guard let item = unsafe array.pointee.pdata[index] else { return nil }
            return unsafe DeviceHandle(
                referencing: item.assumingMemoryBound(to: FpDevice.self))
        }
    }
}
