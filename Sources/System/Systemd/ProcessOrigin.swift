// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Posix

/// Where a process was started, according to its control group, which only root can forge.
package enum ProcessOrigin: Equatable, Hashable, Sendable {
    /// In the logind session with this id.
    case session(String)
    /// Under `user@UID.service`: it was started by that user's service manager, in no session.
    case userManager(uid: UInt32)
    /// In this unit of the system's service manager.
    case systemUnit(String)
    /// In no unit.
    case outside

    /// Looks a process up by its id; the caller must ensure that the id still denotes that process.
    ///
    /// A unit of a user's service manager counts as that manager's, whatever its name. Source:
    /// `sd_pid_get_session(3)`, `sd_pid_get_unit(3)`.
    ///
    /// - Throws: the errno of libsystemd if the origin cannot be determined.
    package init(of pid: Int32) throws(SystemFault) {
        // To libsystemd, pid 0 means the caller.
        guard pid > 0 else { throw SystemFault("sd_pid_get_session", code: ESRCH) }
        if let session = try unsafe LoginRecord.text(
            "sd_pid_get_session", absent: [ENODATA, ENXIO],
            lookup: { unsafe sd_pid_get_session(pid, $0) })
        {
            self = .session(session)
            return
        }
        guard
            let unit = try unsafe LoginRecord.text(
                "sd_pid_get_unit", absent: [ENODATA, ENXIO],
                lookup: { unsafe sd_pid_get_unit(pid, $0) })
        else {
            self = .outside
            return
        }
        self = .unit(unit)
    }

    /// Returns the origin of a process in this unit of the system's service manager.
    private static func unit(_ name: String) -> ProcessOrigin {
        guard let uid = UnitName(name).userManager else { return .systemUnit(name) }
        return .userManager(uid: uid)
    }
}

/// The parts of a unit's name; systemd.unit(5).
package struct UnitName: Equatable, Sendable {
    /// The name without the instance, such as `getty@.service`; the whole name if it has none.
    package let template: String
    /// The instance, such as `tty1` in `getty@tty1.service`; nil if it has none.
    package let instance: String?

    /// Splits a name at the first `@` and the last dot.
    package init(_ name: String) {
        guard let at = name.firstIndex(of: "@"), let dot = name.lastIndex(of: "."), at < dot else {
            template = name
            instance = nil
            return
        }
        let begin = name.index(after: at)
        template = String(name[..<begin] + name[dot...])
        instance = begin == dot ? nil : String(name[begin..<dot])
    }

    /// The uid in `user@UID.service`; nil for other names.
    fileprivate var userManager: UInt32? {
        guard template == "user@.service", let instance,
            instance.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt32(instance)
    }
}
