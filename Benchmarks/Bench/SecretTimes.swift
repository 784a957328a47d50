import TestSupport
import Wire

/// What keeping and releasing a secret of 64 KB takes, at the daemon's socket.
struct SecretTimes {
    /// Milliseconds from the request to its end.
    private(set) var keep = Samples()
    /// Milliseconds from the touch to the last byte, the receipt included.
    private(set) var release = Samples()

    private static let alice = Bytes("alice".utf8)
    private static let name = Bytes("bench".utf8)

    /// Measures at a running daemon, as root.
    init(at path: String, on peer: any Peer, runs: Int) throws {
        let content = Bytes(repeating: 7, count: Limit.secret)
        for _ in 0..<runs {
            keep.take { try Self.kept(content, try DaemonClient(path: path)) }
            release.take { try Self.released(content, try DaemonClient(path: path), peer) }
        }
    }

    private static func kept(_ content: Bytes, _ client: DaemonClient) throws -> Double {
        let start = monotonicNow()
        try client.send(
            .secretSet(
                SecretSetRequest(
                    account: alice, size: UInt32(content.count), name: name, replaces: true)))
        guard try client.receive() == .secretWanted else {
            throw BenchFault.unexpected("no secret was wanted")
        }
        var rest = content[...]
        while !rest.isEmpty {
            try client.send(.secretPart(Bytes(rest.prefix(Limit.secretPart))))
            rest = rest.dropFirst(Limit.secretPart)
        }
        guard try client.receive() == .done(DoneAnswer()) else {
            throw BenchFault.unexpected("the secret was not kept")
        }
        return Double(monotonicNow() - start) / 1e6
    }

    private static func released(
        _ content: Bytes, _ client: DaemonClient, _ peer: any Peer
    ) throws -> Double {
        try client.send(
            .secretGet(account: alice, name: name, timeoutMilliseconds: 20_000))
        var touched: Int64 = 0
        var count = 0
        while let answer = try client.receive() {
            switch answer {
            case .notice(let notice) where notice.kind == .touch:
                try peer.prompted()
                touched = try peer.touch()
            case .secretPart(let part): count += part.count
            case .done where count == content.count:
                return Double(monotonicNow() - touched) / 1e6
            case .notice: break
            default: throw BenchFault.unexpected("\(answer)")
            }
        }
        throw BenchFault.unexpected("the daemon ended the connection")
    }
}
