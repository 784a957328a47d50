// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

/// A counted reference to an `FpDevice`, with the libfprint calls that do not scan.
///
/// The methods check nothing beforehand; `Device` decides when each is allowed. They throw
/// libfprint's errors as `ReaderFault`.
///
/// SAFETY: the reference count is atomic; every call on the device is made by the reader's actor.
@safe final class DeviceHandle: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<FpDevice>

    init(referencing pointer: UnsafeMutablePointer<FpDevice>) {
        unsafe self.pointer = unsafe pointer
        unsafe g_object_ref(pointer)
    }

    deinit {
        unsafe g_object_unref(pointer)
    }

    /// The object's address, which identifies the device while it exists.
    var address: UInt { unsafe UInt(bitPattern: pointer) }

    @ReaderActor var driver: String { unsafe String(cString: fp_device_get_driver(pointer)) }

    @ReaderActor var deviceID: String { unsafe String(cString: fp_device_get_device_id(pointer)) }

    /// The driver and device id; a print is only usable on a reader that has both.
    @ReaderActor var kind: [String] { [driver, deviceID] }

    @ReaderActor
    func description(id: String, serial: String?, seat: String) -> ReaderDescription {
        let kind = fp_image_device_get_type()
        let features = unsafe fp_device_get_features(pointer)
        return unsafe ReaderDescription(
            id: id, name: String(cString: fp_device_get_name(pointer)), driver: driver,
            deviceID: deviceID, serial: serial, seat: seat,
            scanType: fp_device_get_scan_type(pointer) == FP_SCAN_TYPE_PRESS ? .press : .swipe,
            enrolStages: Int(fp_device_get_nr_enroll_stages(pointer)),
            features: ReaderDescription.Features(features),
            matchesOnHost: g_type_check_instance_is_a(
                UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GTypeInstance.self), kind)
                != 0,
            temperature: temperature)
    }

    @ReaderActor
    private var temperature: ReaderDescription.Temperature {
        switch unsafe fp_device_get_temperature(pointer) {
        case FP_TEMPERATURE_HOT: .hot
        case FP_TEMPERATURE_WARM: .warm
        default: .cold
        }
    }

    @ReaderActor
    func open() async throws(ReaderFault) {
        unsafe try await plain { device, ended, data in
            unsafe fp_device_open(device, nil, ended, data)
        } finish: { device, result, error in
            _ = unsafe fp_device_open_finish(device, result, error)
        }
    }

    /// Whether the driver can close a reader that has been unplugged.
    ///
    /// goodixmoc then waits for the answer to its last command, which never arrives, so its reader
    /// is left open.
    @ReaderActor var closesWhenGone: Bool { driver != "goodixmoc" }

    @ReaderActor
    func close() async throws(ReaderFault) {
        unsafe try await plain { device, ended, data in
            unsafe fp_device_close(device, nil, ended, data)
        } finish: { device, result, error in
            _ = unsafe fp_device_close_finish(device, result, error)
        }
    }

    /// Closes the USB device that libfprint leaves open when it fails to open a reader.
    ///
    /// Otherwise the next attempt would fail with "already open". Does nothing if the device is
    /// closed or not on USB.
    @ReaderActor
    func closeLeftOpen() {
        _ = unsafe onUSB { device in unsafe g_usb_device_close(device, nil) }
    }

    /// Resets a closed reader, so that it drops any answer it still has to send
    /// (`g_usb_device_reset`).
    ///
    /// A reader that is not on USB has no such state and needs no reset.
    ///
    /// - Returns: false if the USB device could not be opened or reset.
    @ReaderActor
    func reset() -> Bool {
        let isReset = unsafe onUSB { device in
            guard unsafe g_usb_device_open(device, nil) != 0 else { return false }
            defer { _ = unsafe g_usb_device_close(device, nil) }
            return unsafe g_usb_device_reset(device, nil) != 0
        }
        return isReset ?? true
    }

    /// The prints in the reader's own storage (`fp_device_list_prints`).
    ///
    /// - Throws: `protocolError` if the driver delivered no complete list, which must not pass for
    ///   an empty one.
    @ReaderActor
    func listPrints() async throws(ReaderFault) -> [Print] {
        let prints: [Print]? = unsafe try await plain { device, ended, data in
            unsafe fp_device_list_prints(device, nil, ended, data)
        } finish: { device, result, error in
            guard let array = unsafe fp_device_list_prints_finish(device, result, error) else {
                return nil
            }
            defer { unsafe g_ptr_array_unref(array) }
            let prints = unsafe (0..<Int(array.pointee.len)).compactMap { index -> Print? in
                guard let item = unsafe array.pointee.pdata[index] else { return nil }
                return unsafe Print(owned: OpaquePointer(g_object_ref(item)))
            }
            return unsafe prints.count == Int(array.pointee.len) ? prints : nil
        }
        guard let prints else { throw .protocolError }
        return prints
    }

    @ReaderActor
    func delete(_ print: Print) async throws(ReaderFault) {
        unsafe try await plain { device, ended, data in
            unsafe fp_device_delete_print(device, print.pointer, nil, ended, data)
        } finish: { device, result, error in
            _ = unsafe fp_device_delete_print_finish(device, result, error)
        }
    }

    @ReaderActor
    func clearStorage() async throws(ReaderFault) {
        unsafe try await plain { device, ended, data in
            unsafe fp_device_clear_storage(device, nil, ended, data)
        } finish: { device, result, error in
            _ = unsafe fp_device_clear_storage_finish(device, result, error)
        }
    }

    /// Makes a libfprint call that needs no finger.
    ///
    /// The call is short, and it is not cancelled with the task: an open or delete that stops
    /// halfway is of no use, and not every driver survives it.
    @ReaderActor
    private func plain<Value>(
        _ start: (
            UnsafeMutablePointer<FpDevice>, @escaping GAsyncReadyCallback, gpointer
        ) -> Void,
        finish: (
            UnsafeMutablePointer<FpDevice>, OpaquePointer,
            UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
        ) -> Value
    ) async throws(ReaderFault) -> Value {
        do {
            return unsafe try await gioAsync { _, ended, data in
                unsafe start(pointer, ended, data)
            } finish: { result, error in
                unsafe finish(pointer, result, error)
            }
        } catch {
            throw ReaderFault(error)
        }
    }
}

extension ReaderDescription.Features {
    /// Translates libfprint's feature flags.
    init(_ features: FpDeviceFeature) {
        let pairs: [(FpDeviceFeature, Self)] = [
            (FP_DEVICE_FEATURE_IDENTIFY, .identify), (FP_DEVICE_FEATURE_VERIFY, .verify),
            (FP_DEVICE_FEATURE_DUPLICATES_CHECK, .duplicateCheck),
            (FP_DEVICE_FEATURE_STORAGE, .storage), (FP_DEVICE_FEATURE_STORAGE_LIST, .list),
            (FP_DEVICE_FEATURE_STORAGE_DELETE, .delete),
            (FP_DEVICE_FEATURE_STORAGE_CLEAR, .clear),
            (FP_DEVICE_FEATURE_UPDATE_PRINT, .updatePrint),
        ]
        self = []
        for (theirs, ours) in pairs where features.rawValue & theirs.rawValue != 0 { insert(ours) }
    }
}
