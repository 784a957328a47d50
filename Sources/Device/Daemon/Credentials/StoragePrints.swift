// SPDX-License-Identifier: Apache-2.0
import Crypto
import ReaderProtocol
import Sealing
import State

/// SHA-256 of a print's identity, 32 bytes, as recorded with a credential.
typealias PrintDigest = [UInt8]

extension PrintIdentity {
    /// Returns the SHA-256 of the canonical encoding of this identity.
    func digest() throws(StoreFault) -> PrintDigest {
        do throws(CryptoFault) {
            return try SHA256.digest(bytes)
        } catch { throw .vault(.crypto(error)) }
    }
}

extension ReaderContents {
    /// Returns some of the prints in the form in which credentials record them.
    func storage(of digests: some Sequence<PrintDigest>) -> ReaderStorage {
        ReaderStorage(
            driver: reader.driver, device: reader.deviceID, serial: reader.serial,
            prints: digests)
    }

    /// Returns all prints in the form in which credentials record them.
    func storage() throws(StoreFault) -> ReaderStorage {
        storage(of: try digests())
    }

    /// Returns the digests of all prints, in the order of the list.
    func digests() throws(StoreFault) -> [PrintDigest] {
        var digests: [PrintDigest] = []
        for print in prints { digests.append(try print.identity.digest()) }
        return digests
    }
}

extension StoredPrint {
    /// Whether the reader stores the print itself, and the template only refers to it.
    ///
    /// False for a template that cannot be read.
    var isStoredOnReader: Bool {
        (try? Template(bytes: template))?.isStoredOnReader ?? false
    }
}

/// One account's prints that are stored on readers, grouped by kind of reader.
struct AccountStorage {
    /// The prints for each kind of reader, which is identified by driver and device.
    ///
    /// A template does not say which unit it is on, so units of a kind are not told apart.
    private(set) var kinds: [ReaderStorage] = []

    /// Creates a value without prints.
    init() {}

    /// Collects those of an account's prints that readers store; templates that cannot be read are
    /// skipped.
    init(_ prints: [StoredPrint]) throws(StoreFault) {
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

    /// Returns the digests of the account's prints on this kind of reader.
    func prints(on storage: ReaderStorage) -> Set<PrintDigest> {
        Set(kinds.first { $0.isSameKind(as: storage) }?.prints ?? [])
    }

    /// Whether the account has prints on this kind of reader.
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
