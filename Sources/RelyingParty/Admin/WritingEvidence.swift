// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Crypto
import Domain
import LoginMessages
import Posix
import SQL
import ServerAPI

extension AdminVerbs {
    /// The command for the evidence of an attested key.
    ///
    /// It is for the command line alone, because it writes to a directory of the server's disk.
    static let evidence: [AdminVerb] = [
        AdminVerb(
            "registration evidence", operands: ["ID", "DIRECTORY"], options: [],
            summary: "write what proves an attested key to files in a new directory"
        ) { admin, words throws(AdminFault) in
            try await EvidenceAdministration(admin: admin).show(words)
        }
    ]
}

/// Writes the evidence of an attested key.
private struct EvidenceAdministration {
    let admin: Administration

    /// `registration evidence`: writes what proves an attested key to files that stock tools read.
    ///
    /// The directory must not exist, so that the files of two registrations are never mixed.
    func show(_ words: AdminArguments) async throws(AdminFault) {
        let id: RegistrationID = try words.id(0)
        let evidence = try await admin.evidence(of: id)
        let files: [(name: String, bytes: [UInt8])]
        do throws(CryptoFault) {
            files = try evidence.files()
        } catch { throw .unusable("the evidence cannot be read: \(error)") }
        let directory = words[1]
        guard FileLook(directory) == nil else {
            throw .refused("\(directory) exists: name a directory that does not")
        }
        do throws(SystemFault) {
            try makeDirectory(directory)
            for file in files { try createFile("\(directory)/\(file.name)", bytes: file.bytes) }
        } catch { throw .unusable("the evidence could not be written: \(error)") }
        admin.output.show(
            WrittenEvidence(directory: directory, files: files.map(\.name), evidence: evidence),
            lines: files.map { "\(directory)/\($0.name)" })
    }
}

/// The result of the command, for programs.
private struct WrittenEvidence: Encodable {
    let directory: String
    let files: [String]
    let evidence: AttestationEvidence
}
