// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix

/// The machine under examination, as the caller can see it.
///
/// Nothing here changes the machine. Tests replace the properties: `root` for files, the closures
/// for the name service and the journal. The closures throw if the name service cannot answer,
/// which must not be confused with a name that does not exist.
package struct Machine: Sendable {
    /// A prefix for every path.
    package var root = ""
    /// The uid of the caller. Only root sees private files.
    package var uid = effectiveUID()
    /// Seconds since 1970.
    package var now = Clock.system.wallSeconds()
    /// Whether the clock is synchronised; nil if that is not known.
    package var isClockKept = isClockSynchronised()
    /// The login name of a uid; nil if there is none.
    package var account: @Sendable (UInt32) throws(SystemFault) -> String? = {
        (uid) throws(SystemFault) in try Account.with(uid: uid)?.name
    }
    /// Whether an account of this name exists.
    package var isAccount: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Account.named(name) != nil
    }
    /// Whether a group of this name exists.
    package var isGroup: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Group.number(of: name) != nil
    }
    /// Whether an account is a member of a group, both given by name.
    package var isMember: @Sendable (String, String) throws(SystemFault) -> Bool = {
        (name, group) throws(SystemFault) in
        guard let account = try Account.named(name) else { return false }
        return try !Group.memberships(of: account, among: [group]).isEmpty
    }
    /// Runs journalctl with these arguments; `failed` if there is no journal.
    package var journal: @Sendable ([String]) -> ChildAnswer = { arguments in
        ChildOutput.of(
            "/usr/bin/journalctl", arguments, cap: 1 << 20, within: .milliseconds(400))
    }

    /// The machine that this program runs on.
    package init() {}

    /// The directory of the daemon's files, public keys included.
    package static let state = "/var/lib/signet"
    /// The most accounts that are examined one by one.
    package static let mostAccounts = 64
    /// The most names that are read of one directory.
    static let mostNames = 4_096

    var isRoot: Bool { uid == 0 }

    func look(_ path: String, following: Bool = false) -> FileLook? {
        FileLook(root + path, following: following)
    }

    /// Whether certainly nothing exists at a path; false if the caller may not look.
    func isMissing(_ path: String) -> Bool { FileLook.isMissing(root + path) }

    func read(_ path: String, cap: Int = 65_536) -> Bytes? {
        FileLook.beginning(of: root + path, cap: cap)
    }

    func text(_ path: String) -> String? {
        read(path).map { String(decoding: $0, as: UTF8.self) }
    }

    func names(_ path: String) -> [String] {
        FileLook.names(in: root + path, cap: Machine.mostNames) ?? []
    }
}

extension Machine {
    /// The accounts that Signet stores something for and that the caller may ask about, by uid.
    ///
    /// Root may ask about all accounts, others only about their own.
    ///
    /// - Returns: The names, `mostAccounts` at most, and whether these are all.
    package func accounts() -> (names: [Bytes], areAll: Bool) {
        guard isRoot else { return (name(of: uid).map { [Bytes($0.utf8)] } ?? [], true) }
        let kept = names("\(Machine.state)/private/accounts").compactMap { UInt32($0) }
        let found = Set(kept + publicFiles().map(\.uid)).sorted().compactMap(name(of:))
        let names = found.prefix(Machine.mostAccounts).map { Bytes($0.utf8) }
        return (Array(names), found.count <= Machine.mostAccounts)
    }

    /// The login name of a uid; nil if there is none, or the name service does not answer.
    package func name(of uid: UInt32) -> String? { try? account(uid) }

    /// The files in keys/ whose names are of a kind that Signet creates.
    func publicFiles() -> [PublicFile] {
        names("\(Machine.state)/keys").compactMap(PublicFile.init)
    }
}

/// The name of a file in keys/: `UID.pub`, `UID.off` or `UID.next`.
struct PublicFile: Equatable {
    enum Kind: String {
        case pub = "pub"
        case off = "off"
        case next = "next"
    }

    let uid: UInt32
    let kind: Kind

    init?(_ name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let uid = UInt32(parts[0]), String(uid) == parts[0],
            let kind = Kind(rawValue: String(parts[1]))
        else { return nil }
        self.uid = uid
        self.kind = kind
    }

    var path: String { "\(Machine.state)/keys/\(uid).\(kind.rawValue)" }
}

extension String {
    var bytes: Bytes { Bytes(utf8) }
}
