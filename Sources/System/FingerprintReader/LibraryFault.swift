// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

/// How a scan failed: it only has to be repeated (`FpDeviceRetry`), or there is a fault.
enum ScanFailure: Error {
    case retry(RetryReason)
    case fault(ReaderFault)

    init(_ error: GioFault) {
        if error.domain == name(of: fp_device_retry_quark()) {
            self = .retry(RetryReason(code: error.code))
        } else {
            self = .fault(ReaderFault(error))
        }
    }
}

extension ReaderFault {
    /// Whether the driver stopped while the reader may still have had an answer to send.
    var leavesReaderConfused: Bool {
        switch self {
        case .protocolError, .general: true
        case .noReader, .removed, .tooHot, .busy, .notSupported, .notFound, .full, .duplicate,
            .invalidTemplate, .cancelled, .timedOut, .suspended, .processEnded:
            false
        }
    }

    /// Translates libfprint's `FpDeviceError`, GIO's cancellation, and a removal that GUsb reports.
    ///
    /// Errors of any other domain, `FpDeviceRetry` among them, become `general` with their message.
    init(_ error: GioFault) {
        if error.isCancelled {
            self = .cancelled
            return
        }
        // The USB layer may report the removal before libfprint does.
        if error.domain == name(of: g_usb_device_error_quark()),
            error.code == Int32(G_USB_DEVICE_ERROR_NO_DEVICE.rawValue)
        {
            self = .removed
            return
        }
        guard error.domain == name(of: fp_device_error_quark()) else {
            self = .general(error.message)
            return
        }
        switch FpDeviceError(rawValue: UInt32(bitPattern: error.code)) {
        case FP_DEVICE_ERROR_NOT_SUPPORTED: self = .notSupported
        case FP_DEVICE_ERROR_BUSY: self = .busy
        case FP_DEVICE_ERROR_PROTO: self = .protocolError
        case FP_DEVICE_ERROR_DATA_INVALID: self = .invalidTemplate
        case FP_DEVICE_ERROR_DATA_NOT_FOUND: self = .notFound
        case FP_DEVICE_ERROR_DATA_FULL: self = .full
        case FP_DEVICE_ERROR_DATA_DUPLICATE: self = .duplicate
        case FP_DEVICE_ERROR_REMOVED: self = .removed
        case FP_DEVICE_ERROR_TOO_HOT: self = .tooHot
        default: self = .general(error.message)
        }
    }
}

extension RetryReason {
    /// Translates `FpDeviceRetry`; an unknown code becomes `unclear`.
    init(code: Int32) {
        switch FpDeviceRetry(rawValue: UInt32(bitPattern: code)) {
        case FP_DEVICE_RETRY_TOO_SHORT: self = .tooShort
        case FP_DEVICE_RETRY_CENTER_FINGER: self = .offCentre
        case FP_DEVICE_RETRY_REMOVE_FINGER: self = .removeFinger
        default: self = .unclear
        }
    }
}

private func name(of quark: GQuark) -> String {
    unsafe g_quark_to_string(quark).map { unsafe String(cString: $0) } ?? ""
}
