// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether there is a reader, and whether fprintd, which would compete for it, can use it.
struct ReaderCheck {
    let files: MachineFiles

    /// The finding on a daemon that knows no reader.
    func daemonFindings(_ view: DaemonView) -> [Finding] {
        view.reach == .answers && view.readers?.isEmpty == true ? [Self.noReader] : []
    }

    /// The finding on fprintd if it is running or can be started over D-Bus.
    func fprintdFindings() -> [Finding] {
        let isRunning = files.names("/proc").contains { name in
            UInt32(name) != nil && files.read("/proc/\(name)/comm", cap: 16) == "fprintd\n".bytes
        }
        if isRunning { return [Self.fprintdRunning] }
        let isMasked = ["/etc", "/run"].contains {
            files.target("\($0)/systemd/system/fprintd.service") == "/dev/null"
        }
        let activation = "/usr/share/dbus-1/system-services/net.reactivated.Fprint.service"
        // signet-fprint takes the name over with a file of its own in the same place.
        let isOurs = files.lines(activation).contains("SystemdService=signet-fprint.service")
        return files.exists(activation) && !isMasked && !isOurs ? [Self.fprintdInstalled] : []
    }

    /// Findings on enabled profiles of fprintd and fingwit in pam-auth-update, which matter if
    /// pam_signet is used as well.
    func profileFindings() -> [Finding] {
        let enabled = files.lines("/var/lib/pam/auth")
        return ["fprintd", "fprint", "fingwit"].filter { enabled.contains("Module: \($0)") }
            .map(Self.fprintdProfile)
    }
}

extension ReaderCheck {
    /// The daemon finds no reader.
    private static let noReader = Finding(
        "no-reader", level: .fault, area: .reader,
        what: "no fingerprint reader was found",
        why: """
            no touch is possible. Is a reader plugged in, supported by libfprint, and not listed \
            in reader.ignore of the configuration?
            """,
        mend: "lsusb; signet config")

    /// fprintd is using the reader.
    private static let fprintdRunning = Finding(
        "fprintd-running", level: .warning, area: .reader, subject: "fprintd".bytes,
        what: "fprintd is running",
        why: """
            only one program can use the reader: while fprintd has it open, touches fail here. The \
            package signet-fprint-compat takes its place for desktops
            """,
        mend: "apt install signet-fprint-compat")

    /// fprintd can be started.
    private static let fprintdInstalled = Finding(
        "fprintd-installed", level: .note, area: .reader, subject: "fprintd".bytes,
        what: "fprintd is installed, and starts when a desktop asks for it",
        why: """
            only one program can use the reader. The package signet-fprint-compat takes its place \
            for desktops
            """,
        mend: "apt install signet-fprint-compat")

    /// A profile with pam_fprintd is enabled, too.
    private static func fprintdProfile(_ profile: String) -> Finding {
        Finding(
            "fprintd-profile", level: .warning, area: .stacks, subject: profile.bytes,
            what: """
                the pam-auth-update profile '\(profile)' is enabled, and pam_signet is also in use
                """,
            why: """
                both ask for a finger, and fprintd's own pam_fprintd accepts a bare 'yes'. Keep \
                only one of them
                """,
            mend: "pam-auth-update --disable \(profile)")
    }
}
