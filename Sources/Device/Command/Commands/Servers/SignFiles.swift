// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// Signing files: one touch signs all of them or none.
extension SignCommand {
    /// `signet sign FILE…`: writes each signature to a file beside the signed one.
    func signFiles() throws(CommandFault) {
        let account = try run.account()
        let files = try namedFiles()
        var digests: [Bytes] = []
        for file in files { digests.append(try file.digest(in: run.environment)) }
        let signatures =
            files.count == 1
            ? [try sign(files[0], digest: digests[0], account: account)]
            : try sign(files, digests: digests, account: account)
        for (signature, digest) in zip(signatures, digests) {
            try checkSignature(signature, of: digest, in: .file)
        }
        let armoured = signatures.map(Armour.wrap)
        try write(armoured, of: files)
        for (index, file) in files.enumerated() {
            if file.isInput && !run.isJSON {
                try release(armoured[index])
            } else {
                sayFile(file, digest: digests[index], armoured: armoured[index], account: account)
            }
        }
    }

    /// Returns the named files, after checking that each can be read and all names fit into a
    /// prompt.
    private func namedFiles() throws(CommandFault) -> [SignedFile] {
        let files = run.arguments.operands.map(SignedFile.init)
        guard files.count(where: \.isInput) <= 1 else { throw .usage(SignFilesMessages.inputTwice) }
        guard files.count <= Limit.files else {
            throw .usage(SignFilesMessages.tooManyFiles(Limit.files))
        }
        for (index, file) in files.enumerated()
        where files[..<index].contains(where: { $0.path == file.path }) {
            throw .usage(SignFilesMessages.fileTwice(file.path.bytes))
        }
        let isShown =
            files.count == 1
            || files.allSatisfy { $0.name.count <= Limit.listedName }
                && files.reduce(0) { $0 + $1.name.count } <= Limit.listedNames
        guard isShown else { throw .usage(SignFilesMessages.longNames(Limit.listedNames)) }
        // Check this before asking the user for a touch.
        for file in files where !file.isInput {
            try file.checkReadable()
            if !run.arguments.has(.force), exists(file.signature) {
                throw .refused(SignFilesMessages.exists(file.signature.bytes))
            }
        }
        return files
    }

    func sign(
        _ file: SignedFile, digest: Bytes, account: AccountName
    ) throws(CommandFault) -> Bytes {
        let start = Hexadecimal.encode(Bytes(digest.prefix(8)))
        let name = Bytes(file.name)
        guard name.count <= Limit.fileName else { throw .refused(SignMessages.notShown) }
        let signed = try sign(
            .file(name: name, digest: digest), account: account,
            file.isInput
                ? { SignFilesMessages.input($0, digest: start) }
                : { SignFilesMessages.file($0, name: file.path.bytes, digest: start) })
        return signed.signature
    }

    /// Signs several files with one touch; returns the signatures in the order of the files.
    func sign(
        _ files: [SignedFile], digests: [Bytes], account: AccountName
    ) throws(CommandFault) -> [Bytes] {
        let list = zip(files, digests).map { FileDigest(name: $0.name, digest: $1) }
        let request = SignRequest(
            account: account, timeoutMilliseconds: Self.patience, matter: .files(list))
        var signatures: [Bytes] = []
        _ = try ServerRequests(run: run).ask(
            .sign(request), awaitsServer: false,
            purpose: { SignFilesMessages.files($0, count: files.count) }, details: list.map(\.line),
            meanwhile: { answer in
                guard let signed: SignedFileAnswer = answer.own(), signatures.count < list.count,
                    signed.digest == list[signatures.count].digest
                else { return false }
                signatures.append(signed.signature)
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        guard signatures.count == list.count else { throw .fault(CommonMessages.unexpected) }
        return signatures
    }

    /// Writes the signatures beside their files.
    ///
    /// If one cannot be written, those created before it are removed again; files that `--force`
    /// replaced are not restored.
    private func write(_ signatures: [Bytes], of files: [SignedFile]) throws(CommandFault) {
        var written: [String] = []
        do throws(SystemFault) {
            for (file, signature) in zip(files, signatures) where !file.isInput {
                if run.arguments.has(.force) {
                    try replaceFile(file.signature, bytes: signature)
                } else {
                    try createFile(file.signature, bytes: signature)
                    written.append(file.signature)
                }
            }
        } catch {
            for path in written { removeFile(path) }
            throw .system(error)
        }
    }

    private func sayFile(
        _ file: SignedFile, digest: Bytes, armoured: Bytes, account: AccountName
    ) {
        run.say(
            .document(
                "file-signed",
                members: [
                    ("account", .bytes(account.bytes)),
                    ("file", file.isInput ? .null : .string(file.path)),
                    ("signatureFile", file.isInput ? .null : .string(file.signature)),
                    ("sha256", .bytes(Hexadecimal.encode(digest))),
                    ("signature", .bytes(armoured)),
                ]),
            [SignFilesMessages.signed(file.path.bytes, signature: file.signature.bytes)])
    }
}

extension FileDigest {
    /// The file's line below the prompt.
    fileprivate var line: Text {
        let start = Hexadecimal.encode(Bytes(digest.prefix(8)))
        return name.isEmpty
            ? SignFilesMessages.listedInput(digest: start)
            : SignFilesMessages.listed(name, digest: start)
    }
}

/// A file to be signed, or standard input for the path `-`.
struct SignedFile {
    let path: String

    init(_ path: String) { self.path = path }

    var isInput: Bool { path == "-" }
    /// The name sent to the daemon; empty for standard input.
    var name: Bytes { isInput ? [] : path.bytes }
    /// The path of its signature.
    var signature: String { path + ".sig" }

    /// Returns the SHA-256 of the contents, which are read in pieces.
    func digest(in environment: CommandEnvironment) throws(CommandFault) -> Bytes {
        if isInput {
            return try digest(of: environment.input, interrupts: environment.interrupts)
        }
        let file: Descriptor
        do throws(SystemFault) { file = try openFile(path) } catch {
            throw .refused(SignFilesMessages.noFile(path.bytes, why: error.description.bytes))
        }
        return try digest(of: file.number, interrupts: environment.interrupts)
    }

    /// Throws `.refused` if the file cannot be read.
    func checkReadable() throws(CommandFault) {
        do throws(SystemFault) { try Posix.checkReadable(path) } catch {
            throw .refused(SignFilesMessages.noFile(path.bytes, why: error.description.bytes))
        }
    }

    private static let piece = 256 * 1_024

    private func digest(of number: Int32, interrupts: Int32) throws(CommandFault) -> Bytes {
        do {
            var context = try SHA256Context()
            var piece = Bytes()
            repeat {
                piece.removeAll(keepingCapacity: true)
                guard wait(for: number, or: interrupts, until: nil) != .interrupted else {
                    throw CommandFault.interrupted
                }
                guard let count = try readSome(from: number, into: &piece, count: Self.piece)
                else { continue }
                if count == 0 { break }
                try context.update(piece)
            } while true
            return try context.finish()
        } catch let fault as CommandFault {
            throw fault
        } catch let fault as SystemFault {
            throw .refused(SignFilesMessages.noFile(path.bytes, why: fault.description.bytes))
        } catch { throw .fault(CommonMessages.failed("\(error)".bytes)) }
    }
}

/// Messages of `signet sign` about files.
enum SignFilesMessages {
    /// What the touch is for: a file, with the start of its digest.
    static func file(_ action: Text, name: Bytes, digest: Bytes) -> Text {
        "\(action) to sign the file \(name) (SHA-256 \(digest)…)"
    }

    /// What the touch is for: several files, listed on the following lines.
    static func files(_ action: Text, count: Int) -> Text {
        "\(action) to sign these \(number: UInt64(count)) files:"
    }

    /// One of several files: its name and the start of its digest.
    static func listed(_ name: Bytes, digest: Bytes) -> Text {
        "  \(name) (SHA-256 \(digest)…)"
    }

    /// One of several files is standard input: the start of its digest.
    static func listedInput(digest: Bytes) -> Text {
        "  standard input (SHA-256 \(digest)…)"
    }

    /// What the touch is for: standard input, with the start of its digest.
    static func input(_ action: Text, digest: Bytes) -> Text {
        "\(action) to sign standard input (SHA-256 \(digest)…)"
    }

    /// The signature was written beside its file.
    static func signed(_ file: Bytes, signature: Bytes) -> Text {
        "\(file) is signed: \(signature)"
    }

    /// The signature file already exists.
    static func exists(_ path: Bytes) -> Text {
        "\(path) already exists. Use '--force' to replace it"
    }

    /// The file cannot be signed.
    static func noFile(_ path: Bytes, why: Bytes) -> Text {
        "\(path) cannot be read: \(why)"
    }

    /// Standard input can be read only once.
    static let inputTwice: Text = "standard input can be signed only once"
    /// A file was named twice.
    static func fileTwice(_ path: Bytes) -> Text { "\(path) was named twice" }
    /// There are more files than a user can read before a touch.
    static func tooManyFiles(_ most: Int) -> Text {
        "one touch signs at most \(number: UInt64(most)) files. Name fewer"
    }

    /// The names are too long to be read before a touch.
    static func longNames(_ most: Int) -> Text {
        """
        the names of the files for one touch can have at most \(number: UInt64(most)) bytes in \
        total. Name fewer, or change to their directory
        """
    }
}
