// SPDX-License-Identifier: Apache-2.0
/// Somebody that programs can be run as.
package struct Account: Sendable, Equatable {
    /// The name in the fixture's `/etc/passwd`.
    package let name: String
    /// User id, and the id of the group of the same name.
    package let uid: UInt32
    /// What `passwd` was told.
    package let password: String

    /// The home directory in the fixture.
    package var home: String { uid == 0 ? "/root" : "/home/\(name)" }

    /// An account of the fixture with these properties.
    package init(name: String, uid: UInt32, password: String) {
        self.name = name
        self.uid = uid
        self.password = password
    }
}

/// What to run, as whom, with what, and where: in a fixture, or on the machine itself.
package struct Command: Sendable {
    /// The program (a path, or a name that is looked up in the usual places) and its arguments.
    package var arguments: [String]
    /// Whose ids the program gets; nil leaves the test's own.
    package var account: Account?
    /// The whole environment of the program.
    package var environment: [String: String]
    /// Where it starts.
    package var directory: String
    /// What has started it, in a fixture.
    package var place: FixturePlace
    let host: HostFixture?
    /// A socket that it connects to instead of running a program; see `DaemonClient`.
    var connects: String?

    /// A command on the machine itself, with the test's own ids.
    package init(_ arguments: [String], environment: [String: String] = [:]) {
        self.init(arguments, account: nil, environment: environment, host: nil)
    }

    init(
        _ arguments: [String], account: Account?, environment: [String: String], host: HostFixture?,
        place: FixturePlace? = nil
    ) {
        self.arguments = arguments
        self.place = place ?? .session(of: account?.uid == 0 ? nil : account)
        self.account = account
        self.host = host
        directory = host == nil ? "/" : account?.home ?? "/"
        var all = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        ]
        if let account {
            all["USER"] = account.name
            all["LOGNAME"] = account.name
            all["HOME"] = account.home
            all["SHELL"] = "/bin/bash"
        }
        self.environment = all.merging(environment) { _, new in new }
    }
}
