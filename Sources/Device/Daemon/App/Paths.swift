// SPDX-License-Identifier: Apache-2.0
import Posix

/// The files, directories and sockets that the daemon uses.
///
/// The defaults are those of the installed system; tests replace them.
package struct Paths: Sendable {
    /// The state directory.
    package var state: String
    /// The socket that clients connect to.
    ///
    /// The daemon creates it if systemd did not pass one.
    package var socket: String
    /// The configuration file.
    ///
    /// Drop-ins are read from the directory of the same name with `.d` appended.
    package var configuration: String
    /// The program that checks passwords.
    package var verifyPassword: String
    /// systemd's credentials directory (`$CREDENTIALS_DIRECTORY`); nil if there is none.
    package var credentials: String?
    /// The directory in which fprintd stores prints.
    package var fprintd: String
    /// The socket of the system message bus.
    package var systemBus: String
    /// The directory in which the kernel exposes the state of lids.
    package var lids: String
    /// The socket of `signet-relay`, through which servers are reached.
    package var relay = "/run/signet/relay.sock"
    /// The socket of `signet-reader`, which drives the readers.
    package var readers = "/run/signet/reader.sock"
    /// The directory for access tokens that PAM sessions pick up.
    package var tokens = "/run/signet/tokens"
    /// The directory of the nodes of USB devices, by which readers come and go.
    package var usbNodes = "/dev/bus/usb"
    /// The EFI variable that says whether secure boot is on.
    package var secureBoot = Firmware.secureBootVariable

    /// The name of the user that `signet-fprint` runs as.
    package var desktopUser = "signet-fprint"

    /// The firmware's event log, which explains what the TPM's PCRs contain.
    package var eventLog = "/sys/kernel/security/tpm0/binary_bios_measurements"

    /// Creates the paths of the installed daemon, unless given otherwise.
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
    /// Returns the paths of the running program.
    ///
    /// The program that checks passwords is expected in the same directory.
    package static func installed() -> Paths {
        Paths(
            verifyPassword: programDirectory() + "/verify-password",
            credentials: environmentValue("CREDENTIALS_DIRECTORY"))
    }
}
