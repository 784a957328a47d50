// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Posix

/// Where systemd keeps a process, by its control group: what started it, as nobody but root can fake.
package enum ProcessOrigin: Equatable, Hashable, Sendable {
    /// In a session of logind, whose id this is.
    case session(String)
    /// Below `user@UID.service`: started by that user's service manager, in no session.
    case userManager(uid: UInt32)
    /// In a unit of the system's service manager.
    case systemUnit(String)
    /// In no unit.
    case outside

    /// Looks a process up by its number: the caller makes sure that the number still means that one.
    ///
    /// Throws where that cannot be found out. A unit of a user's own manager is that manager's,
    /// whatever its name. Source: `sd_pid_get_session(3)`, `sd_pid_get_unit(3)`.
    package init(of pid: Int32) throws(SystemFault) {
        // libsystemd takes pid 0 for the caller.
        guard pid > 0 else { throw SystemFault("sd_pid_get_session", code: ESRCH) }
        if let session = try unsafe LoginRecord.text(
            "sd_pid_get_session", absent: [ENODATA, ENXIO], { unsafe sd_pid_get_session(pid, $0) })
        {
            self = .session(session)
            return
        }
        guard
            let unit = try unsafe LoginRecord.text(
                "sd_pid_get_unit", absent: [ENODATA, ENXIO], { unsafe sd_pid_get_unit(pid, $0) })
        else {
            self = .outside
            return
        }
        self = .unit(unit)
    }

    /// The place that the name of a unit of the system's manager stands for.
    private static func unit(_ name: String) -> ProcessOrigin {
        guard let uid = UnitName(name).userManager else { return .systemUnit(name) }
        return .userManager(uid: uid)
    }
}

/// A unit's name in its parts; systemd.unit(5).
package struct UnitName: Equatable, Sendable {
    /// The name without the instance: `getty@.service`; the whole name where it has none.
    package let template: String
    /// The instance: `tty1` of `getty@tty1.service`; nil where it is no template's.
    package let instance: String?

    /// Takes a name apart at the first `@` and the last dot.
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

    /// The user whose service manager `user@UID.service` is.
    fileprivate var userManager: UInt32? {
        guard template == "user@.service", let instance,
            instance.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt32(instance)
    }
}
