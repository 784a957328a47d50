// SPDX-License-Identifier: Apache-2.0
import CGLib
import MainContext

extension BusConnection {
    /// Lets other clients call an object, until the result is released.
    ///
    /// GLib checks the types of arguments and results against the interfaces. Arguments that exceed
    /// the limits of `ValueCoding` are answered with `InvalidArgs`. To be reached by a name, export
    /// all objects before `take(name:limit:)`.
    ///
    /// - Parameter interfaces: the introspection data, a `<node>` with every interface (D-Bus
    ///   specification, "Introspection Data Format").
    /// - Throws: `closed`, `invalidCall` if the path or the data is malformed, or `refused` if
    ///   there is an object at the path.
    package func export(
        _ object: any BusObject, at path: String, interfaces: String
    ) throws(BusFault) -> BusExport {
        guard isOpen else { throw .closed }
        guard !path.utf8.contains(0), unsafe g_variant_is_object_path(path) != 0,
            let node = InterfaceData(interfaces)
        else { throw .invalidCall }
        return try BusExport(handle, object: object, at: path, node: node)
    }

    /// Sends a signal to one client, by its unique name, or to all that listen to it.
    ///
    /// Nothing waits for it to arrive; signals and answers arrive in the order in which they were
    /// sent.
    ///
    /// - Throws: `closed`, or `invalidCall` for malformed names and values.
    package func emit(
        _ signal: BusEmission, to destination: String? = nil
    ) throws(BusFault) {
        guard isOpen else { throw .closed }
        let texts = [signal.path, signal.interface, signal.member, destination ?? ""]
        guard texts.allSatisfy({ !$0.utf8.contains(0) }),
            unsafe g_variant_is_object_path(signal.path) != 0,
            unsafe g_dbus_is_interface_name(signal.interface) != 0,
            unsafe g_dbus_is_member_name(signal.member) != 0,
            let body = ValueCoding.body(signal.arguments)
        else { throw .invalidCall }
        if let destination {
            guard unsafe g_dbus_is_unique_name(destination) != 0 else { throw .invalidCall }
        }
        var error: UnsafeMutablePointer<GError>?
        let isSent = unsafe g_dbus_connection_emit_signal(
            handle.pointer, destination, signal.path, signal.interface, signal.member,
            body.pointer, &error)
        if let error = unsafe error { throw unsafe BusFault(GioFault(taking: error)) }
        if isSent == 0 { throw .closed }
    }

    /// Gives a name up; messages to it start the service again from now on.
    ///
    /// What the bus has delivered by then arrives before this returns.
    package func release(name: String, limit: Duration) async throws(BusFault) {
        _ = try await call(
            BusCall(
                to: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
                member: "ReleaseName", arguments: [.string(name)], answer: "(u)"), limit: limit)
    }
}

/// Introspection data that GLib has parsed.
///
/// SAFETY: a counted reference to data that never changes, taken over in `init` and dropped in
/// `deinit`.
@safe private final class InterfaceData {
    private let pointer: UnsafeMutablePointer<GDBusNodeInfo>

    init?(_ text: String) {
        var error: UnsafeMutablePointer<GError>?
        guard !text.utf8.contains(0),
            let node = unsafe g_dbus_node_info_new_for_xml(text, &error)
        else {
            if let error = unsafe error { unsafe g_error_free(error) }
            return nil
        }
        unsafe pointer = unsafe node
    }

    deinit { unsafe g_dbus_node_info_unref(pointer) }

    /// Calls `body` with each interface; they live as long as this object.
    func forEach(
        _ body: (UnsafeMutablePointer<GDBusInterfaceInfo>) throws(BusFault) -> Void
    ) throws(BusFault) {
        guard var next = unsafe pointer.pointee.interfaces else { return }
        while let interface = unsafe next.pointee {
            try unsafe body(interface)
            unsafe next += 1
        }
    }
}

/// An object that other clients can call, until this is released.
///
/// SAFETY: holds a counted reference to the connection, which the library locks; the ids are only
/// used to end the registrations, once.
@safe package final class BusExport: @unchecked Sendable {
    private final class Target: Sendable {
        let object: any BusObject

        init(_ object: any BusObject) { self.object = object }
    }

    // These are not inside an isolated function: closures there would be isolated too, and would
    // trap on other threads.
    private nonisolated static let called: GDBusInterfaceMethodCallFunc = {
        _, sender, path, interface, member, body, invocation, data in
        guard let invocation = unsafe invocation else { return }
        let pending = unsafe PendingMethod(invocation)
        guard let data = unsafe data, let sender = unsafe sender, let path = unsafe path,
            let interface = unsafe interface, let member = unsafe member, let body = unsafe body
        else { return pending.end(BusMethodFault(BusMethodFault.failed, "the call is malformed")) }
        let object = unsafe Unmanaged<Target>.fromOpaque(data).takeUnretainedValue().object
        let type = unsafe String(cString: g_variant_get_type_string(body))
        guard let values = unsafe ValueCoding.values(of: body, type: type) else {
            return pending.end(
                BusMethodFault(BusMethodFault.invalidArguments, "the arguments are too large"))
        }
        let call = unsafe BusMethodCall(
            sender: String(cString: sender), path: String(cString: path),
            interface: String(cString: interface), member: String(cString: member),
            arguments: values)
        onService {
            do throws(BusMethodFault) {
                pending.end(with: try await object.answer(call))
            } catch { pending.end(error) }
        }
    }

    private nonisolated static let read: GDBusInterfaceGetPropertyFunc = {
        _, _, _, interface, name, error, data in
        guard let data = unsafe data, let interface = unsafe interface, let name = unsafe name
        else { return nil }
        let object = unsafe Unmanaged<Target>.fromOpaque(data).takeUnretainedValue().object
        let (interfaceText, nameText) = unsafe (
            String(cString: interface), String(cString: name)
        )
        let value = ServiceActor.assumeIsolated {
            object.property(nameText, of: interfaceText)
        }
        guard let value, let body = ValueCoding.single(value) else {
            unsafe g_set_error_literal(
                error, g_dbus_error_quark(), Int32(G_DBUS_ERROR_FAILED.rawValue),
                "the property has no value now")
            return nil
        }
        return unsafe g_variant_ref(body.pointer)
    }

    private nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<Target>.fromOpaque(data).release() }
    }

    // SAFETY: written once here, only read by GLib from then on; never freed, as registrations
    // point to it.
    private nonisolated(unsafe) static let table = {
        let table = UnsafeMutablePointer<GDBusInterfaceVTable>.allocate(capacity: 1)
        unsafe table.initialize(to: GDBusInterfaceVTable())
        unsafe table.pointee.method_call = called
        unsafe table.pointee.get_property = read
        return unsafe table
    }()

    private let handle: ConnectionHandle
    private var ids: [guint] = []

    @ServiceActor
    fileprivate init(
        _ handle: ConnectionHandle, object: any BusObject, at path: String, node: InterfaceData
    ) throws(BusFault) {
        self.handle = handle
        try unsafe node.forEach { (interface) throws(BusFault) in
            var error: UnsafeMutablePointer<GError>?
            let id = unsafe g_dbus_connection_register_object(
                handle.pointer, path, interface, Self.table,
                Unmanaged.passRetained(Target(object)).toOpaque(), Self.release, &error)
            if let error = unsafe error { throw unsafe BusFault(GioFault(taking: error)) }
            ids.append(id)
        }
        guard !ids.isEmpty else { throw .invalidCall }
    }

    deinit {
        for id in ids { unsafe g_dbus_connection_unregister_object(handle.pointer, id) }
    }
}

/// A method call that has not been answered yet; if it is dropped, an error is its answer.
///
/// SAFETY: owns the one reference that the library hands over, which the answer consumes; it is
/// used on the service's thread alone, and the last reference may be dropped on any.
@safe private final class PendingMethod: @unchecked Sendable {
    private var invocation: OpaquePointer?

    init(_ invocation: OpaquePointer) {
        unsafe self.invocation = unsafe invocation
    }

    deinit {
        end(BusMethodFault(BusMethodFault.failed, "the call was given up"))
    }

    /// Answers with values; only the first answer is sent.
    func end(with values: [BusValue]) {
        guard let body = ValueCoding.body(values), isDeclared(body) else {
            return end(BusMethodFault(BusMethodFault.failed, "the answer cannot be sent"))
        }
        guard let invocation = unsafe take() else { return }
        unsafe g_dbus_method_invocation_return_value(invocation, body.pointer)
    }

    /// Answers with an error; only the first answer is sent.
    func end(_ fault: BusMethodFault) {
        guard let invocation = unsafe take() else { return }
        let isName = unsafe g_dbus_is_interface_name(fault.name) != 0
        let name = isName && !fault.name.utf8.contains(0) ? fault.name : BusMethodFault.failed
        let message = fault.message.utf8.contains(0) ? "" : fault.message
        unsafe g_dbus_method_invocation_return_dbus_error(invocation, name, message)
    }

    /// Whether values have the types that the interface declares; GLib would send nothing otherwise.
    private func isDeclared(_ body: MessageBody) -> Bool {
        guard let invocation = unsafe invocation,
            let method = unsafe g_dbus_method_invocation_get_method_info(invocation)
        else { return false }
        var type = "("
        if var next = unsafe method.pointee.out_args {
            while let argument = unsafe next.pointee {
                type += unsafe argument.pointee.signature.map { unsafe String(cString: $0) } ?? ""
                unsafe next += 1
            }
        }
        return unsafe String(cString: g_variant_get_type_string(body.pointer)) == type + ")"
    }

    private func take() -> OpaquePointer? {
        defer { unsafe invocation = nil }
        return unsafe invocation
    }
}
