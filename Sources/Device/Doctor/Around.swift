// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import ConfigurationFiles
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// The daemon's surroundings: sockets, configuration, TPM and fprintd.
extension Machine {
    /// Problems with the sockets, and with the units that hold them.
    func socketFindings() -> [Finding] {
        let path = "/run/signet/signetd.sock"
        var findings: [Finding] = []
        if let look = look(path) {
            findings += FileRule.socket.findings(look, at: path)
            findings += checkParents(of: path)
        } else {
            findings.append(.socketMissing)
        }
        // Only root could learn more about the reader process; the daemon reports it.
        if look("/run/signet/reader.sock") == nil { findings.append(.readersMissing) }
        if look("/run/systemd/system") != nil {
            if !isEnabled("signetd.socket") { findings.append(.socketDisabled) }
            if !isEnabled("signet-reader.socket") { findings.append(.readersDisabled) }
        }
        return findings
    }

    private func isEnabled(_ socket: String) -> Bool {
        if target("/etc/systemd/system/\(socket)") == "/dev/null" { return false }
        return ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"].contains {
            look("\($0)/sockets.target.wants/\(socket)") != nil
        }
    }

    /// Why the configuration files would be rejected, even if the daemon does not use them; nil if
    /// not.
    func configurationFault() -> ConfigurationFault? {
        do throws(ConfigurationFault) {
            _ = try ConfigurationFiles.load(root + "/etc/signet/signet.conf")
            return nil
        } catch { return error }
    }

    /// Problems with access to the TPM device, which the daemon opens without any capability.
    func tpmFindings() -> [Finding] {
        let path = "/dev/tpmrm0"
        guard let look = look(path), look.kind == .device else { return [] }
        let isOwners = look.owner == 0 && look.permissions & 0o600 == 0o600
        let groups = [group(named: "tss"), 0].compactMap(\.self)
        let isGroups = groups.contains(look.group) && look.permissions & 0o060 == 0o060
        return isOwners || isGroups ? [] : [.tpmAccess(path.bytes)]
    }

    /// Whether there is a TPM that the daemon could use.
    var hasTPM: Bool { look("/dev/tpmrm0")?.kind == .device }

    private func group(named name: String) -> UInt32? {
        for line in (text("/etc/group") ?? "").split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            if fields.count >= 3, fields[0] == name { return UInt32(fields[2]) }
        }
        return nil
    }

    /// Whether fprintd, which uses the same reader, is running or can be started over D-Bus.
    func fprintdFindings() -> [Finding] {
        let isRunning = names("/proc").contains { name in
            UInt32(name) != nil && read("/proc/\(name)/comm", cap: 16) == "fprintd\n".bytes
        }
        if isRunning { return [.fprintdRunning] }
        let activation = "/usr/share/dbus-1/system-services/net.reactivated.Fprint.service"
        let isMasked = ["/etc", "/run"].contains {
            target("\($0)/systemd/system/fprintd.service") == "/dev/null"
        }
        return look(activation) != nil && !isMasked ? [.fprintdInstalled] : []
    }

    func target(_ path: String) -> String? { FileLook.target(of: root + path) }
}

extension Machine {
    /// Problems with clock, lid, Secure Boot and swap, and a machine that is closed for logins.
    func machineFindings() -> [Finding] {
        clockFindings() + lidFindings() + secureBootFindings() + swapFindings()
            + ["/etc/nologin", "/run/nologin"].filter { look($0) != nil }
            .map { .loginsClosed($0.bytes) }
    }

    /// How far in the future, in seconds, a file may be before the clock counts as wrong.
    private static let clockTolerance: Int64 = 600

    private func clockFindings() -> [Finding] {
        let state = Machine.state
        var paths = ["\(state)/version", "\(state)/device-id"] + publicFiles().map(\.path)
        if isRoot {
            let accounts = names("\(state)/private/accounts").filter { UInt32($0) != nil }
            paths += accounts.flatMap { uid in
                ["account", "counter", "receipts"].map { "\(state)/private/accounts/\(uid)/\($0)" }
            }
        }
        let newest = paths.compactMap { path in look(path).map { (path, $0.modified) } }
            .max { $0.1 < $1.1 }
        if let (path, time) = newest, time > now + Machine.clockTolerance {
            return [.clockBehind(path.bytes, by: .date(UInt64(clamping: time)))]
        }
        return isClockKept == false ? [.clockUnsynchronised] : []
    }

    private func lidFindings() -> [Finding] {
        let lids = "/proc/acpi/button/lid"
        let isClosed = names(lids).contains { name in
            text("\(lids)/\(name)/state")?.contains("closed") ?? false
        }
        return isClosed ? [.lidClosed] : []
    }

    private func secureBootFindings() -> [Finding] {
        let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        // The variable has four bytes of attributes, then the value.
        guard let variable = read(path, cap: 5), variable.count == 5 else { return [] }
        return variable[4] == 0 ? [.secureBootOff] : []
    }
}
