// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

// An enrolment belongs to one life of an account. A name and a uid outlive the account that had
// them: the next account that gets them must not inherit what the former fingers open. So the state keeps
// marks that a successor cannot have by accident, and each request compares them.

/// What can be seen of an account now that tells it from an earlier account of its name and uid.
package struct AccountEvidence: Sendable {
    /// The password field of shadow(5).
    package enum PasswordField: Sendable {
        /// The name service has no entry, as for most accounts of a directory.
        case none
        /// It could not be looked up.
        case unreadable
        case entry(ShadowEntry)
    }

    package let field: PasswordField
    /// The home directory; nil if it shows nothing, see `HomeMark`.
    package let home: HomeMark?

    /// Describes evidence by its values.
    package init(field: PasswordField, home: HomeMark?) {
        self.field = field
        self.home = home
    }

    /// Nothing to see.
    package static let none = AccountEvidence(field: .none, home: nil)
}

/// Where evidence comes from: the machine, or a test.
package struct LifeWitness: Sendable {
    /// Returns what can be seen of an account.
    package let look: @Sendable (AccountName, UInt32) -> AccountEvidence

    package init(_ look: @escaping @Sendable (AccountName, UInt32) -> AccountEvidence) {
        self.look = look
    }

    /// Looks at shadow(5) and at the home directory.
    package static let system = LifeWitness { name, uid in
        guard let text = String(validating: name.bytes, as: UTF8.self) else { return .none }
        let field: AccountEvidence.PasswordField
        do throws(SystemFault) {
            field = try ShadowEntry.field(of: text).map { .entry($0) } ?? .none
        } catch { field = .unreadable }
        let account = (try? Account.with(uid: uid)).flatMap(\.self)
        return AccountEvidence(field: field, home: account.flatMap { HomeMark(of: $0) })
    }
}

/// Whether an account is still the one whose marks were recorded.
package enum AccountLife: Equatable, Sendable {
    case same
    /// It has its home directory, but another password, and the old one was not given for that:
    /// root has set it, or the account was given to another user with all that is in its home.
    case passwordReplaced
    /// Nothing shows that it is the same account.
    case replaced
}

/// The record `life`: the marks of an account's life, authenticated with the host secret.
///
/// The password field is kept as a digest that cannot be computed without the host secret. A record
/// that is missing, altered or another account's shows nothing.
package struct LifeMarks: LineRecord, Equatable {
    enum Field: Equatable {
        case none, unreadable
        case digest([UInt8], changed: Int64)
    }

    static let cap = 16_384
    static let name = "life"

    let identifier: LifeID
    let taken: Instant
    let field: Field
    let home: HomeMark?
    /// The mark that authenticates the rest; see `RecordMark`.
    private var seal: [UInt8]

    /// Takes the marks of an account as it is now.
    init(
        _ evidence: AccountEvidence, account: AccountName, uid: UInt32, host: HostSecret,
        now: Instant
    ) throws(StoreFault) {
        identifier = try random()
        taken = now
        field = try Self.field(
            evidence.field, account: account, identifier: identifier, host: host)
        home = evidence.home
        seal = []
        let (marked, identifier) = (marked, identifier)
        seal = try sealed { () throws(VaultError) in
            try RecordMark(host: host).make(marked, account: account, uid: uid, item: identifier)
        }
    }

    /// Judges an account by what can be seen of it now.
    ///
    /// A password field that is another one shows a successor, or a password that was set without
    /// the old one; only a home directory that is certainly the same speaks for the latter. A
    /// password field that is the same speaks for the same account, whatever became of its home:
    /// it may have been moved, restored from a backup or not be mounted. Only if the field was
    /// written when the new home was born, as useradd(8) does, or if there is no such field, is the
    /// home the evidence.
    func judge(
        _ evidence: AccountEvidence, account: AccountName, uid: UInt32, host: HostSecret
    ) throws(StoreFault) -> AccountLife {
        let (marked, seal, identifier) = (marked, seal, identifier)
        do throws(VaultError) {
            try RecordMark(host: host).check(
                seal, record: marked, account: account, uid: uid, item: identifier)
        } catch .doesNotOpen {
            return .replaced
        } catch { throw .vault(error) }
        let now = try Self.field(
            evidence.field, account: account, identifier: identifier, host: host)
        guard field.isSame(as: now) else {
            guard let home, let present = evidence.home, home.isSame(as: present) else {
                return .replaced
            }
            return .passwordReplaced
        }
        guard let home, let present = evidence.home, home.isReplaced(by: present),
            present.born / 1_000_000_000 >= taken.seconds
        else { return .same }
        guard case .digest(_, let before) = field, case .digest(_, let after) = now else {
            return .replaced
        }
        let birthday = Int64(clamping: present.born / 86_400_000_000_000)
        return before != after || after >= birthday ? .replaced : .same
    }

    /// Whether an account that was enrolled before there were marks may be the same one.
    ///
    /// It is not if both its home and its password are younger than the enrolment.
    static func mayAdopt(_ evidence: AccountEvidence, enrolled: Instant) -> Bool {
        guard let home = evidence.home, home.born / 1_000_000_000 > enrolled.seconds else {
            return true
        }
        guard case .entry(let entry) = evidence.field else { return true }
        return entry.changed < Int(clamping: home.born / 86_400_000_000_000)
    }

    private static func field(
        _ field: AccountEvidence.PasswordField, account: AccountName, identifier: LifeID,
        host: HostSecret
    ) throws(StoreFault) -> Field {
        switch field {
        case .none: return .none
        case .unreadable: return .unreadable
        case .entry(let entry):
            let state = try sealed { () throws(VaultError) in
                // The day of the change is kept apart: `chage -d` sets it, too.
                try PasswordState(
                    of: ShadowEntry(hash: entry.hash, changed: 0), account: account,
                    item: identifier, host: host)
            }
            return .digest(state.digest ?? [], changed: Int64(entry.changed))
        }
    }

    // MARK: The file

    private var marked: [UInt8] {
        var lines = LineWriter()
        lines.put("signet-life", number: 1)
        lines.put("id", id: identifier)
        lines.put("taken", taken.text)
        switch field {
        case .none: lines.put("password", StaticString("none").bytes)
        case .unreadable: lines.put("password", StaticString("unreadable").bytes)
        case .digest(let digest, let changed):
            lines.put("password", StaticString("digest").bytes)
            lines.put("digest", Hexadecimal.encode(digest))
            lines.put("changed", number: UInt64(bitPattern: changed))
        }
        lines.put("home", number: home == nil ? 0 : 1)
        if let home {
            lines.put("path", home.path)
            lines.put("file-system", home.filesystem)
            lines.put("inode", number: home.inode)
            lines.put("born", number: home.born)
        }
        return lines.text
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("mark", Hexadecimal.encode(seal))
        return marked + lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-life")
        identifier = try lines.identifier("id")
        taken = try lines.instant("taken")
        switch try lines.value("password", cap: 16) {
        case StaticString("none").bytes: field = .none
        case StaticString("unreadable").bytes: field = .unreadable
        case StaticString("digest").bytes:
            let digest = try lines.hexadecimal("digest", count: PasswordState.count)
            field = .digest(
                digest, changed: Int64(bitPattern: try lines.number("changed")))
        default: throw .malformed
        }
        switch try lines.number("home") {
        case 0: home = nil
        case 1:
            home = HomeMark(
                path: try lines.value("path", cap: 4_096),
                filesystem: try lines.value("file-system", cap: 128),
                inode: try lines.number("inode"), born: try lines.number("born"))
        default: throw .malformed
        }
        seal = try lines.hexadecimal("mark", count: RecordMark.count)
    }
}

extension LifeMarks.Field {
    /// Whether the password field is the same one, whatever its day.
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.none, .none), (.unreadable, .unreadable): true
        case (.digest(let mine, _), .digest(let theirs, _)): constantTimeEqual(mine, theirs)
        case (.none, _), (.unreadable, _), (.digest, _): false
        }
    }
}

extension AccountState {
    /// When the password, or root, last vouched for the fingers, as far as the records show it.
    func lastVouched() throws(StoreFault) -> Instant {
        let created = try record().created
        guard
            case .sealed(let credential)? = try directory.record(
                CredentialStore.name, as: CredentialRecord.self)
        else { return created }
        return max(created, credential.created)
    }

    /// Judges whether the account is still the one that enrolled, by what can be seen of it now.
    ///
    /// Changes nothing. Marks that are missing or damaged show nothing: the account counts as
    /// replaced, until the password is given.
    package func life(seen evidence: AccountEvidence) throws(StoreFault) -> AccountLife {
        // Nothing opens then, marks included, and the credential says so.
        if try isOfAnotherSecret() { return .same }
        let marks: LifeMarks?
        do throws(StoreFault) {
            marks = try directory.record(LifeMarks.name)
        } catch {
            guard error.isAboutContent else { throw error }
            return .replaced
        }
        return try marks?.judge(evidence, account: sealedName, uid: uid, host: host) ?? .replaced
    }

    /// Whether the credential was sealed with another secret of the machine, or was destroyed for
    /// that reason.
    private func isOfAnotherSecret() throws(StoreFault) -> Bool {
        let record: CredentialRecord?
        do throws(StoreFault) {
            record = try directory.record(CredentialStore.name)
        } catch {
            guard error.isAboutContent else { throw error }
            return false
        }
        switch record {
        case .sealed(let credential)?:
            do throws(VaultError) {
                return credential.host != (try host.identifier())
            } catch { throw .vault(error) }
        case .destroyed(let cause, _)?: return cause == .hostSecretChanged
        case .changing, .disabled, nil: return false
        }
    }

    /// Whether the home directory does not show that the account is another one.
    package func mayHaveHome(_ evidence: AccountEvidence) -> Bool {
        guard let marks = try? directory.record(LifeMarks.name, as: LifeMarks.self) else {
            return false
        }
        guard let home = marks.home, let present = evidence.home else { return true }
        return !home.isReplaced(by: present)
    }

    /// Records the marks of the account as it is now, for which its password, or root, vouches.
    package func mark(_ evidence: AccountEvidence, now: Instant) throws(StoreFault) {
        try directory.keep(
            try LifeMarks(evidence, account: sealedName, uid: uid, host: host, now: now),
            as: LifeMarks.name)
    }

    /// Makes the records those of the account that has the uid now, under the name that it has now.
    ///
    /// Only after its password was given, or by root. What is sealed stays sealed under the name at
    /// the first enrolment, so that it still opens. The key that the PAM module reads names the
    /// former account until the next one is issued.
    package func adopted(
        by name: AccountName, seen evidence: AccountEvidence, now: Instant
    ) throws(StoreFault) {
        if name != self.name {
            guard name.isUsable else { throw .unsupportedName }
            try keep(try record().renamed(to: name))
        }
        try mark(evidence, now: now)
    }
}
