// SPDX-License-Identifier: Apache-2.0
import Glibc

private let harnesses: [any Harness.Type] = [
    Requests.self, Answers.self, Passwords.self, SecretParts.self, SecretSequences.self,
    Statements.self, StatementValues.self, Signatures.self, Armours.self, PublicKeys.self,
    Receipts.self, Signers.self, Options.self, SudoCommands.self, CommandLines.self,
    Configurations.self, Templates.self, Records.self, ReceiptTexts.self, SealedObjects.self,
    Attestations.self, PublicAreas.self, Transports.self, Catalogues.self, Translations.self,
    Locales.self,
    Stacks.self, JournalExports.self, ModuleMarks.self, BusValues.self, ServerTexts.self,
    Authorizations.self, ActivationCodes.self, WebTokens.self,
    RequestHeads.self, TemplateTexts.self, JSONDocuments.self,
    LoginServers.self, RelayRequests.self, RelayAnswers.self, ReaderQuestions.self,
    ReaderReplies.self, SSHData.self, SSHHandles.self, AgentStreams.self, HostSignatures.self,
]

/// Set once by the first call, before any input comes.
private let chosen: (any Harness.Type)? = {
    let name = unsafe getenv("HARNESS").map { unsafe String(cString: $0) }
    return harnesses.first { $0.name == name }
}()

/// Chooses the harness that HARNESS names, and writes its seeds into the directory SEEDS.
@c(LLVMFuzzerInitialize)
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?, _ words: UnsafeMutableRawPointer?
) -> CInt {
    guard let chosen else {
        print("HARNESS is none of: \(harnesses.map { $0.name }.joined(separator: " "))")
        exit(2)
    }
    guard let directory = unsafe getenv("SEEDS").map({ unsafe String(cString: $0) }) else {
        return 0
    }
    for (number, seed) in chosen.seeds.enumerated() {
        guard let file = unsafe fopen("\(directory)/\(number)", "w") else { exit(2) }
        unsafe fwrite(seed, 1, seed.count, file)
        unsafe fclose(file)
    }
    return 0
}

/// Feeds the chosen harness.
@c(LLVMFuzzerTestOneInput)
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen?.feed(unsafe [UInt8](UnsafeBufferPointer(start: start, count: count)))
    return 0
}
