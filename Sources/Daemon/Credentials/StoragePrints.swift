// SPDX-License-Identifier: Apache-2.0
import Crypto
import ReaderProtocol
import Store
import Vault

/// The SHA-256 of what tells a print from all others, as records of readers' storage have it.
typealias PrintDigest = [UInt8]

extension PrintIdentity {
    func digest() throws(StoreFault) -> PrintDigest {
        do throws(CryptoFault) {
            return try SHA256.digest(bytes)
        } catch { throw .vault(.crypto(error)) }
    }
}

extension ReaderContents {
    /// Some of the prints, as a record has them.
    func storage(of digests: some Sequence<PrintDigest>) -> ReaderStorage {
        ReaderStorage(
            driver: reader.driver, device: reader.deviceID, serial: reader.serial,
            prints: digests)
    }

    /// All prints, as a record has them.
    func storage() throws(StoreFault) -> ReaderStorage {
        storage(of: try digests())
    }

    func digests() throws(StoreFault) -> [PrintDigest] {
        var digests: [PrintDigest] = []
        for print in prints { digests.append(try print.identity.digest()) }
        return digests
    }
}

extension Store.StoredPrint {
    /// Whether a reader keeps the print.
    var isStoredOnReader: Bool {
        (try? Template(bytes: template))?.isStoredOnReader ?? false
    }
}

/// Prints of one account that readers keep, by the readers that they fit.
struct AccountStorage {
    /// What each kind of reader keeps; which unit it is does not matter.
    private(set) var kinds: [ReaderStorage] = []

    /// No prints.
    init() {}

    /// Takes those of an account's prints that a reader keeps.
    init(_ prints: [Store.StoredPrint]) throws(StoreFault) {
        for print in prints {
            guard let template = try? Template(bytes: print.template),
                template.isStoredOnReader
            else { continue }
            add(
                ReaderStorage(
                    driver: template.driver, device: template.deviceID, serial: nil,
                    prints: [try template.identity.digest()]))
        }
    }

    /// The prints on readers of this kind.
    func prints(on storage: ReaderStorage) -> Set<PrintDigest> {
        Set(kinds.first { $0.isSameKind(as: storage) }?.prints ?? [])
    }

    /// Whether any print is on readers of this kind.
    func has(_ storage: ReaderStorage) -> Bool {
        kinds.contains { $0.isSameKind(as: storage) }
    }

    private mutating func add(_ storage: ReaderStorage) {
        let all = prints(on: storage).union(storage.prints)
        kinds.removeAll { $0.isSameKind(as: storage) }
        kinds.append(
            ReaderStorage(
                driver: storage.driver, device: storage.device, serial: nil, prints: all))
    }
}
