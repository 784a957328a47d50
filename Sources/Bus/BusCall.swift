// SPDX-License-Identifier: Apache-2.0
import CGLib
import Posix

/// One method of one object, called with these arguments.
package struct BusCall: Sendable {
    /// Whom to call: a name on the bus.
    package let destination: String
    /// The object's path.
    package let path: String
    /// The interface that the method is of.
    package let interface: String
    /// The method.
    package let member: String
    /// What it is given.
    package let arguments: [BusValue]
    /// The signature of its answer, in parentheses: `(h)`. Anything else that comes is refused.
    package let answer: String
    /// Whether the bus may start a program that takes the name.
    package let startsService: Bool

    /// Describes a call.
    package init(
        to destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusValue] = [], answer: String, startsService: Bool = false
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.answer = answer
        self.startsService = startsService
    }

    /// Asks for a property; the answer holds one variant.
    package static func property(
        _ name: String, of interface: String, at path: String, from destination: String
    ) -> BusCall {
        BusCall(
            to: destination, path, "org.freedesktop.DBus.Properties", "Get",
            [.string(interface), .string(name)], answer: "(v)")
    }

    /// Whether the library takes these names: with others it would do nothing, or worse.
    var isWellFormed: Bool {
        let texts = [destination, path, interface, member, answer]
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else { return false }
        return unsafe g_dbus_is_name(destination) != 0 && g_variant_is_object_path(path) != 0
            && g_dbus_is_interface_name(interface) != 0 && g_dbus_is_member_name(member) != 0
            && answer.hasPrefix("(") && g_variant_type_string_is_valid(answer) != 0
    }
}

/// What a method answered.
package struct BusAnswer: Sendable {
    /// The values, of just the types that were asked for.
    package let values: [BusValue]
    /// The first descriptor that came with them, if one did.
    package let descriptor: ReceivedDescriptor?
}

/// A descriptor that somebody on the bus has sent; closed as the last reference goes.
package final class ReceivedDescriptor: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}
