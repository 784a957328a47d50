// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import Loop
import ReaderProtocol

/// A reference to libfprint's device, with its plain calls.
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

    /// The object's address, to tell devices apart by.
    var address: UInt { unsafe UInt(bitPattern: pointer) }

    @ReaderActor var driver: String { unsafe String(cString: fp_device_get_driver(pointer)) }

    @ReaderActor var deviceID: String { unsafe String(cString: fp_device_get_device_id(pointer)) }

    /// What prints fit: the driver and the device's id.
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

    /// Whether the driver survives that a reader is closed which is not there any more. goodixmoc
    /// reads the answer to its last command, which there is none to: it stays open instead.
    @ReaderActor var closesWhenGone: Bool { driver != "goodixmoc" }

    @ReaderActor
    func close() async throws(ReaderFault) {
        unsafe try await plain { device, ended, data in
            unsafe fp_device_close(device, nil, ended, data)
        } finish: { device, result, error in
            _ = unsafe fp_device_close_finish(device, result, error)
        }
    }

    /// Closes what libfprint leaves open on the bus where it could not open a reader: without this
    /// the next try would fail too, with "already open". Nothing happens where it is closed.
    @ReaderActor
    func closeLeftOpen() {
        _ = unsafe onUSB { device in unsafe g_usb_device_close(device, nil) }
    }

    /// Has a closed reader forget what it was about to say (`g_usb_device_reset`); readers that are on
    /// no USB have nothing to forget. False where it could not be reached.
    @ReaderActor
    func reset() -> Bool {
        let isReset = unsafe onUSB { device in
            guard unsafe g_usb_device_open(device, nil) != 0 else { return false }
            defer { _ = unsafe g_usb_device_close(device, nil) }
            return unsafe g_usb_device_reset(device, nil) != 0
        }
        return isReset ?? true
    }

    /// What the reader keeps itself; a list that the driver did not make is a fault, not empty.
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

    /// A call that wants no finger. It is short, and not cancelled with the task: half an opening or
    /// deletion helps nobody, and not every driver survives it.
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
    /// What libfprint says that a device can do.
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
