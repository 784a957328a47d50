// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether the sockets of the daemon and of the reader process are open, also after a
/// reboot, and whether the daemon that answers runs as root and is of this version.
struct ServiceChecks {
    let files: MachineFiles

    private static let socket = "/run/signet/signetd.sock"

    /// Findings on the sockets, and on the units that create them.
    func socketFindings() -> [Finding] {
        var findings: [Finding] = []
        if files.exists(Self.socket) {
            let check = FileCheck(files: files)
            findings +=
                check.findings(at: Self.socket, rule: .socket) + check.parents(of: Self.socket)
        } else {
            findings.append(Self.socketMissing)
        }
        // Only root could learn more about the reader process; the daemon reports it.
        if !files.exists("/run/signet/reader.sock") { findings.append(Self.readersMissing) }
        if files.exists("/run/systemd/system") {
            if !isEnabled("signetd.socket") { findings.append(Self.socketDisabled) }
            if !isEnabled("signet-reader.socket") { findings.append(Self.readersDisabled) }
        }
        return findings
    }

    private func isEnabled(_ socket: String) -> Bool {
        if files.target("/etc/systemd/system/\(socket)") == "/dev/null" { return false }
        return ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"].contains {
            files.exists("\($0)/sockets.target.wants/\(socket)")
        }
    }

    /// Findings on the daemon's identity and version.
    ///
    /// - Parameters:
    ///   - version: the version of the program that examines.
    ///   - isStarting: whether systemd is still starting the daemon, which is asked if it does not
    ///     answer.
    func daemonFindings(
        _ view: DaemonView, version: Bytes, isStarting: () -> Bool
    ) -> [Finding] {
        var findings: [Finding] = []
        switch view.reach {
        case .answers, .absent: break
        case .foreign(let uid): findings.append(Self.foreign(uid: uid))
        case .silent(let reason):
            findings.append(isStarting() ? Self.starting(reason) : Self.silent(reason))
        }
        if let running = view.version, running != version {
            findings.append(Self.otherVersion(running, expected: version))
        }
        return findings
    }
}

extension ServiceChecks {
    /// The daemon's socket is missing.
    private static let socketMissing = Finding(
        "socket-missing", level: .fault, area: .service, subject: socket.bytes,
        what: "there is no socket at /run/signet/signetd.sock",
        why: "programs cannot reach the daemon, and it is not started: only passwords work",
        mend: "systemctl enable --now signetd.socket")

    /// The unit is not enabled.
    private static let socketDisabled = Finding(
        "socket-disabled", level: .fault, area: .service, subject: "signetd.socket".bytes,
        what: "signetd.socket is not enabled",
        why: "after the next reboot, only passwords work",
        mend: "systemctl unmask signetd.socket; systemctl enable --now signetd.socket")

    /// The socket of the reader process is missing.
    private static let readersMissing = Finding(
        "readers-missing", level: .fault, area: .reader, subject: "/run/signet/reader.sock".bytes,
        what: "there is no socket at /run/signet/reader.sock",
        why: "the daemon cannot reach fingerprint readers: only passwords work",
        mend: "systemctl enable --now signet-reader.socket")

    /// The socket unit of the reader process is not enabled.
    private static let readersDisabled = Finding(
        "readers-disabled", level: .fault, area: .reader, subject: "signet-reader.socket".bytes,
        what: "signet-reader.socket is not enabled",
        why: "after the next reboot, only passwords work",
        mend: "systemctl unmask signet-reader.socket; systemctl enable --now signet-reader.socket")

    /// The socket, or the program that listens on it, does not belong to root.
    private static func foreign(uid: UInt32) -> Finding {
        Finding(
            "service-foreign", level: .danger, area: .service, subject: socket.bytes,
            what: """
                the service at /run/signet/signetd.sock belongs to uid \(number: uid), not to root
                """,
            why: """
                passwords and secrets would go to that user; Signet's own programs refuse to send \
                any
                """,
            mend: """
                rm -f /run/signet/signetd.sock; chown root:root /run/signet; \
                systemctl restart signetd.socket
                """)
    }

    /// The daemon does not answer.
    private static func silent(_ reason: Text) -> Finding {
        Finding(
            "service-silent", level: .fault, area: .service, subject: "signetd".bytes,
            what: reason,
            why: "only passwords work",
            mend: """
                [ "$(systemctl is-active signetd)" = activating ] || \
                systemctl restart signetd.socket signetd.service
                """)
    }

    /// The daemon does not answer, because it has not started yet.
    private static func starting(_ reason: Text) -> Finding {
        Finding(
            "service-starting", level: .warning, area: .service, subject: "signetd".bytes,
            what: "the service is still starting: \(reason)",
            why: """
                only passwords work until it has started, which can take a minute or more on a busy \
                machine
                """,
            mend: "systemctl status signetd")
    }

    /// The daemon has another version.
    private static func otherVersion(_ version: Bytes, expected: Bytes) -> Finding {
        Finding(
            "version-daemon", level: .fault, area: .service, subject: "signetd".bytes,
            what: "the running daemon has version \(version), this command has \(expected)",
            why: "an upgrade is complete only after the daemon is restarted",
            mend: "systemctl try-restart signetd")
    }
}
