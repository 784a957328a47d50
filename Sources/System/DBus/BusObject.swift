// SPDX-License-Identifier: Apache-2.0
import MainContext

/// A call of a method on an object of this process.
package struct BusMethodCall: Equatable, Sendable {
    /// The caller's unique name, which the bus itself has written into the message.
    package let sender: String
    /// The object's path.
    package let path: String
    /// The interface that declares the method.
    package let interface: String
    /// The method's name.
    package let member: String
    /// The arguments, of the types that the interface declares.
    package let arguments: [BusValue]
}

/// The error with which a method ends.
package struct BusMethodFault: Error, Equatable, Sendable {
    /// The error's D-Bus name.
    package let name: String
    /// What happened, for people.
    package let message: String

    /// Creates an error; a malformed name is replaced by `failed` when it is sent.
    package init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The name of an error that has no better one.
    package static let failed = "org.freedesktop.DBus.Error.Failed"
    /// The name of the error for a method that the object does not have.
    package static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The name of the error for arguments that cannot be used.
    package static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
}

/// An object that other clients of a bus can call.
@ServiceActor
package protocol BusObject: AnyObject, Sendable {
    /// Carries out a method; the result must have the types that the interface declares.
    ///
    /// Calls begin in the order in which they arrived. They do not wait for each other, so one that
    /// takes long holds up nothing. The caller may leave the bus meanwhile; its answer is then
    /// discarded, see `BusConnection.followOwner`.
    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue]

    /// Returns the value of a property that an interface declares; nil if it has none now.
    func property(_ name: String, of interface: String) -> BusValue?
}

extension BusObject {
    /// Returns nil: an object without properties.
    package func property(_ name: String, of interface: String) -> BusValue? { nil }
}

/// A signal to send.
package struct BusEmission: Sendable {
    /// The path of the object that sends it.
    package let path: String
    /// The interface that declares it.
    package let interface: String
    /// The signal's name.
    package let member: String
    /// The arguments.
    package let arguments: [BusValue]

    /// Describes a signal.
    package init(
        from path: String, interface: String, member: String, arguments: [BusValue] = []
    ) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Reports new values of properties, as `org.freedesktop.DBus.Properties` declares it.
    package static func propertiesChanged(
        _ values: [(name: String, value: BusValue)], of interface: String, at path: String
    ) -> BusEmission {
        BusEmission(
            from: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            arguments: [
                .string(interface), .dictionary(values), .array(of: "s", []),
            ])
    }
}

extension BusValue {
    /// A dictionary of names and values of any type, `a{sv}`.
    package static func dictionary(_ values: [(name: String, value: BusValue)]) -> BusValue {
        .array(of: "{sv}", values.map { .entry(.string($0.name), .variant($0.value)) })
    }
}
