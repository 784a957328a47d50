// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import TPM
import TPMStructures

/// The connection of a TPM vault and the objects that are ready on it.
///
/// Not thread-safe. Everything that uses keys goes through `attempt`, which verifies the root key
/// against the pin before anything secret is sent, and repeats an operation once after a lost
/// connection, and as often as room can be made when the TPM is full. `trust` and `description` alone talk to a TPM whose root key
/// may be another one, and send it nothing secret.
struct TPMVaultSession {
    /// The Name that the root key must have.
    enum Expectation {
        /// The pinned Name.
        ///
        /// If none is pinned yet, any root key is accepted, and pinned before it is used.
        case pinned
        /// The pinned Name.
        ///
        /// If none is pinned, the Name that the sealed object contains.
        case named([UInt8])

        /// Whether an object may be loaded under a root key.
        ///
        /// An object that names another root key was created by another TPM, or before this one was
        /// cleared, and cannot be opened.
        func fits(_ root: StorageRoot) -> Bool {
            switch self {
            case .pinned: true
            case .named(let name): root.name == name
            }
        }
    }

    /// A connection whose root key has been verified.
    private final class Link {
        let connection: TPMConnection
        let root: StorageRoot
        var isPinned: Bool

        init(_ connection: TPMConnection, root: StorageRoot, isPinned: Bool) {
            self.connection = connection
            self.root = root
            self.isPinned = isPinned
        }
    }

    private let name: TCTIName
    private let pin: any RootPin
    private let activity: TPMActivity
    private var link: Link?
    private var ready: [UInt64: ReadyObject?] = [:]
    private var next: UInt64 = 0
    private var commandsBefore = 0

    init(name: TCTIName, pin: any RootPin, activity: TPMActivity) {
        self.name = name
        self.pin = pin
        self.activity = activity
    }

    /// The total number of commands sent to the TPM.
    var commands: Int { commandsBefore + (link?.connection.commands ?? 0) }

    /// Runs `body` with a verified root key, and once more if the fault has a remedy; when the TPM is
    /// full, until nothing is left that could make room.
    ///
    /// Throws `.doesNotOpen` if the root key is the trusted one but not the one that the sealed
    /// object names. Otherwise throws the fault's `verdict`.
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
                guard tries < 2 && remedied(error) || makesRoom(for: error) else {
                    throw error.verdict
                }
                continue
            }
            throw .doesNotOpen
        }
    }

    /// Loads an object, stores it until `giveBack`, and returns its number.
    mutating func makeReady(_ sealed: TPMSealed) throws(VaultError) -> UInt64 {
        let object = try prepared(sealed)
        next += 1
        ready[next] = .some(object)
        return next
    }

    /// Runs the one command of an object.
    ///
    /// If the object was lost, loads it again and runs the command once more.
    ///
    /// Throws `.trouble` for a number that was given back.
    mutating func use<Result>(
        _ number: UInt64, sealed: TPMSealed,
        _ body: (TPMConnection, ReadyObject) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result {
        if let result = try useAsItIs(number, body) { return result }
        // Release the old object first, since a TPM has few slots.
        ready[number] = .some(nil)
        let object = try prepared(sealed)
        ready[number] = .some(object)
        guard let link else { throw .trouble(.failed("the connection to the TPM was closed")) }
        do throws(TPMFault) {
            return try body(link.connection, object)
        } catch { throw error.verdict }
    }

    /// Runs the command with the object as it was loaded.
    ///
    /// Returns nil if the object was lost and must be loaded again.
    ///
    /// Afterwards this function holds no reference to the object, so that its slot in the TPM can
    /// be freed.
    private mutating func useAsItIs<Result>(
        _ number: UInt64,
        _ body: (TPMConnection, ReadyObject) throws(TPMFault) -> Result
    ) throws(VaultError) -> Result? {
        guard let entry = ready[number] else {
            throw .trouble(.failed("the prepared key was released"))
        }
        guard let object = entry, object.isUsable, let link else { return nil }
        do throws(TPMFault) {
            return try body(link.connection, object)
        } catch {
            guard remedied(error) else { throw error.verdict }
            return nil
        }
    }

    /// Releases the object with this number.
    mutating func giveBack(_ number: UInt64) {
        ready[number] = nil
    }

    /// Closes the connection unless an object is ready on it.
    mutating func rest() {
        guard ready.isEmpty else { return }
        abandon()
    }

    /// Releases all objects and closes the connection.
    mutating func close() {
        ready = [:]
        abandon()
    }

    /// Pins the present root key without comparing it with the pinned one.
    ///
    /// Creates a root key if the TPM has none. Returns the old pin, or nil if there was none that
    /// could be read.
    mutating func trust() throws(VaultError) -> RootChange {
        let old = (try? pin.load()) ?? nil
        abandon()
        do throws(TPMFault) {
            let connection = try TPMConnection(name, activity: activity)
            let root = try connection.root(expecting: nil)
            try save(root.name)
            link = Link(connection, root: root, isPinned: true)
            return RootChange(old: old, new: root.name)
        } catch { throw error.verdict }
    }

    /// Returns the TPM's properties, and the Name of its root key; an empty Name if it has none
    /// yet.
    ///
    /// Changes nothing in the TPM. Throws `.notPermitted` if there is no root key and the owner
    /// hierarchy needs an authorisation to create one. Throws `.anotherRoot` if the root key, or
    /// the one that would be created, is not the pinned one: the TPM was cleared or replaced.
    mutating func description() throws(VaultError) -> (TPMProperties, root: [UInt8]) {
        if let found = try descriptionAsItIs() { return found }
        do throws(TPMFault) {
            let connection = try TPMConnection(name, activity: activity)
            let properties = try connection.properties()
            let found = try connection.findRoot()
            guard found != nil || !properties.isOwned else {
                throw .notPermitted(
                    "the TPM has no storage root key, and its owner requires an authorisation")
            }
            guard let known = try pinned() else { return (properties, found?.name ?? []) }
            guard let found else {
                return (properties, try connection.findRoot(expecting: known)?.name ?? [])
            }
            guard found.name == known else { throw .anotherRoot }
            // It is the one that everything is sealed to: what follows need not connect again.
            link = Link(connection, root: found, isPinned: true)
            return (properties, found.name)
        } catch { throw error.verdict }
    }

    /// Describes the TPM over the open connection.
    ///
    /// Returns nil if there is no connection, if it broke, or if the verified root key is no longer
    /// in the TPM.
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
            // The next connection takes the place of this one, and of what is ready on it.
            abandon()
            return nil
        }
    }

    private mutating func prepared(_ sealed: TPMSealed) throws(VaultError) -> ReadyObject {
        try attempt(.named(sealed.root)) { connection, root throws(TPMFault) in
            try connection.ready(sealed.parts, policy: sealed.policy, root: root)
        }
    }

    /// Returns the connection with a verified root key, and opens it if necessary.
    ///
    /// A root key is pinned only by an operation that expects `.pinned`. Reading an object of
    /// `.named` never pins anything.
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
        let connection = try TPMConnection(name, activity: activity)
        let root = try connection.root(expecting: expected)
        var isPinned = known != nil
        if !isPinned, case .pinned = expectation {
            try save(root.name)
            isPinned = true
        }
        let link = Link(connection, root: root, isPinned: isPinned)
        self.link = link
        return link
    }

    /// Applies the remedy for a fault.
    ///
    /// Returns false if there is none.
    private mutating func remedied(_ fault: TPMFault) -> Bool {
        switch fault.remedy {
        case .none: return false
        case .again: return true
        case .reconnect: abandon()
        case .flush:
            // A resource manager flushes on close; otherwise flush stale objects ourselves.
            if name.isManaged || (try? link?.connection.flushStale()) == nil { abandon() }
        }
        return true
    }

    /// Releases the object that has been ready for the longest time, if the fault is that the TPM is
    /// full; returns false if there is none left.
    ///
    /// It is loaded again when it is used. A touch that has ended may not have given back what was
    /// loaded for it when the next one begins, and a TPM need not have room for more than three
    /// objects.
    private mutating func makesRoom(for fault: TPMFault) -> Bool {
        guard case .flush = fault.remedy,
            let oldest = ready.filter({ $0.value != nil }).keys.min()
        else { return false }
        ready[oldest] = .some(nil)
        return true
    }

    /// Drops the connection.
    ///
    /// Ready objects are lost, and loaded again when they are used.
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
