// SPDX-License-Identifier: Apache-2.0
import CGLib
import MainContext

/// Why an operation on the bus failed.
package enum BusFault: Error, Equatable, Sendable {
    /// The bus did not accept the connection; the text is GLib's.
    case noBus(String)
    /// The connection has ended.
    case closed
    /// No answer arrived in time.
    case timedOut
    /// The task was cancelled.
    case cancelled
    /// No client owns the name, or there is no such object, interface, method or property.
    case unknown
    /// The other side reported an error; the text is the other side's, for the journal.
    case refused(String)
    /// The call has malformed names or arguments, or the address is not allowed; nothing was sent.
    case invalidCall
    /// The message that arrived does not have the expected type, or is too large.
    case malformed
}

extension BusFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .noBus(let why): "the message bus does not answer: \(why)"
        case .closed: "the connection to the message bus was closed"
        case .timedOut: "no answer arrived in time"
        case .cancelled: "it was cancelled"
        case .unknown: "no service on the message bus offers this"
        case .refused(let why): "the other side refused it: \(why)"
        case .invalidCall: "the call is invalid"
        case .malformed: "the answer is malformed"
        }
    }
}

extension BusFault {
    init(_ fault: GioFault) {
        if fault.isCancelled {
            self = .cancelled
        } else if fault.domain == Self.name(of: g_io_error_quark()) {
            switch GIOErrorEnum(rawValue: UInt32(bitPattern: fault.code)) {
            case G_IO_ERROR_TIMED_OUT: self = .timedOut
            case G_IO_ERROR_CLOSED: self = .closed
            case G_IO_ERROR_INVALID_ARGUMENT: self = .malformed
            default: self = .refused(fault.message)
            }
        } else if fault.domain == Self.name(of: g_dbus_error_quark()) {
            self.init(code: UInt32(bitPattern: fault.code), message: fault.message)
        } else {
            self = .refused(fault.message)
        }
    }

    private init(code: UInt32, message: String) {
        switch GDBusError(rawValue: code) {
        case G_DBUS_ERROR_SERVICE_UNKNOWN, G_DBUS_ERROR_NAME_HAS_NO_OWNER,
            G_DBUS_ERROR_UNKNOWN_METHOD, G_DBUS_ERROR_UNKNOWN_OBJECT,
            G_DBUS_ERROR_UNKNOWN_INTERFACE, G_DBUS_ERROR_UNKNOWN_PROPERTY:
            self = .unknown
        case G_DBUS_ERROR_NO_REPLY, G_DBUS_ERROR_TIMEOUT, G_DBUS_ERROR_TIMED_OUT:
            self = .timedOut
        case G_DBUS_ERROR_DISCONNECTED: self = .closed
        default: self = .refused(message)
        }
    }

    private static func name(of quark: GQuark) -> String {
        unsafe g_quark_to_string(quark).map { unsafe String(cString: $0) } ?? ""
    }
}
