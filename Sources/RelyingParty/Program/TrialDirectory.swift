// SPDX-License-Identifier: Apache-2.0
import Configuration
import Posix

/// The directory of a server that is only tried out (`--try`): its settings, database and secret.
///
/// It belongs to the user who starts the server, and no other user may write to it or to a directory
/// above it. The settings file that is created there serves the commands of `admin` too. A directory
/// that has other contents is never used, so that no other server's data are touched.
struct TrialDirectory {
    /// The first line of the settings file, by which such a directory is recognised.
    private static let mark =
        "# Created by 'signet-server --try', to try things out: never let others reach this server."
    private static let name = "server.conf"
    /// Where installed servers have their data.
    private static let system = ["/var/lib/signet-server", "/etc/signet"]
    /// The most bytes of a settings file that are read.
    private static let cap = 65_536

    /// The path, without a slash at the end.
    let path: String

    /// The path of the settings file.
    var configuration: String { "\(path)/\(Self.name)" }

    /// The default directory of this user, from the environment: below `XDG_STATE_HOME` if it is an
    /// absolute path, otherwise below the home directory.
    static func standardPath() -> String? {
        let state = environmentValue("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        if let state { return "\(state)/signet-server-try" }
        let home = environmentValue("HOME") ?? (try? Account.with(uid: effectiveUID()))?.home
        guard let home, home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/signet-server-try"
    }

    /// The uid that may own a settings file besides root: this user's, for a file that `--try` has
    /// created, so that the commands of `admin` work on it without root; otherwise 0.
    static func owner(ofSettings path: String) -> UInt32 {
        let uid = effectiveUID()
        let text = try? TrustedFile.read(path, owner: uid, cap: cap)
        return text?.starts(with: Array((mark + "\n").utf8)) == true ? uid : 0
    }

    /// Creates the directory if it is missing, with mode 0700, and the settings in it.
    ///
    /// - Throws: `.trial` if it is an installed server's, or has other contents; `.file` if other
    ///   users may write to it or it cannot be created.
    init(_ path: String) throws(StartFault) {
        let parts = path.split(separator: "/").map(String.init)
        let whole = "/" + parts.joined(separator: "/")
        self.path = whole
        guard path.hasPrefix("/"), !parts.isEmpty, !parts.contains(".."), !parts.contains(".")
        else {
            throw .trial("'\(path)' is not an absolute path without '..': give one to --try")
        }
        guard !Self.system.contains(where: { whole == $0 || whole.hasPrefix($0 + "/") }) else {
            throw .trial("\(whole) is for the installed server: give --try a directory of your own")
        }
        let isUsable: Bool
        do throws(FileFault) {
            isUsable = try Self.prepare(whole, settings: settings)
        } catch { throw .file(error) }
        guard isUsable else {
            throw .trial("\(whole) has files that --try did not create: give it a new directory")
        }
    }

    /// Creates the directory and the settings file if they are missing; returns false for a
    /// directory with other contents.
    private static func prepare(_ path: String, settings: String) throws(FileFault) -> Bool {
        let directory = try Directory.make(path, owner: effectiveUID())
        if let found = try directory.read(name, cap: cap) {
            return found.starts(with: Array((mark + "\n").utf8))
        }
        guard try directory.listAll().isEmpty else { return false }
        try directory.replace(name, bytes: Array(settings.utf8))
        return true
    }

    /// The content of the settings file.
    private var settings: String {
        """
        \(Self.mark)
        [server]
        url = https://localhost
        [listen]
        address = 127.0.0.1
        port = 8443
        connections = 100
        [database]
        path = \(path)/server.db
        [keys]
        master = \(path)/master-secret

        """
    }

    /// Checks that the settings keep the server within this directory and this machine, whatever was
    /// written to the file since.
    ///
    /// - Throws: `.trial`, naming the setting.
    func check(_ settings: Configuration) throws(StartFault) {
        let wanted: Configuration
        do throws(ConfigurationFault) {
            wanted = try Configuration(
                ServerSettings.all, files: [(configuration, Array(self.settings.utf8))])
        } catch { throw .configuration(error) }
        for setting in ServerSettings.fixedInTrial
        where settings.value(setting) != wanted.value(setting) {
            throw .trial(
                """
                \(settings.origin(setting)): \(setting.name) is always \
                \(wanted.value(setting).text) with --try: remove the line
                """)
        }
    }
}

extension ServerSettings {
    /// The settings that decide who can reach a server, and what it stores where.
    fileprivate static let fixedInTrial = [
        address, port, certificate, key, proxy, databaseKind, databasePath, master, metrics,
    ]
}
