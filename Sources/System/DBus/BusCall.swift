// SPDX-License-Identifier: Apache-2.0
import CGLib
import Posix

/// A call of a method on a D-Bus object.
///
/// `BusConnection.call` throws `invalidCall` for malformed names, and `malformed` if the answer has
/// another type than `answer` states.
package struct BusCall: Sendable {
    /// The bus name of the service to call.
    package let destination: String
    /// The object's path.
    package let path: String
    /// The interface that declares the method.
    package let interface: String
    /// The method's name.
    package let member: String
    /// The arguments.
    package let arguments: [BusValue]
    /// The signature of the answer, in parentheses: `(h)`; answers of any other type are rejected.
    package let answer: String
    /// Whether the bus may start the service that owns the name.
    package let startsService: Bool

    /// Describes a call.
    package init(
        to destination: String, path: String, interface: String, member: String,
        arguments: [BusValue] = [], answer: String, startsService: Bool = false
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.answer = answer
        self.startsService = startsService
    }

    /// Makes a call that reads a property; its answer holds one variant.
    package static func property(
        _ name: String, of interface: String, at path: String, from destination: String
    ) -> BusCall {
        BusCall(
            to: destination, path: path, interface: "org.freedesktop.DBus.Properties",
            member: "Get",
            arguments: [.string(interface), .string(name)], answer: "(v)")
    }

    /// Whether GLib accepts the names, which it must, because it treats invalid ones as programming
    /// errors.
    var isWellFormed: Bool {
        let texts = [destination, path, interface, member, answer]
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else { return false }
        return unsafe g_dbus_is_name(destination) != 0 && g_variant_is_object_path(path) != 0
            && g_dbus_is_interface_name(interface) != 0 && g_dbus_is_member_name(member) != 0
            && answer.hasPrefix("(") && g_variant_type_string_is_valid(answer) != 0
    }
}

/// The answer of a method.
package struct BusAnswer: Sendable {
    /// The values, of exactly the types that the call stated.
    package let values: [BusValue]
    /// The first descriptor that was sent with the answer, if any.
    package let descriptor: ReceivedDescriptor?
}

/// A descriptor received over the bus, which is closed when the last reference is released.
package final class ReceivedDescriptor: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Returns the process that it holds, if it is a pidfd; see pidfd_open(2).
    func process(pid: Int32) throws(SystemFault) -> ProcessHandle {
        ProcessHandle.adopting(try descriptor.duplicate(), pid: pid)
    }
}
