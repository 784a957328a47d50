import Loop

/// Possession of the readers for one request: whoever holds it is served, nobody else.
///
/// The next request in line gets its turn when this value goes out of scope, however the request
/// ends. There is no other way to end a turn.
package struct Turn: ~Copyable, Sendable {
    private let release: @Sendable @ServiceActor () -> Void

    init(release: @escaping @Sendable @ServiceActor () -> Void) {
        self.release = release
    }

    deinit {
        let release = release
        onService { release() }
    }
}
