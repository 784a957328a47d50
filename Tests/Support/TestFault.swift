// SPDX-License-Identifier: Apache-2.0
extension Duration {
    /// How long what must come is waited for, if nothing else is said: on a busy machine too, only
    /// what never comes takes that long.
    package static let patience = Duration.seconds(90)
}

/// Why a test's own machinery could not go on; its text holds what a reader needs to see why.
package enum TestFault: Error, CustomStringConvertible {
    /// A system call failed: its name, what it was for, and `errno`.
    case system(call: String, subject: String, code: Int32)
    /// What was awaited did not come in time: what it was, and all that came instead.
    case deadline(awaited: String, transcript: String)
    /// The other end was closed before what was awaited came.
    case closed(awaited: String, transcript: String)
    /// The fixture could not be set up: what its script said.
    case noFixture(String)
    /// A TPM refused a command of the test's own: its name, and the response code.
    case refused(command: String, code: UInt32)

    package var description: String {
        switch self {
        case .system(let call, let subject, let code):
            "\(call) failed for \(subject): error \(code)"
        case .deadline(let awaited, let transcript):
            "waited in vain for \(awaited); what came:\n\(transcript)"
        case .closed(let awaited, let transcript):
            "it ended before \(awaited); what came:\n\(transcript)"
        case .noFixture(let text):
            "the fixture could not be set up: \(text)"
        case .refused(let command, let code):
            "the TPM refused \(command): code 0x\(String(code, radix: 16))"
        }
    }
}
