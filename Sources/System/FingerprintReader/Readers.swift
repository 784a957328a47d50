// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol

/// All fingerprint readers of the machine, over one `FpContext`.
///
/// Create one per process, and call `close()` before the process ends: libfprint's devices must be
/// closed on their own thread. Readers are addressed by their ids (`ReaderDescription.id`).
/// Operations throw `suspended` between `suspend()` and `resume()`, and `noReader` for an id that
/// no reader has. Only one operation runs on a reader at a time; see `Device.run`.
@ReaderActor
package final class Readers {
    /// The default time limit of an operation, which keeps readers from heating up.
    package nonisolated static let limit = Duration.seconds(120)

    /// Called after a reader was plugged in or unplugged.
    package var changed: (@ReaderActor () -> Void)?
    /// Called when a driver does not end a cancelled operation.
    ///
    /// The process should then be replaced, because the reader remains unusable.
    package var stuck: (@ReaderActor () -> Void)?

    private var context: Context
    private(set) var devices: [Device] = []
    private var connections: [SignalConnection] = []
    /// When the machine slept and woke, as far as it matters to readers.
    var suspension = DeviceSuspension()
    /// The highest number of readers in the list so far, which reveals that one is missing.
    private(set) var known = 0
    /// Settles when the current enumeration ends; nil when none is running.
    private var renewing: Pending<Void>?

    /// Enumerates the readers, and blocks for as long as the drivers take to probe them.
    package init() {
        context = Context()
        listen()
    }

    private func listen() {
        for handle in context.devices { add(handle) }
        connections = [
            unsafe SignalConnection(context.pointer, signal: "device-added") {
                [weak self] address in
                ReaderActor.assumeIsolated { self?.appeared(address) }
            },
            unsafe SignalConnection(context.pointer, signal: "device-removed") {
                [weak self] address in
                ReaderActor.assumeIsolated { self?.vanished(address) }
            },
        ]
    }

    /// The readers that are plugged in, in the order in which they were found.
    package var descriptions: [ReaderDescription] {
        devices.filter { !$0.isGone }.map(\.description)
    }

    /// Enrols `finger` for `account` on one reader; bad scans are reported and repeated.
    ///
    /// - Throws: `cancelled` with the task, `timedOut` after `limit`, and the reader's own faults
    ///   such as `removed`, `tooHot`, `full` and `duplicate` (`fp_device_enroll`).
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

    /// Enrols like `enroll`, and has the reader's storage examined before the enrolment.
    ///
    /// The print to be replaced is deleted after the examination and before the first scan. It is
    /// gone even if the enrolment then fails. The reader stays open throughout, so that its storage
    /// cannot change in between.
    ///
    /// - Parameters:
    ///   - old: The template whose print is deleted first, for readers that refuse to enrol a
    ///     finger twice.
    /// - Returns: The new template, and the contents of the storage with the new print. On a reader
    ///   that cannot list, `examine` is not called and the contents are nil.
    /// - Throws: The faults of `enroll`, and `cancelled` if `examine` returns false. If the final
    ///   listing fails, its fault is thrown although the print is on the reader.
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

    /// Lists the prints in the reader's own storage, including those that other systems enrolled.
    ///
    /// - Throws: `notSupported` if the reader has no storage or cannot list it.
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

    /// Whether a template can be used on a reader.
    ///
    /// libfprint must be able to read it (`fp_print_deserialize`), accept it for this reader
    /// (`fp_print_compatible`), and find in it the kind of data that this reader compares.
    ///
    /// - Throws: `noReader` if the reader is gone.
    package func canUse(
        _ template: Template, on reader: String
    ) throws(ReaderFault) -> Bool {
        let device = try device(reader)
        guard let print = try? Print(template),
            print.says(template), device.description.matchesOnHost == template.holdsMinutiae
        else { return false }
        return unsafe fp_print_compatible(print.pointer, device.handle.pointer) != 0
    }

    /// Deletes a template's print from the reader's own storage.
    ///
    /// - Throws: `notFound` if the print is not there, `notSupported` if the reader cannot delete.
    package func delete(_ template: Template, on reader: String) async throws(ReaderFault) {
        try await delete(try Print(template), on: reader)
    }

    /// Deletes the print with this record, `ReaderPrint.bytes`, from the reader's own storage.
    ///
    /// - Throws: `notFound` if no print has this record, `notSupported` if the reader cannot list
    ///   and delete.
    package func delete(record: [UInt8], on reader: String) async throws(ReaderFault) {
        await settled()
        let device = try device(reader)
        guard device.description.features.isSuperset(of: [.list, .delete]) else {
            throw .notSupported
        }
        try await device.run(limit: Self.limit) { _ async throws(ReaderFault) in
            // The storage may have changed since it was listed, so it is listed again.
            for print in try await device.handle.listPrints() {
                guard try ReaderPrint(print).bytes == record else { continue }
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

    /// Deletes all prints from the reader's own storage, including those that other systems
    /// enrolled.
    ///
    /// - Throws: `notSupported` if the reader cannot clear its storage.
    package func clearStorage(of reader: String) async throws(ReaderFault) {
        await settled()
        let device = try device(reader)
        guard device.description.features.contains(.clear) else { throw .notSupported }
        try await device.run(limit: Self.limit) { _ async throws(ReaderFault) in
            try await device.handle.clearStorage()
        }
    }

    /// Opens the reader and keeps it open until the hold is released.
    ///
    /// This saves opening it again for each of several attempts in a row.
    package func hold(_ reader: String) async throws(ReaderFault) -> Hold {
        await settled()
        let device = try device(reader)
        try await device.enter()
        return Hold(device)
    }

    /// Cancels the running operations, closes all readers and forgets them.
    package func close() async {
        connections = []
        let open = devices
        devices = []
        for device in open { await device.shut() }
    }

    /// Enumerates the readers again, with a new `FpContext`, unless one of them is in use.
    ///
    /// If a reader that was plugged in is not found, the old list stays in use: drivers that probe
    /// their readers miss one that happens not to answer.
    ///
    /// - Returns: false if a reader is in use; the list is then unchanged.
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

    /// Waits for an enumeration that is in progress.
    func settled() async {
        while let renewing { await renewing.wait() }
    }

    deinit {
        // Devices may only be closed on the reader's thread, and before the context is freed.
        onReader { [devices, context] in
            for device in devices { await device.shut() }
            withExtendedLifetime(context) {}
        }
    }
}

// MARK: - What the public calls share

extension Readers {
    private func device(_ id: String) throws(ReaderFault) -> Device {
        if suspension.isSuspended { throw .suspended }
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
        suspension.appeared()
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
        suspension.isDoubtful = true
        changed?()
    }
}

/// Keeps a reader open for as long as this object exists.
package final class Hold: Sendable {
    private let device: Device

    init(_ device: Device) {
        self.device = device
    }

    deinit {
        onReader { [device] in device.leave() }
    }
}

/// A counted reference to an `FpContext`, enumerated when it is created.
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
