// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The address of the system bus: the user's own choice, as for other clients of the bus, or the
/// usual one. The program runs with the rights of its user, so the choice grants no access.
func systemBus() -> String {
    guard let text = unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS") else {
        return "unix:path=/run/dbus/system_bus_socket"
    }
    return unsafe String(cString: text)
}

/// Writes a line to standard output at once, for programs that read along.
@Sendable func show(_ line: String) {
    print(line)
    _ = fflush(nil)
}
