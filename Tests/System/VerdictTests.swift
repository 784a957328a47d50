// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// What `signet` says about a login, beside what sudo does in the same place at the same time.
@Suite("a login that is judged and one that is tried", .timeLimit(.minutes(5)))
struct VerdictTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let reader = "virtual_device_storage:0"

    /// Alice's finger is on the reader that keeps prints; another reader is connected, too.
    init() throws {
        signet = try SignetFixture(readers: [.storage, .text])
        try enroll(.rightIndex, as: Touch.alice, on: .storage, named: Self.reader)
    }

    private func enroll(
        _ finger: Finger, as id: String, on kind: SignetFixture.ReaderKind, named reader: String
    ) throws {
        let request = Request.enroll(
            account: "alice", finger: finger, readerID: Bytes(reader.utf8))
        let answer = try signet.ask(request) { notice in
            let isNext = notice.kind == .stage && notice.done != notice.total
            if isNext || notice.kind == .touch { try signet.touch(id, on: kind) }
        }
        guard case .done = answer else {
            throw TestFault.closed(awaited: "an enrolment", transcript: "\(answer)")
        }
    }

    private func says(
        _ words: String..., as account: Account = HostFixture.alice, in place: FixturePlace? = nil
    ) throws -> Outcome {
        try host.run([try Built.program("signet")] + words, as: account, in: place)
    }

    /// Status, list and doctor say why, and sudo says it as well, if it says anything.
    private func expectRefusal(
        _ text: String, in place: FixturePlace? = nil, isToldBySudo: Bool = true
    ) throws {
        let status = try says("status", in: place)
        #expect(status.ending == .exited(1), "\(status.output)")
        #expect(status.output.contains(text), "\(status.output)")
        #expect(status.output.contains("fingerprint login does not work for alice now"))
        let list = try says("list", in: place)
        #expect(list.output.contains("no finger is accepted at a login now: "), "\(list.output)")
        #expect(list.output.contains(text), "\(list.output)")
        let json = try says("list", "--json", in: place)
        #expect(json.output.contains("\"works\":false"), "\(json.output)")
        let doctor = try says("doctor", in: place)
        #expect(doctor.output.contains(text), "\(doctor.output)")
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice, in: place)
        if isToldBySudo { try terminal.expect(text) }
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
    }

    private func expectWorks() throws {
        let status = try says("status")
        #expect(status.ending == .exited(0), "\(status.output)")
        let list = try says("list")
        #expect(list.output.contains(" good\n") && !list.output.contains("no finger is accepted"))
        #expect(try says("list", "--json").output.contains("\"works\":true"))
    }

    @Test("works in the session in front, and not in one that came over the network")
    func remote() throws {
        try expectWorks()
        try expectRefusal(
            "fingerprint login does not work in remote sessions",
            in: .remoteSession(of: HostFixture.alice), isToldBySudo: false)
        try expectWorks()
    }

    @Test("does not work from a session that is not in front, nor outside of sessions")
    func elsewhere() throws {
        try expectRefusal(
            "a fingerprint is not accepted here", in: .unit("cron.service"), isToldBySudo: false)
        try host.show(.session(of: HostFixture.bob))
        try expectRefusal("a fingerprint is not accepted here", isToldBySudo: false)
    }

    @Test("does not work where logind does not run, whoever asks")
    func withoutLogind() throws {
        try host.removeLogind()
        try expectRefusal("a fingerprint is not accepted here", isToldBySudo: false)
        let root = try says("status", "--account", "alice", as: HostFixture.root)
        #expect(root.ending == .exited(1), "\(root.output)")
    }

    @Test("is judged for root as one at the machine, which the report says")
    func root() throws {
        let here = try says("status", "--account", "alice", as: HostFixture.root)
        #expect(here.ending == .exited(0) && !here.output.contains("because root asks"))
        let place = FixturePlace.remoteSession(of: HostFixture.alice)
        let status = try says("status", "--account", "alice", as: HostFixture.root, in: place)
        #expect(status.ending == .exited(0), "\(status.output)")
        #expect(status.output.contains("here     fingerprint login does not work in remote"))
        #expect(status.output.contains("about a login at the machine, because root asks"))
        let doctor = try says("doctor", "--json", as: HostFixture.root, in: place)
        #expect(!doctor.output.contains("login-not-here"), "\(doctor.output)")
    }

    @Test("names the finger and the reader to connect, until that is there")
    func readerAway() throws {
        try signet.stop()
        try host.write("/run/readers/storage.unplugged", "")
        try signet.start()
        try expectRefusal(
            "the fingerprint reader \(Self.reader) is not connected: connect it",
            isToldBySudo: false)
        let status = try says("status")
        #expect(
            status.output.contains(
                "right-index does not work now: connect the reader \(Self.reader)"))
        #expect(try says("status", "--json").output.contains("\"reader-away\""))
        let list = try says("list")
        #expect(list.output.contains("its reader is not connected"), "\(list.output)")
        let doctor = try says("doctor", "--json")
        #expect(doctor.output.contains("prints-elsewhere"))
        #expect(doctor.output.contains("login-refused"))

        // A finger on the other reader works, and the report tells the two apart.
        try enroll(.leftIndex, as: "alice's left", on: .text, named: "virtual_device:0")
        let both = try says("list")
        #expect(both.output.contains("left-index"), "\(both.output)")
        #expect(both.output.contains(" good\n"))
        #expect(both.output.contains("its reader is not connected"))
        #expect(try says("status").ending == .exited(0))

        try signet.plugIn()
        try signet.stop()
        try signet.start()
        try expectWorks()
        #expect(!(try says("list").output.contains("not connected")))
    }

    @Test("does not work on a backup that was restored on another machine")
    func restored() throws {
        try signet.stop()
        // The machine's own secret is not what the backup's keys were sealed with.
        try signet.shell(
            """
            cd /var/lib/signet/private
            head -c 32 /dev/urandom >other && cat other >host-secret && rm other
            """)
        try signet.start()
        try expectRefusal("this machine's secret is not the one the key was sealed with")
    }

    @Test("before a finger is taken from another reader, enroll says so by name, and may be left")
    func replacing() throws {
        let terminal = try host.terminal(
            [try Built.program("signet"), "enroll", "right-index", "--reader", "virtual_device:0"],
            as: HostFixture.alice)
        try terminal.expect("right-index is enrolled on the reader \(Self.reader): after this")
        try terminal.expect("works on the reader virtual_device:0 only")
        try terminal.expect("Password of alice: ")
        try terminal.control(.c)
        try terminal.expectEnd()
        try expectWorks()
        let same = try host.terminal(
            [try Built.program("signet"), "enroll", "right-index", "--reader", Self.reader],
            as: HostFixture.alice)
        try same.expect("Password of alice: ")
        #expect(!same.transcript.contains("is enrolled on the reader"))
        try same.control(.c)
        try same.expectEnd()
    }

    @Test("verify says that a finger matched, and that no login would ask for it")
    func verify() throws {
        _ = try signet.ask(.disable(account: "alice"))
        let program = try host.start(
            [try Built.program("signet"), "verify"], as: HostFixture.alice)
        try program.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try program.expect("the finger matched: right-index")
        try program.expect("no finger is accepted at a login now: fingerprint login is off")
        #expect(try program.expectEnd().succeeded)
    }
}
