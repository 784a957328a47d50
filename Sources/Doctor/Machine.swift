// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix

/// The machine that is looked at. Only a test changes what is here.
package struct Machine: Sendable {
    /// In front of every path.
    package var root = ""
    /// Who looks.
    package var uid = effectiveUID()
    /// Seconds since 1970.
    package var now = Clock.system.wallSeconds()
    /// Whether something keeps the clock right; nil where that is not known.
    package var isClockKept = isClockSynchronised()
    /// The login name of a uid; nil where there is none. One that cannot be looked up is no such.
    package var account: @Sendable (UInt32) throws(SystemFault) -> String? = {
        (uid) throws(SystemFault) in try Account.with(uid: uid)?.name
    }
    /// Whether the name service knows an account of a name. Where it cannot tell, it throws.
    package var isAccount: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Account.named(name) != nil
    }
    /// The same of a group.
    package var isGroup: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Group.number(of: name) != nil
    }
    /// Whether an account is in a group, both by name.
    package var isMember: @Sendable (String, String) throws(SystemFault) -> Bool = {
        (name, group) throws(SystemFault) in
        guard let account = try Account.named(name) else { return false }
        return try !Group.memberships(of: account, among: [group]).isEmpty
    }
    /// What journalctl says to these arguments; it fails where there is no journal.
    package var journal: @Sendable ([String]) -> ChildAnswer = { arguments in
        ChildOutput.of(
            "/usr/bin/journalctl", arguments, cap: 1 << 20, within: .milliseconds(400))
    }

    /// The machine that this program runs on.
    package init() {}

    /// Where the public keys lie, and all that is kept.
    package static let state = "/var/lib/signet"
    /// The most accounts that are looked at one by one.
    package static let mostAccounts = 64
    /// The most names of a directory that are looked at.
    static let mostNames = 4_096

    var isRoot: Bool { uid == 0 }

    func look(_ path: String, following: Bool = false) -> FileLook? {
        FileLook(root + path, following: following)
    }

    /// Whether there surely is nothing; another's directory may not be looked into.
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
    /// The accounts that something is kept for and that this caller may ask about, by uid, and
    /// whether there are more.
    package func accounts() -> (names: [Bytes], areAll: Bool) {
        guard isRoot else { return (name(of: uid).map { [Bytes($0.utf8)] } ?? [], true) }
        let kept = names("\(Machine.state)/private/accounts").compactMap { UInt32($0) }
        let found = Set(kept + publicFiles().map(\.uid)).sorted().compactMap(name(of:))
        let names = found.prefix(Machine.mostAccounts).map { Bytes($0.utf8) }
        return (Array(names), found.count <= Machine.mostAccounts)
    }

    /// The login name of a uid; nil where there is none, or none is to be had now.
    package func name(of uid: UInt32) -> String? { try? account(uid) }

    /// The files in keys/ that are of Signet's making by their names.
    func publicFiles() -> [PublicFile] {
        names("\(Machine.state)/keys").compactMap(PublicFile.init)
    }
}

/// `UID.pub`, `UID.off` or `UID.next`.
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
