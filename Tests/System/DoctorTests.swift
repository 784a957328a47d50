// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What one run of the doctor said.
private struct Checkup {
    struct Finding: Equatable {
        let code: String
        let level: String
        let subject: String
        let mend: String
    }

    let ending: Ending
    let findings: [Finding]

    init(_ outcome: Outcome) throws {
        ending = outcome.ending
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        let document = try #require(object as? [String: Any], "\(outcome.errors)")
        #expect(document["kind"] as? String == "doctor")
        let list = try #require(document["findings"] as? [[String: Any]])
        findings = list.map { finding in
            func text(_ name: String) -> String { finding[name] as? String ?? "" }
            return Finding(
                code: text("code"), level: text("level"), subject: text("subject"),
                mend: text("mend"))
        }
    }

    /// Those above a note.
    var complaints: [Finding] { findings.filter { $0.level != "note" } }

    func finding(_ code: String, _ subject: String?) -> Finding? {
        findings.first { $0.code == code && (subject == nil || $0.subject == subject) }
    }
}

@Suite("signet doctor", .timeLimit(.minutes(10)))
struct DoctorTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
        // What the commands of findings call.
        try signet.shell("ln -s \(try Built.program("signet")) /usr/local/bin/signet")
        try signet.shell("cp -a /var/lib/signet /root/state")
    }

    private func examine(as account: Account = HostFixture.root) throws -> Checkup {
        try Checkup(host.run(["signet", "doctor", "--json"], as: account))
    }

    private func expectSound(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        let checkup = try examine()
        #expect(checkup.complaints == [], sourceLocation: sourceLocation)
        #expect(checkup.ending == .exited(0), sourceLocation: sourceLocation)
    }

    private func undo(_ plant: Plant, _ finding: Checkup.Finding) throws {
        switch plant.undoing {
        case .mend: try signet.shell(finding.mend)
        case .line(let line): try signet.shell(line)
        case .services:
            try signet.writeServices(options: "")
        case .state:
            try signet.stop()
            try signet.shell("rm -rf /var/lib/signet && cp -a /root/state /var/lib/signet")
            try signet.start()
        case .restart:
            try signet.stop()
            try signet.start()
        }
    }

    private static let endings = ["note": 0, "warning": 1, "fault": 6, "danger": 7]

    /// Plants, looks, mends and looks again: the machine is sound before and after each.
    private func findEach(_ plants: [Plant]) throws {
        try expectSound()
        for plant in plants {
            try signet.shell(plant.line)
            let checkup = try examine()
            let found = checkup.finding(plant.code, plant.subject)
            let finding = try #require(found, "\(plant) of \(checkup.findings)")
            let worst = checkup.findings.compactMap { Self.endings[$0.level] }.max() ?? 0
            #expect(checkup.ending == .exited(Int32(worst)), "\(plant)")
            #expect(!finding.mend.isEmpty)
            try undo(plant, finding)
            let after = try examine()
            #expect(after.complaints == [], "after \(plant)")
        }
    }

    @Test("finds each fault that is planted in the stacks")
    func stacks() throws { try findEach(Plant.stacks) }

    @Test("finds each fault that is planted in files, and its commands repair them")
    func files() throws { try findEach(Plant.files) }

    @Test("finds each fault that is planted in the service, the accounts and around them")
    func service() throws { try findEach(Plant.service) }

    @Test("finds a module that is missing, writable, or of another version")
    func module() throws {
        let path = "\(host.moduleDirectory)/pam_signet.so"
        func find(_ line: String, _ code: String, _ subject: String?) throws {
            try signet.shell(line)
            #expect(try examine().finding(code, subject) != nil, "\(line)")
            try host.installModule(Built.module())
            try expectSound()
        }
        try find("chmod 666 \(path)", "file-writable", path)
        try find("sed -i 's/signet-module [0-9]/signet-module 9/' \(path)", "version-module", path)
        try find("echo > \(path)", "version-module", path)
        try find("rm \(path)", "module-missing", nil)
    }

    @Test("finds a daemon that is missing, hangs, or has other readers and vaults")
    func daemon() throws {
        signet.suspend()
        #expect(try examine().finding("service-silent", nil) != nil)
        signet.resume()
        try expectSound()
        try signet.stop()
        // A program without root's rights that listens in the daemon's place. Who listens is
        // recorded when it begins to.
        let foreign = try host.start([
            "python3", "-c",
            """
            import os, signal, socket
            end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            end.bind("/run/signet/signetd.sock")
            os.seteuid(65534)
            end.listen()
            print("listening", flush=True)
            signal.pause()
            """,
        ])
        try foreign.expect("listening")
        #expect(try examine().finding("service-foreign", nil)?.level == "danger")
        foreign.signal(SIGKILL)
        try foreign.expectEnd()
        try signet.shell("rm /run/signet/signetd.sock")
        let gone = try examine()
        #expect(gone.finding("socket-missing", nil) != nil)
        #expect(gone.ending == .exited(6))
        try signet.start(readers: [.text])
        #expect(try examine().finding("prints-elsewhere", "alice") != nil)
        try signet.stop()
        try host.write("/etc/signet/signet.conf", "[vault]\nkind = tpm\n")
        try signet.start()
        #expect(try examine().finding("vault-trouble", "tpm") != nil)
        try signet.stop()
        try host.write("/etc/signet/signet.conf", "[reader]\nignore = virtual_device_storage:0\n")
        try signet.start()
        #expect(try examine().finding("no-reader", nil) != nil)
    }

    @Test("shows an ordinary user what may be seen, and says what it did not look at")
    func ordinary() throws {
        let checkup = try examine(as: HostFixture.alice)
        #expect(checkup.complaints == [])
        #expect(checkup.finding("needs-root", nil) != nil)
        #expect(checkup.ending == .exited(0))
        try signet.shell("chmod 777 /var/lib/signet/keys")
        #expect(try examine(as: HostFixture.alice).finding("file-writable", nil) != nil)
    }

    @Test("is not delayed by files that never end, circular links and names that are not text")
    func hostile() throws {
        try signet.shell(
            """
            mkfifo /etc/pam.d/pipe; ln -s circle /etc/pam.d/circle
            ln -s /dev/zero /etc/pam.d/endless; mkdir /etc/pam.d/directory
            head -c 3000000 /dev/zero | tr '\\0' 'a' > /etc/pam.d/huge
            printf 'auth required pam_signet.so\\033[2J\\n' > "$(printf '/etc/pam.d/\\377\\033[2J')"
            mkfifo /etc/signet/signet.conf.d /var/lib/signet/keys/1.pub /etc/nologin
            """)
        let outcome = try host.run(["signet", "doctor"])
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.output.contains("danger") || outcome.output.contains("fault"))
    }

    @Test("changes nothing, and needs no daemon, no state and no systemd")
    func alone() throws {
        try signet.stop()
        let before = try signet.shell("find /var/lib/signet /etc /run -newer /root/state | sort")
        _ = try examine()
        #expect(
            try signet.shell("find /var/lib/signet /etc /run -newer /root/state | sort") == before)
        try signet.shell("rm -rf /var/lib/signet /run/signet")
        let bare = try examine()
        #expect(bare.finding("state-none", nil)?.level == "note")
        #expect(bare.finding("socket-missing", nil) != nil)
    }

    @Test("a finding that the administrator accepts is shown, and leaves the exit status at 0")
    func accepted() throws {
        let example = String(
            decoding: try Layout.read("\(Layout.package)/pam/examples/finger-and-password"),
            as: UTF8.self)
        try host.write("/etc/pam.d/sudo", example)
        let before = try examine()
        #expect(before.ending == .exited(7))
        let names = before.complaints.map { "\($0.code) \($0.subject)" }
        let entries = names.map { "\($0): both factors, ticket 12" }.joined(separator: "; ")
        try host.write("/etc/signet/signet.conf", "[doctor]\naccept = \(entries)\n")
        let after = try examine()
        #expect(after.ending == .exited(0))
        #expect(after.complaints.map(\.code) == before.complaints.map(\.code), "still shown")
        let text = try host.run(["signet", "doctor"]).output
        #expect(text.contains("reason  both factors, ticket 12"))
        // It hides no other finding, and is reported once it accepts nothing.
        try host.write("/etc/pam.d/su", example)
        #expect(try examine().ending == .exited(7))
        try signet.writeServices(options: "")
        #expect(try examine().finding("accept-unused", nil) != nil)
    }
}
