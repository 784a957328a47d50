// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestScopes
import Testing

@testable import Systemd

/// logind's records, played for one thread.
enum PlayedRecords {
    static let session = "/user.slice/user-1000.slice/session-c7.scope"

    /// Runs a body where this process seems to be in a control group, and logind to keep these files
    /// below /run/systemd.
    static func with<Value>(
        cgroup: String = session, _ files: [String: String], hasLogind: Bool = true,
        _ body: @escaping () throws -> Value
    ) throws -> Value {
        try PrivateThread.run {
            try PrivateThread.cover("/run")
            for name in ["", "/sessions", "/users"] + (hasLogind ? ["/seats"] : []) {
                unsafe mkdir("/run/systemd\(name)", 0o755)
            }
            for (name, text) in files {
                try PrivateThread.write(text, to: "/run/systemd/\(name)")
            }
            try PrivateThread.write("0::\(cgroup)\n", to: "/run/cgroup")
            try PrivateThread.show("/run/cgroup", at: "/proc/\(getpid())/cgroup")
            return try body()
        }
    }

    /// A session's record, with lines changed or, by an empty value, left out.
    static func record(_ changes: [String: String] = [:]) -> String {
        let lines = [
            "UID": "1000", "USER": "alice", "ACTIVE": "1", "STATE": "active", "REMOTE": "0",
            "TYPE": "wayland", "CLASS": "user", "SEAT": "seat0",
        ].merging(changes) { $1 }
        return lines.filter { !$0.value.isEmpty }.map { "\($0)=\($1)\n" }.joined()
    }
}

@Suite("a session of logind")
struct LoginSessionTests {
    private func session(_ changes: [String: String] = [:]) throws -> LoginSession {
        let record = PlayedRecords.record(changes)
        return try PlayedRecords.with(["sessions/c7": record]) { try LoginSession(named: "c7") }
    }

    @Test("has an owner, a seat, and is in front")
    func local() throws {
        #expect(try session() == LoginSession(id: "c7", owner: 1000))
    }

    @Test("is remote if logind says so")
    func remote() throws {
        let session = try session(["REMOTE": "1", "SEAT": ""])
        #expect(session.isRemote && session.seat == nil)
    }

    @Test("may be at no seat")
    func noSeat() throws {
        #expect(try session(["SEAT": ""]).seat == nil)
    }

    @Test(
        "is not in front when it is not active, or is closing",
        arguments: [
            ["ACTIVE": "0", "STATE": "online"], ["STATE": "closing"], ["STATE": "online"],
            ["ACTIVE": "0"],
        ])
    func inactive(_ changes: [String: String]) throws {
        #expect(try !session(changes).isActive)
    }

    @Test(
        "is of its class",
        arguments: [
            ("user", .user), ("user-early", .user), ("user-light", .user),
            ("user-early-light", .user), ("greeter", .greeter), ("lock-screen", .other),
            ("background", .other), ("background-light", .other), ("manager", .other),
            ("manager-early", .other), ("user-incomplete", .other), ("none", .other),
            ("users", .other), ("User", .other),
        ] as [(String, LoginSession.Class)])
    func kind(_ name: String, _ kind: LoginSession.Class) throws {
        #expect(try session(["CLASS": name]).class == kind)
    }

    @Test(
        "is a fault if its record is incomplete",
        arguments: ["UID", "ACTIVE", "STATE", "REMOTE", "CLASS"])
    func incomplete(_ field: String) throws {
        #expect(throws: (any Error).self) { try session([field: ""]) }
    }

    @Test(
        "is a fault if its record is gone, or its name is invalid",
        arguments: ["c8", "", "../sessions/c7", "c7/", "."])
    func missing(_ id: String) throws {
        #expect(throws: (any Error).self) {
            try PlayedRecords.with(["sessions/c7": PlayedRecords.record()]) {
                try LoginSession(named: id)
            }
        }
    }

    @Test("that a user works in is the one that logind names")
    func display() throws {
        let files = ["sessions/c7": PlayedRecords.record(), "users/1000": "DISPLAY=c7\n"]
        let found = try PlayedRecords.with(files) { try LoginSession.display(of: 1000) }
        #expect(found == LoginSession(id: "c7", owner: 1000))
    }

    @Test(
        "that a user works in is none for a user who is not logged in, lingers, or does not own it")
    func noDisplay() throws {
        for files in [
            [:], ["users/1000": "STATE=lingering\n"],
            ["sessions/c7": PlayedRecords.record(["UID": "1001"]), "users/1000": "DISPLAY=c7\n"],
            // As logind 252 leaves it when a user who lingers has logged out.
            ["users/1000": "STATE=closing\nDISPLAY=c7\nSESSIONS=c7\nSEATS=seat0\n"],
        ] {
            let found = try PlayedRecords.with(files) { try LoginSession.display(of: 1000) }
            #expect(found == nil)
        }
    }

    @Test("that a user works in is a fault where its record does not say all")
    func displayDamaged() throws {
        let files = [
            "sessions/c7": "UID=1000\nACTIVE=1\n", "users/1000": "DISPLAY=c7\n",
        ]
        #expect(throws: (any Error).self) {
            try PlayedRecords.with(files) { try LoginSession.display(of: 1000) }
        }
    }

    @Test("in front of a seat is the one that seat and session agree on")
    func inFront() throws {
        let greeter = ["UID": "110", "CLASS": "greeter"]
        let files = [
            "seats/seat0": "ACTIVE=c7\nACTIVE_UID=1000\n", "seats/seat1": "ACTIVE=c1\n",
            "seats/seat2": "CAN_GRAPHICAL=1\n", "seats/seat3": "ACTIVE=c7\n",
            "sessions/c7": PlayedRecords.record(),
            "sessions/c1": PlayedRecords.record(greeter.merging(["SEAT": "seat1"]) { $1 }),
        ]
        let found = try PlayedRecords.with(files) { try LoginSession.inFront() }
        #expect(
            found.sorted { $0.id < $1.id } == [
                LoginSession(id: "c1", owner: 110, seat: "seat1", class: .greeter),
                LoginSession(id: "c7", owner: 1000),
            ])
    }
}

@Suite("where systemd keeps a process")
struct ProcessPlaceTests {
    private static let user = "/user.slice/user-1000.slice"

    private func place(_ cgroup: String) throws -> ProcessOrigin {
        try PlayedRecords.with(cgroup: cgroup, [:]) { try ProcessOrigin(of: getpid()) }
    }

    @Test(
        "is a session, a user's manager, a unit of the system's, or none",
        arguments: [
            ("\(user)/session-c7.scope", .session("c7")),
            ("\(user)/session-12.scope/below", .session("12")),
            (
                "\(user)/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte.scope",
                .userManager(uid: 1000)
            ),
            ("\(user)/user@1000.service/init.scope", .userManager(uid: 1000)),
            ("/system.slice/cron.service", .systemUnit("cron.service")),
            (
                "/system.slice/system-getty.slice/getty@tty1.service",
                .systemUnit("getty@tty1.service")
            ),
            ("/init.scope", .systemUnit("init.scope")),
            ("/", .outside),
            ("/user.slice", .outside),
            (user, .outside),
        ] as [(String, ProcessOrigin)])
    func places(_ cgroup: String, _ place: ProcessOrigin) throws {
        #expect(try self.place(cgroup) == place)
    }

    @Test(
        "is a user's manager, whatever that user calls the units in it",
        arguments: [
            "getty@tty1.service", "gdm.service", "session-c7.scope", "system.slice/gdm.service",
            "user@0.service", "polkit-agent-helper@1.service",
        ])
    func ownUnit(_ name: String) throws {
        #expect(
            try place("\(Self.user)/user@1000.service/\(name)") == .userManager(uid: 1000))
        #expect(
            try place("\(Self.user)/user@1000.service/app.slice/\(name)")
                == .userManager(uid: 1000))
    }

    @Test(
        "is a session, whatever groups a program makes below it",
        arguments: ["system.slice/gdm.service", "session-c8.scope", "user@1000.service"])
    func below(_ name: String) throws {
        #expect(try place("\(Self.user)/session-c7.scope/\(name)") == .session("c7"))
    }

    @Test(
        "is a mere unit where the name only looks like a user's manager",
        arguments: ["user@.service", "user@alice.service", "user@+1.service", "user@1000x.service"])
    func noManager(_ name: String) throws {
        let place = try place("/user.slice/\(name)")
        if case .userManager = place { Issue.record("\(place)") }
    }

    @Test("is a fault for numbers that no process has", arguments: [0, -1, Int32.max])
    func nobody(_ pid: Int32) {
        #expect(throws: SystemFault.self) { try ProcessOrigin(of: pid) }
    }
}

@Suite("a unit's name")
struct UnitNameTests {
    @Test(
        "is taken apart at the first @ and the last dot",
        arguments: [
            ("gdm.service", "gdm.service", nil), ("getty@tty1.service", "getty@.service", "tty1"),
            ("getty@.service", "getty@.service", nil), ("a@b@c.d.service", "a@.service", "b@c.d"),
            ("a.b@c", "a.b@c", nil), ("", "", nil), ("@.", "@.", nil), ("@", "@", nil),
        ] as [(String, String, String?)])
    func parts(_ name: String, _ template: String, _ instance: String?) {
        let unit = UnitName(name)
        #expect(unit.template == template)
        #expect(unit.instance == instance)
    }
}
