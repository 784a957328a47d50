import Testing

/// The tests of the running daemon, one after the other: two cores, and a person at each reader.
@Suite("the daemon", .serialized, .timeLimit(.minutes(10)))
enum DaemonTests {}
