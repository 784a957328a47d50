// SPDX-License-Identifier: Apache-2.0
import Posix
import Vault

/// Why what is kept on disk could not be used or changed.
package enum StoreFault: Error, Equatable, Sendable {
    /// A file could not be read or written, or is not trusted.
    case file(FileFault)
    /// A record is not in the one form that it has.
    case damaged(path: String)
    /// The directory was written by a later version of this program.
    case newerVersion(UInt64)
    /// The uid's records are those of an account of another name.
    case anotherAccount(name: [UInt8])
    /// The name cannot be written into an allowed_signers file, or is empty or too long.
    case unsupportedName
    /// There is no such print.
    case unknownPrint
    /// No more prints fit.
    case tooManyPrints
    /// Readers keep more prints than a credential can be sealed to.
    case tooManyStoredPrints
    /// The reader's name is longer than any is.
    case readerNameTooLong
    /// The machine's secret is not to be had.
    case hostSecret(HostSecretFault)
    /// Somebody else changed the same thing at the same time; nothing was written.
    case changedMeanwhile
    /// The vault failed.
    case vault(VaultError)
    /// The key that the fingerprints are sealed with is not to be had now.
    case closed(VaultError)
    /// Fingerprints of other accounts would tell whose one is, and cannot be opened; why.
    case othersClosed(String)
}

extension StoreFault {
    /// Whether what is kept is there and wrong, rather than out of reach.
    var isAboutContent: Bool {
        switch self {
        case .damaged, .file(.untrusted), .file(.tooLarge): true
        case .file(.system), .file(.badName), .newerVersion, .anotherAccount, .unsupportedName,
            .unknownPrint, .tooManyPrints, .tooManyStoredPrints, .readerNameTooLong, .hostSecret,
            .changedMeanwhile, .vault, .closed, .othersClosed:
            false
        }
    }
}

extension StoreFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .file(let fault): fault.description
        case .damaged(let path): "\(path) is damaged"
        case .newerVersion(let version):
            "the state directory has version \(version), which this program does not know"
        case .anotherAccount(let name):
            "the records of this uid belong to the account \(String(decoding: name, as: UTF8.self))"
        case .unsupportedName: "the account's name has characters that cannot be kept"
        case .unknownPrint: "there is no such print"
        case .tooManyPrints: "no more prints fit"
        case .tooManyStoredPrints: "the readers keep more prints than can be covered"
        case .readerNameTooLong: "the reader's name is too long"
        case .hostSecret(let fault): fault.description
        case .changedMeanwhile: "it was changed by somebody else meanwhile"
        case .vault(let error): error.description
        case .closed(let error): "the fingerprints cannot be opened: \(error)"
        case .othersClosed(let why): "other accounts' fingerprints, to compare with: \(why)"
        }
    }
}

/// Runs file operations, with their fault in this layer's words.
func files<Result: ~Copyable>(
    _ body: () throws(FileFault) -> Result
) throws(StoreFault) -> Result {
    do throws(FileFault) {
        return try body()
    } catch { throw .file(error) }
}

/// Runs vault operations, with their error in this layer's words.
func sealed<Result>(_ body: () throws(VaultError) -> Result) throws(StoreFault) -> Result {
    do throws(VaultError) {
        return try body()
    } catch { throw .vault(error) }
}
