// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import MainContext

/// Tells the client of the request in progress when the TPM is what it waits for, and again while
/// it does, so that the client goes on waiting.
///
/// A task that a request starts inherits its teller, which says nothing once the answer is sent.
@ServiceActor
final class WaitTeller {
    /// The teller of the request that the current task belongs to; nil if its client is told nothing.
    @TaskLocal static var current: WaitTeller?

    /// How long the TPM may take without a word.
    private let patience: Duration
    /// After how long it is said again; shorter than any client waits.
    private let interval: Duration
    private var tell: ((_ notice: Notice, _ isRepeated: Bool) -> Void)?
    private var timer: Timer?
    /// The work that is waited for.
    private var works = 0
    /// When the TPM was first waited for after a rest, or the client was last told again.
    private var lastWord: ContinuousClock.Instant?
    /// Whether nothing was said since a rest, and the client may not know that it has to wait again.
    private var isNew = false
    /// When the last work ended.
    private var restedSince: ContinuousClock.Instant?

    /// Creates a teller that passes notices to `tell` until `end()`.
    ///
    /// Those that are not repeated are for clients that were told something else since the last.
    init(
        patience: Duration = .seconds(1), interval: Duration = .seconds(20),
        _ tell: @escaping (_ notice: Notice, _ isRepeated: Bool) -> Void
    ) {
        self.patience = patience
        self.interval = interval
        self.tell = tell
    }

    /// Says nothing from now on.
    func end() { tell = nil }

    /// Waits for work of the TPM, and says so if it takes long, or if all of it together does.
    static func during<Value, Failure>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let teller = current else { return try await work() }
        teller.begin()
        defer { teller.finish() }
        return try await work()
    }

    private func begin() {
        // What a user takes between two works is not the TPM's time.
        let isRested = works == 0 && restedSince.map { $0 + patience <= .now } ?? true
        if isRested { (isNew, lastWord) = (lastWord != nil, .now) }
        works += 1
        if isDue { speak() }
        if works == 1 { watch() }
    }

    private func finish() {
        works -= 1
        guard works == 0 else { return }
        timer?.cancel()
        restedSince = .now
    }

    private func watch() {
        timer = Timer(after: patience) { [weak self] in
            self?.speak()
            self?.watch()
        }
    }

    private var isDue: Bool { lastWord.map { $0 + interval <= .now } ?? false }

    private func speak() {
        let isRepeated = isDue || isNew
        if isRepeated { (lastWord, isNew) = (.now, false) }
        tell?(Notice(.tpm), isRepeated)
    }
}
