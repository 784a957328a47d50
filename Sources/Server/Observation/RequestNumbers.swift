import Posix
import Statement
import Synchronization

/// Names for requests: no two of one run are the same, nor, most likely, of two.
final class RequestNumbers: Sendable {
    private let run: String
    private let last = Atomic<UInt64>(0)

    init() {
        let bytes = (try? randomBytes(4)) ?? [0, 0, 0, 0]
        run = hexadecimal(bytes)
    }

    /// The next one.
    func next() -> String {
        "\(run)-\(last.add(1, ordering: .relaxed).newValue)"
    }
}
