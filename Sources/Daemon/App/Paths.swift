// SPDX-License-Identifier: Apache-2.0
import Posix

/// Where the daemon finds and keeps things.
package struct Paths: Sendable {
    /// The state directory.
    package var state: String
    /// The socket, made by the daemon itself where systemd has not passed one.
    package var socket: String
    /// The configuration file; drop-ins lie in the directory of the same name with `.d`.
    package var configuration: String
    /// The program that checks a password.
    package var verifyPassword: String
    /// systemd's credentials directory, if there is one.
    package var credentials: String?
    /// The directory in which fprintd keeps prints.
    package var fprintd: String
    /// The socket of the system's message bus.
    package var systemBus: String
    /// The directory in which the kernel tells of lids.
    package var lids: String
    /// The socket of the way to servers.
    package var relay = "/run/signet/relay.sock"
    /// The socket of the process of the readers.
    package var readers = "/run/signet/reader.sock"
    /// The directory in which tokens lie for the sessions that PAM opens.
    package var tokens = "/run/signet/tokens"
    /// The file in which the kernel tells of secure boot.
    package var secureBoot = Firmware.secureBootVariable

    /// The places of the installed daemon.
    package init(
        state: String = "/var/lib/signet", socket: String = "/run/signet/signetd.sock",
        configuration: String = "/etc/signet/signet.conf", verifyPassword: String,
        credentials: String? = nil, systemBus: String = "/run/dbus/system_bus_socket",
        lids: String = "/proc/acpi/button/lid", fprintd: String = "/var/lib/fprint"
    ) {
        self.state = state
        self.socket = socket
        self.configuration = configuration
        self.verifyPassword = verifyPassword
        self.credentials = credentials
        self.fprintd = fprintd
        self.systemBus = systemBus
        self.lids = lids
    }
}

extension Paths {
    /// The places of the running program: what belongs to it lies beside it.
    package static func installed() -> Paths {
        Paths(
            verifyPassword: programDirectory() + "/verify-password",
            credentials: environmentValue("CREDENTIALS_DIRECTORY"))
    }
}
