// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What other modules do after a touch, under real libpam in real sudo and login, and what the
/// doctor says of it.
@Suite("what other modules do after a touch", .timeLimit(.minutes(10)))
struct AfterTouchTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.debian()
        try signet.shell("ln -s \(try Built.program("signet")) /usr/local/bin/signet")
        // Few enough that a finding names each.
        try signet.shell(
            """
            cd /etc/pam.d
            for stack in *; do
                case $stack in common-* | other | signet | login | su | sudo) ;; *) rm $stack ;; esac
            done
            """)
        // A realm without a server.
        try host.write(
            "/etc/krb5.conf",
            """
            [libdefaults]
            default_realm = EXAMPLE.ORG
            [realms]
            EXAMPLE.ORG = { kdc = 127.0.0.1:1 }

            """)
        try signet.shell(
            """
            mkdir /home/alice/.ecryptfs /home/alice/vault
            touch /home/alice/.ecryptfs/auto-mount
            chown -R alice: /home/alice
            """)
    }

    // MARK: The doctor

    private struct Found: Equatable {
        let code: String
        let subject: String
        let mend: String
    }

    /// What the doctor says about a service and what follows a touch in it.
    private func examine(_ service: String) throws -> [Found] {
        let outcome = try host.run(["signet", "doctor", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        let document = try #require(object as? [String: Any], "\(outcome.errors)")
        let findings = try #require(document["findings"] as? [[String: Any]])
        let codes = [
            "prompt-after-touch", "prompt-without-keyring", "closed-after-touch",
            "home-after-touch",
        ]
        return findings.compactMap { finding in
            func text(_ name: String) -> String { finding[name] as? String ?? "" }
            guard codes.contains(text("code")),
                text("subject").split(separator: ", ").contains(Substring(service))
            else { return nil }
            return Found(code: text("code"), subject: text("subject"), mend: text("mend"))
        }
    }

    /// Runs the command of the doctor's finding.
    private func mend(_ code: String, _ service: String) throws {
        let found = try #require(try examine(service).first { $0.code == code })
        try signet.shell(found.mend)
    }

    // MARK: The people

    /// What appears after the touch, up to the program's own words or a question, which is answered
    /// with a wrong password.
    private func shown(
        after touch: Terminal, until done: String
    ) throws -> [String] {
        var questions: [String] = []
        let start = touch.transcript.utf8.count
        var read = start
        let deadline = ContinuousClock.now + .patience
        try signet.touch(Touch.alice)
        while ContinuousClock.now < deadline {
            let all = Array(touch.transcript.utf8)
            let new = String(decoding: all[read...], as: UTF8.self)
            if new.contains(done) { return questions }
            if let question = new.firstMatch(of: #/[^\r\n]*assword[^\r\n]*: ?$/#) {
                questions.append(String(question.0))
                read = all.count
                try touch.sendLine("wrong")
            }
            usleep(50_000)
        }
        throw TestFault.deadline(awaited: "'\(done)'", transcript: touch.transcript)
    }

    private func sudo() throws -> [String] {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        let questions = try shown(after: terminal, until: "root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        return questions
    }

    /// Logs in by touch.
    ///
    /// - Returns: The questions after it, and whether the vault in the home is open.
    private func login() throws -> (questions: [String], isOpen: Bool) {
        let terminal = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try terminal.expectInvitation()
        let questions = try shown(after: terminal, until: "alice@linux$ ")
        try terminal.sendLine("ls vault; echo lis''ted; exit")
        try terminal.expect("listed")
        try terminal.expectEnd()
        return (questions, terminal.transcript.contains("diary"))
    }

    /// Has lines follow Debian's in sudo's stack.
    private func follow(_ lines: String) throws {
        try host.writeService(
            "sudo",
            """
            @include common-auth
            \(lines)
            @include common-account
            @include common-session-noninteractive

            """)
    }

    // MARK: -

    /// What sudo shows in place of `Password: `.
    private static let ofSudo = "[sudo] password for alice: "

    /// Lines that may follow a touch, and the question that is asked then.
    private static let lines: [(line: String, question: String?)] = [
        ("auth optional pam_mount.so", "pam_mount password:"),
        ("auth optional pam_mount.so use_first_pass", "pam_mount password:"),
        ("auth optional pam_mount.so disable_interactive", nil),
        (
            "auth optional pam_mount.so disable_interactive enable_interactive",
            "pam_mount password:"
        ),
        ("auth optional pam_kwallet5.so", ofSudo),
        ("auth optional pam_gnome_keyring.so", nil),
        ("auth optional pam_krb5.so", ofSudo),
        ("auth optional pam_krb5.so use_first_pass", ofSudo),
        ("auth optional pam_krb5.so force_first_pass", nil),
        ("auth required pam_ecryptfs.so unwrap", nil),
        ("auth optional pam_fscrypt.so", nil),
        ("auth optional pam_unix.so try_first_pass", ofSudo),
        ("auth optional pam_unix.so use_first_pass", nil),
        ("auth optional pam_exec.so expose_authtok /bin/true", ofSudo),
        ("auth optional pam_exec.so /bin/true", nil),
        ("auth optional pam_kwallet5.so\nauth optional pam_mount.so", ofSudo),
        ("-auth optional pam_zfs_key.so", nil),
        (
            "auth [success=1 default=ignore] pam_succeed_if.so service in su:sudo quiet\n"
                + "auth optional pam_mount.so", nil
        ),
        (
            "auth [success=1 default=ignore] pam_succeed_if.so service = su quiet\n"
                + "auth optional pam_mount.so", "pam_mount password:"
        ),
        ("auth sufficient pam_permit.so\nauth optional pam_mount.so", nil),
    ]

    @Test("libpam asks after a touch at sudo exactly where the doctor says so")
    func agree() throws {
        for (line, question) in Self.lines {
            try follow(line)
            #expect(try sudo() == (question.map { [$0] } ?? []), "\(line)")
            let codes = try examine("sudo").map(\.code)
            #expect(codes == (question == nil ? [] : ["prompt-after-touch"]), "\(line)")
        }
    }

    @Test("a touch at sudo and login ends in pam_mount's prompt until the doctor's commands ran")
    func mount() throws {
        // As pam-auth-update writes the profile of libpam-mount, with a volume that alice's password
        // opens.
        try signet.shell(
            """
            echo 'auth optional pam_mount.so' >> /etc/pam.d/common-auth
            echo 'session optional pam_mount.so' >> /etc/pam.d/common-session
            """)
        try host.write(
            "/usr/local/bin/open-vault",
            """
            #!/bin/sh
            [ "$(cat)" = "\(HostFixture.alice.password)" ] && mount -t tmpfs vault "$1" &&
                touch "$1/diary"

            """, mode: 0o755)
        try host.write(
            "/etc/security/pam_mount.conf.xml",
            """
            <pam_mount>
            <debug enable="0" />
            <volume user="alice" fstype="auto" path="/srv/vault" mountpoint="/home/alice/vault" />
            <lclmount>/usr/local/bin/open-vault %(MNTPT)</lclmount>
            </pam_mount>

            """)
        #expect(try sudo() == ["pam_mount password:"])
        #expect(try login() == (["pam_mount password:"], false))
        #expect(try examine("sudo").map(\.code) == ["prompt-after-touch"])
        #expect(try examine("login").map(\.code) == ["prompt-without-keyring"])

        try mend("prompt-after-touch", "sudo")
        #expect(try sudo() == [])
        #expect(try examine("sudo") == [])
        // Its line in the session asks on its own.
        #expect(try login() == (["reenter password for pam_mount:"], false))
        #expect(
            try examine("login").map(\.code) == ["prompt-without-keyring", "closed-after-touch"])
        try mend("prompt-after-touch", "su")
        #expect(try login() == ([], false))
        #expect(try examine("login").map(\.code) == ["closed-after-touch"])

        try signet.enableKeyring()
        #expect(try login() == ([], true))
        #expect(try sudo() == [])
    }

    @Test("a password that a touch releases at login silences what would ask, and sudo gets none")
    func released() throws {
        try signet.shell(
            "echo 'auth optional pam_kwallet5.so' >> /etc/pam.d/common-auth")
        #expect(try login().questions == ["Password: "])
        #expect(try examine("login").map(\.code) == ["prompt-without-keyring"])
        try signet.enableKeyring()
        #expect(try login().questions == [])
        #expect(try sudo() == [Self.ofSudo])
        #expect(try examine("sudo").map(\.code) == ["prompt-after-touch"])
    }
}
