import TestSupport
import Testing
import Wire

/// A daemon with one played reader that libfprint's own driver drives.
struct PlayedBench {
    let bench: DaemonBench
    let reader: PlayedReader
    private let scratch: Scratch

    /// Starts the daemon; `prepare` may have the reader keep something before.
    init(_ model: PlayedReader.Model, configuration: String = "") throws {
        scratch = try Scratch()
        reader = PlayedReader(model, in: scratch.path)
        bench = try DaemonBench([], configuration: configuration, wrapper: reader.wrapper)
    }

    /// The scans of an enrolment.
    var stages: Int {
        switch reader.model {
        case .elanmoc: 9
        case .synaptics: 8
        case .goodixmoc: 12
        }
    }

    /// Enrols a finger; `checking` where it is asked whose it is before.
    @discardableResult
    func enrol(
        _ person: Person = .daemon, _ finger: Finger = .rightIndex, as id: String,
        checking: Bool = false
    ) throws -> Answer {
        let client = try bench.client()
        try client.send(.enroll(account: person.bytes, finger: finger, readerID: nil))
        if checking {
            try client.wait(for: .touch)
            try reader.send(.touch(id))
        }
        while let answer = try client.next() {
            if answer.isLast { return answer }
            guard answer.notice?.kind == .touch, answer.notice?.total != nil else { continue }
            for _ in 0..<stages { try reader.send(.touch(id)) }
            return try client.last()
        }
        throw ClientFault.ended(client.heard)
    }

    /// The failed matches of `daemon`, when what is written behind an answer is on disk.
    var failures: UInt32 {
        get throws {
            _ = try bench.status(of: .daemon)
            return try bench.failures(of: .daemon)
        }
    }

    /// A login with one touch.
    func login(_ person: Person = .daemon, with id: String) throws -> Answer {
        let client = try bench.client()
        try client.send(.login(person, tries: 1))
        try client.wait(for: .touch)
        try reader.send(.touch(id))
        let answer = try client.last()
        if answer.assertion != nil { _ = try client.confirm() }
        return answer
    }
}
