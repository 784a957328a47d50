import Glibc
import Testing

@testable import Systemd

@Suite("a login session")
struct SessionTests {
    private static let scope = "0::/user.slice/user-1000.slice/session-c7.scope\n"
    private static let manager = "0::/user.slice/user-1000.slice/user@1000.service/app.scope\n"

    private static func session(
        cgroup: String, record: String?, user: String? = nil, hasLogind: Bool = true,
        of subject: @escaping () -> Session
    ) throws -> Session {
        try PrivateThread.run {
            try PrivateThread.cover("/run")
            unsafe mkdir("/run/systemd", 0o755)
            if hasLogind { unsafe mkdir("/run/systemd/seats", 0o755) }
            unsafe mkdir("/run/systemd/sessions", 0o755)
            try PrivateThread.write(cgroup, to: "/run/cgroup")
            try PrivateThread.show("/run/cgroup", at: "/proc/\(getpid())/cgroup")
            if let record { try PrivateThread.write(record, to: "/run/systemd/sessions/c7") }
            unsafe mkdir("/run/systemd/users", 0o755)
            if let user { try PrivateThread.write(user, to: "/run/systemd/users/1000") }
            return subject()
        }
    }

    private static func ofProcess() -> Session { Session(ofProcess: getpid()) }

    @Test("at a seat is local")
    func local() throws {
        let session = try Self.session(
            cgroup: Self.scope, record: "UID=1000\nREMOTE=0\nSEAT=seat0\n", of: Self.ofProcess)
        #expect(session == Session(place: .local, seat: "seat0"))
    }

    @Test("that logind calls remote is remote, and at no seat")
    func remote() throws {
        let session = try Self.session(
            cgroup: Self.scope, record: "UID=1000\nREMOTE=1\n", of: Self.ofProcess)
        #expect(session == Session(place: .remote, seat: nil))
    }

    @Test("whose record is gone is unknown, never local")
    func recordGone() throws {
        let session = try Self.session(cgroup: Self.scope, record: nil, of: Self.ofProcess)
        #expect(session.place == .unknown)
    }

    @Test("is not there where logind is not, whatever is left of its records")
    func noLogind() throws {
        let session = try Self.session(
            cgroup: Self.scope, record: "UID=1000\nREMOTE=1\n", hasLogind: false,
            of: Self.ofProcess)
        #expect(session == Session(place: .none, seat: nil))
    }

    @Test("is not what a service has")
    func service() throws {
        let session = try Self.session(
            cgroup: "0::/system.slice/cron.service\n", record: nil, of: Self.ofProcess)
        #expect(session == Session(place: .none, seat: nil))
    }

    @Test(
        "of a program that the desktop's service manager started is the user's primary one",
        arguments: [
            ("REMOTE=0\nSEAT=seat0\n", Session(place: .local, seat: "seat0")),
            ("REMOTE=1\n", Session(place: .remote, seat: nil)),
        ])
    func userManager(_ record: String, _ expected: Session) throws {
        let session = try Self.session(
            cgroup: Self.manager, record: record, user: "DISPLAY=c7\n", of: Self.ofProcess)
        #expect(session == expected)
    }

    @Test("of a lingering user's program is none, and unknown if the primary one is gone")
    func lingering() throws {
        let none = try Self.session(
            cgroup: Self.manager, record: nil, user: "STATE=lingering\n", of: Self.ofProcess)
        #expect(none == Session(place: .none, seat: nil))
        let gone = try Self.session(
            cgroup: Self.manager, record: nil, user: "DISPLAY=c7\n", of: Self.ofProcess)
        #expect(gone.place == .unknown)
    }

    @Test("of the peer is found through the socket")
    func peer() throws {
        let session = try Self.session(
            cgroup: Self.scope, record: "UID=1000\nREMOTE=1\n",
            of: {
                var ends: [Int32] = [-1, -1]
                _ = unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends)
                defer { ends.forEach { _ = close($0) } }
                return Session(ofPeer: ends[0])
            })
        #expect(session.place == .remote)
    }

    @Test("of no process, a dead one or no socket is unknown", arguments: [0, -1, Int32.max])
    func nobody(_ pid: Int32) throws {
        let process = try Self.session(
            cgroup: Self.scope, record: nil, of: { Session(ofProcess: pid) })
        #expect(process.place == .unknown)
        let peer = try Self.session(cgroup: Self.scope, record: nil, of: { Session(ofPeer: -1) })
        #expect(peer.place == .unknown)
    }
}
