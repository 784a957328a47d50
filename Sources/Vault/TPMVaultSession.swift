// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import TPM

/// The one connection of the TPM vault, and what is ready on it; for one thread at a time.
///
/// Every use of the TPM goes through `attempt`: the root key is checked before anything secret is
/// sent, and what a lost connection or a full TPM broke is done once more.
struct TPMVaultSession {
    /// What Name the root key must have.
    enum Expectation {
        /// The pinned one. Where none is yet, whichever there is; it is pinned first.
        case pinned
        /// The pinned one; where none is, the one that a sealed object names.
        case named([UInt8])

        /// Whether an object may be loaded under a root key. One that names another is another
        /// TPM's, or of before this one was cleared: nothing here can open it.
        func fits(_ root: StorageRoot) -> Bool {
            switch self {
            case .pinned: true
            case .named(let name): root.name == name
            }
        }
    }

    /// A connection whose root key has the Name that it must have.
    private final class Link {
        let connection: TPMConnection
        let root: StorageRoot
        var isPinned: Bool

        init(_ connection: TPMConnection, _ root: StorageRoot, isPinned: Bool) {
            self.connection = connection
            self.root = root
            self.isPinned = isPinned
        }
    }

    private let name: TCTIName
    private let pin: any RootPin
    private var link: Link?
    private var ready: [UInt64: ReadyObject?] = [:]
    private var next: UInt64 = 0
    private var commandsBefore = 0

    init(name: TCTIName, pin: any RootPin) {
        self.name = name
        self.pin = pin
    }

    /// How many commands were sent to the TPM in all.
    var commands: Int { commandsBefore + (link?.connection.commands ?? 0) }

    /// Runs `body` with a root key that is trusted, a second time where that may help.
    ///
    /// `.doesNotOpen` where the trusted root key is not the one that a sealed object names.
    mutating func attempt<Result>(
        _ expectation: Expectation,
        _ body: (TPMConnection, StorageRoot) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result {
        var tries = 0
        while true {
            do throws(TPMFault) {
                let link = try trusted(expectation)
                if expectation.fits(link.root) {
                    return try body(link.connection, link.root)
                }
            } catch {
                tries += 1
                guard tries < 2, remedied(error) else { throw error.verdict }
                continue
            }
            throw .doesNotOpen
        }
    }

    /// Gets an object ready and keeps it under a number.
    mutating func makeReady(_ sealed: TPMSealed) throws(VaultError) -> UInt64 {
        let object = try prepared(sealed)
        next += 1
        ready[next] = .some(object)
        return next
    }

    /// Uses what is ready: one command. Where it is lost, everything anew and once more.
    mutating func use<Result>(
        _ number: UInt64, _ sealed: TPMSealed,
        _ body: (TPMConnection, ReadyObject) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result {
        if let result = try useAsItIs(number, body) { return result }
        // The old object goes first: a TPM has room for few.
        ready[number] = .some(nil)
        let object = try prepared(sealed)
        ready[number] = .some(object)
        guard let link else { throw .trouble(.failed("the connection to the TPM is gone")) }
        do throws(TPMFault) {
            return try body(link.connection, object)
        } catch { throw error.verdict }
    }

    /// Uses what is ready; nil where it was lost and has to be got ready anew.
    ///
    /// Nothing here holds the object any longer when that is done.
    private mutating func useAsItIs<Result>(
        _ number: UInt64,
        _ body: (TPMConnection, ReadyObject) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result? {
        guard let entry = ready[number] else { throw .trouble(.failed("it was given back")) }
        guard let object = entry, object.isUsable, let link else { return nil }
        do throws(TPMFault) {
            return try body(link.connection, object)
        } catch {
            guard remedied(error) else { throw error.verdict }
            return nil
        }
    }

    /// Gives back what is ready under a number.
    mutating func giveBack(_ number: UInt64) {
        ready[number] = nil
    }

    /// Closes the connection, unless something is ready on it.
    mutating func rest() {
        guard ready.isEmpty else { return }
        abandon()
    }

    /// Gives back all that is ready, and closes the connection.
    mutating func close() {
        ready = [:]
        abandon()
    }

    /// Pins the root key that there is now, whichever that is.
    mutating func trust() throws(VaultError) -> RootChange {
        let old = (try? pin.load()) ?? nil
        abandon()
        do throws(TPMFault) {
            let connection = try TPMConnection(name)
            let root = try connection.root(expecting: nil)
            try save(root.name)
            link = Link(connection, root, isPinned: true)
            return RootChange(old: old, new: root.name)
        } catch { throw error.verdict }
    }

    /// The TPM's properties, and the Name of its root key if it has one. Changes nothing in the TPM.
    ///
    /// Throws `.notPermitted` if there is no root key and none may be created, `.anotherRoot` if the root
    /// key is not the pinned one, or would not be once created: the TPM was cleared or replaced.
    mutating func description() throws(VaultError) -> (TPMProperties, root: [UInt8]) {
        if let found = try descriptionAsItIs() { return found }
        do throws(TPMFault) {
            let connection = try TPMConnection(name)
            let properties = try connection.properties()
            let found = try connection.findRoot()
            guard found != nil || !properties.isOwned else {
                throw .notPermitted(
                    "the TPM has no storage root key, and its owner wants an authorisation")
            }
            guard let known = try pinned() else { return (properties, found?.name ?? []) }
            return (properties, try connection.findRoot(expecting: known)?.name ?? [])
        } catch { throw error.verdict }
    }

    /// The description over the open connection: nil if there is none, if it broke, or if the root key
    /// that was checked is no longer there.
    private mutating func descriptionAsItIs() throws(VaultError) -> (TPMProperties, [UInt8])? {
        guard let link else { return nil }
        do throws(TPMFault) {
            let properties = try link.connection.properties()
            if try link.connection.findRoot()?.name == link.root.name {
                return (properties, link.root.name)
            }
            abandon()
            return nil
        } catch {
            guard remedied(error) else { throw error.verdict }
            return nil
        }
    }

    private mutating func prepared(_ sealed: TPMSealed) throws(VaultError) -> ReadyObject {
        try attempt(.named(sealed.root)) { connection, root throws(TPMFault) in
            try connection.ready(sealed.parts, policy: sealed.policy, root: root)
        }
    }

    /// The connection with its root key checked, opened where there is none.
    private mutating func trusted(_ expectation: Expectation) throws(TPMFault) -> Link {
        if let link {
            if case .pinned = expectation, !link.isPinned {
                try save(link.root.name)
                link.isPinned = true
            }
            return link
        }
        let known = try pinned()
        var expected = known
        if known == nil, case .named(let name) = expectation { expected = name }
        let connection = try TPMConnection(name)
        let root = try connection.root(expecting: expected)
        var isPinned = known != nil
        if !isPinned, case .pinned = expectation {
            try save(root.name)
            isPinned = true
        }
        let link = Link(connection, root, isPinned: isPinned)
        self.link = link
        return link
    }

    /// Does what may help against a fault; false where nothing would.
    private mutating func remedied(_ fault: TPMFault) -> Bool {
        switch fault.remedy {
        case .none: return false
        case .again: return true
        case .reconnect: abandon()
        case .flush:
            // Behind a resource manager, closing is what gives back; else what is stale goes.
            if name.isManaged || (try? link?.connection.flushStale()) == nil { abandon() }
        }
        return true
    }

    /// Lets the connection go. What was ready is lost, and got ready anew when it is used.
    private mutating func abandon() {
        commandsBefore = commands
        link?.connection.abandon()
        for number in ready.keys { ready[number] = .some(nil) }
        link = nil
    }

    private func pinned() throws(TPMFault) -> [UInt8]? {
        let name: [UInt8]?
        do {
            name = try pin.load()
        } catch { throw .unfitRoot("its pinned Name cannot be read: \(error)") }
        guard name == nil || name?.count == PublicArea.nameCount else {
            throw .unfitRoot("its pinned Name is damaged")
        }
        return name
    }

    private func save(_ name: [UInt8]) throws(TPMFault) {
        do {
            try pin.save(name)
        } catch { throw .unfitRoot("its Name cannot be pinned: \(error)") }
    }
}
