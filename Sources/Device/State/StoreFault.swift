// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing

/// Why stored state could not be read or changed.
///
/// A damaged or untrusted file (`isAboutContent`) is different from a failing disk: callers often
/// treat the former as lost contents, and pass the latter on.
package enum StoreFault: Error, Equatable, Sendable {
    /// A file could not be read or written, or is not trusted.
    case file(FileFault)
    /// A record is not in canonical form.
    case damaged(path: String)
    /// A later version of Signet wrote the directory.
    case newerVersion(UInt64)
    /// The records of the uid belong to an account with another name.
    case anotherAccount(name: AccountName)
    /// The account is not, or not certainly, the one that enrolled.
    case anotherLife(AccountLife)
    /// The account's name is empty, too long, or cannot be written into an allowed_signers file.
    case unsupportedName
    /// There is no print with this id.
    case unknownPrint
    /// The account has the maximum number of prints.
    case tooManyPrints
    /// Readers store more prints than a record can hold.
    case tooManyStoredPrints
    /// The reader's name is too long for a print's record.
    case readerNameTooLong
    /// The host secret could not be loaded.
    case hostSecret(HostSecretFault)
    /// Another request changed the state at the same time; nothing was written.
    case changedMeanwhile
    /// A change of fingers would do something else than the user was told; nothing was written.
    case notForetold
    /// The vault failed.
    case vault(VaultError)
    /// The key that templates are sealed with is not open now.
    case closed(VaultError)
    /// The prints of other accounts, needed for a comparison, cannot be opened; the text says why.
    case othersClosed(String)
}

extension StoreFault {
    /// Whether a file exists and has wrong contents or is not trusted, as opposed to being
    /// inaccessible.
    var isAboutContent: Bool {
        switch self {
        case .damaged, .file(.untrusted), .file(.tooLarge): true
        case .file(.system), .file(.badName), .newerVersion, .anotherAccount, .anotherLife,
            .unsupportedName, .unknownPrint, .tooManyPrints, .tooManyStoredPrints,
            .readerNameTooLong, .hostSecret,
            .changedMeanwhile, .notForetold, .vault, .closed, .othersClosed:
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
            "the state directory has version \(version), which this program does not support"
        case .anotherAccount(let name):
            "the records of this uid belong to the account \(String(decoding: name.bytes, as: UTF8.self))"
        case .anotherLife: "the account may not be the one that enrolled the fingers"
        case .unsupportedName: "the account's name has unsupported characters"
        case .unknownPrint: "the print does not exist"
        case .tooManyPrints: "the account has the maximum number of prints"
        case .tooManyStoredPrints: "the readers store more prints than a record can hold"
        case .readerNameTooLong: "the reader's name is too long"
        case .hostSecret(let fault): fault.description
        case .changedMeanwhile: "another request changed it in the meantime"
        case .notForetold: "what the change would do has changed since the user was told"
        case .vault(let error): error.description
        case .closed(let error): "the fingerprints cannot be opened: \(error)"
        case .othersClosed(let why): "other accounts' fingerprints, needed for comparison: \(why)"
        }
    }
}

/// Runs file operations and converts their fault to `.file`.
func files<Result: ~Copyable>(
    _ body: () throws(FileFault) -> Result
) throws(StoreFault) -> Result {
    do throws(FileFault) {
        return try body()
    } catch { throw .file(error) }
}

/// Runs vault operations and converts their error to `.vault`.
func sealed<Result>(_ body: () throws(VaultError) -> Result) throws(StoreFault) -> Result {
    do throws(VaultError) {
        return try body()
    } catch { throw .vault(error) }
}
