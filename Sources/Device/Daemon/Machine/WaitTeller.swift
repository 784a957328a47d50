// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import MainContext

/// Tells the client of the request in progress when the TPM is what it waits for.
///
/// A task that a request starts inherits its teller, which says nothing once the answer is sent.
@ServiceActor
final class WaitTeller {
    /// The teller of the request that the current task belongs to; nil if its client is told nothing.
    @TaskLocal static var current: WaitTeller?

    /// How long the TPM may take without a word.
    private static let patience = Duration.seconds(1)

    private var tell: ((Notice) -> Void)?

    /// Creates a teller that passes notices to `tell` until `end()`.
    init(_ tell: @escaping (Notice) -> Void) { self.tell = tell }

    /// Says nothing from now on.
    func end() { tell = nil }

    /// Waits for work of the TPM, and says so if it takes long.
    static func during<Value, Failure>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let teller = current else { return try await work() }
        let timer = Timer(after: patience) { teller.tell?(Notice(.tpm)) }
        defer { timer.cancel() }
        return try await work()
    }
}
