// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol
import Posix

/// Checks whether the clock is right, the lid open, Secure Boot on, swap encrypted, and logins not
/// closed.
struct MachineChecks {
    let machine: Machine

    private var files: MachineFiles { machine.files }

    func findings() -> [Finding] {
        [clock(), lid(), secureBoot()].compactMap(\.self) + SwapCheck(files: files).findings()
            + ["/etc/nologin", "/run/nologin"].filter { files.exists($0) }.map(Self.closed)
    }

    /// How far in the future a file's time may be before the clock counts as wrong, in seconds.
    private static let clockTolerance: Int64 = 600

    /// A file's time is in the future, or the clock is not synchronised.
    private func clock() -> Finding? {
        let state = MachineFiles.state
        var paths = ["\(state)/version", "\(state)/device-id"] + files.publicFiles().map(\.path)
        if machine.isRoot {
            let accounts = "\(state)/private/accounts"
            paths += files.names(accounts).filter { UInt32($0) != nil }.flatMap { uid in
                ["account", "counter", "receipts"].map { "\(accounts)/\(uid)/\($0)" }
            }
        }
        let newest = paths.compactMap { path in files.look(path).map { (path, $0.modified) } }
            .max { $0.1 < $1.1 }
        if let (path, time) = newest, time > machine.now + Self.clockTolerance {
            let day = Text.date(UInt64(clamping: time))
            return Finding(
                "clock-behind", level: .fault, area: .machine, subject: path.bytes,
                what: "the clock is behind: \(path) was written on \(day), which is in the future",
                why: """
                    receipts contain the time, and certificates are checked against it. Set the \
                    clock
                    """,
                mend: "timedatectl set-ntp true")
        }
        guard machine.isClockKept == false else { return nil }
        return Finding(
            "clock-unsynchronised", level: .note, area: .machine,
            what: "the clock is not synchronised",
            why: "receipts contain the time. Lockouts do not depend on it",
            mend: "timedatectl set-ntp true")
    }

    /// The lid is closed.
    private func lid() -> Finding? {
        let lids = "/proc/acpi/button/lid"
        let isClosed = files.names(lids).contains { name in
            files.lines("\(lids)/\(name)/state").contains { $0.contains("closed") }
        }
        guard isClosed else { return nil }
        return Finding(
            "lid-closed", level: .note, area: .machine,
            what: "the lid is closed",
            why: "a reader under the lid cannot be touched, so no touch is asked for there",
            mend: "cat /proc/acpi/button/lid/*/state")
    }

    /// Secure Boot is off.
    private func secureBoot() -> Finding? {
        let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        // The variable has four bytes of attributes, then the value.
        guard let variable = files.read(path, cap: 5), variable.count == 5, variable[4] == 0 else {
            return nil
        }
        return Finding(
            "secure-boot-off", level: .note, area: .machine,
            what: "Secure Boot is off",
            why: """
                anyone who boots another system on this machine can change this one. Keys in files \
                are then only as safe as the disk encryption
                """,
            mend: "mokutil --sb-state")
    }

    /// Logins are disabled by /etc/nologin or /run/nologin.
    private static func closed(_ path: String) -> Finding {
        Finding(
            "logins-closed", level: .note, area: .machine, subject: path.bytes,
            what: "\(path) exists: only root can log in",
            why: """
                until it is removed, other users can log in neither with a fingerprint nor with a \
                password
                """,
            mend: "cat \(path)")
    }
}
