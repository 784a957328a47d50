// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real ssh-keygen, ssh, sshd and git with the security key provider.
@Suite("OpenSSH with the provider", .timeLimit(.minutes(5)))
struct SSHKeyTests {
    private let ssh: SSHFixture
    private var signet: SignetFixture { ssh.signet }
    private var host: HostFixture { ssh.host }

    init() throws {
        ssh = try SSHFixture()
    }

    private func expectLogin(_ terminal: Terminal) throws {
        try terminal.expect("logged in")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
    }

    @Test("a touch makes a key, and a touch logs in at an sshd that demands a verified user")
    func login() throws {
        try ssh.makeKey()
        let terminal = try ssh.ssh()
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try expectLogin(terminal)
        let print = try signet.shell("ssh-keygen -lf /etc/ssh/host.pub | cut -d' ' -f2")
        let purpose = try ssh.purpose()
        #expect(
            purpose.hasPrefix("ssh alice (host key \(print.dropLast())), by ssh-sk-helper of ssh"),
            "\(purpose)")
        let log = try host.run(["signet", "log"], as: HostFixture.alice)
        #expect(log.output.contains("ssh alice (host key SHA256:"), "\(log.output)")
    }

    @Test("after a finger that does not match, ssh goes on with its next key")
    func wrongFinger() throws {
        try ssh.makeKey()
        try ssh.aliceDoes("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/file")
        try signet.shell("cat /home/alice/.ssh/file.pub >>/home/alice/.ssh/authorized_keys")
        let terminal = try ssh.ssh([SSHFixture.key, "/home/alice/.ssh/file"])
        // The reader waits again only when it has been said.
        for _ in 0..<3 {
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(Touch.bob)
        }
        try terminal.expect("the finger did not match")
        try expectLogin(terminal)
        #expect(try ssh.purpose("deny").hasPrefix("ssh alice (host key SHA256:"))
        #expect(try signet.failures(of: HostFixture.alice) == 3)
    }

    @Test("without a daemon, and after the fingers changed, ssh says so and goes on")
    func noKey() throws {
        try ssh.makeKey()
        try ssh.aliceDoes("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/file")
        try signet.shell("cat /home/alice/.ssh/file.pub >>/home/alice/.ssh/authorized_keys")
        try signet.enroll(HostFixture.alice, .leftIndex, as: "alice's other")
        let changed = try ssh.ssh([SSHFixture.key, "/home/alice/.ssh/file"])
        try changed.expect("the fingers have changed since the ssh key ssh was made")
        try expectLogin(changed)
        try ssh.expectRefusal("sshKeyInvalidated")
        try signet.stop()
        let down = try ssh.ssh([SSHFixture.key, "/home/alice/.ssh/file"])
        try down.expect("the fingerprint service is not running")
        try expectLogin(down)
    }

    @Test("ssh-keygen signs a file and verifies it, and refuses it once it is altered")
    func fileSignature() throws {
        try ssh.makeKey()
        try ssh.aliceDoes(
            "echo hello >text; { printf 'alice '; cat ~/.ssh/id_ecdsa_sk.pub; } >signers")
        let terminal = try ssh.alice("ssh-keygen -Y sign -f ~/.ssh/id_ecdsa_sk -n file text")
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        #expect(
            try ssh.purpose().hasPrefix(
                "ssh signature: namespace file, by ssh-sk-helper of ssh-keygen"))
        let verify = "ssh-keygen -Y verify -f signers -I alice -n file -s text.sig <text"
        #expect(try ssh.aliceDoes(verify).contains("Good \"file\" signature for alice"))
        let altered = try host.run(
            ["sh", "-c", "echo hullo >text; \(verify)"], as: HostFixture.alice)
        #expect(!altered.succeeded)
        let other = try host.run(
            ["sh", "-c", "echo hello >text; \(verify.replacing("-n file", with: "-n git"))"],
            as: HostFixture.alice)
        #expect(!other.succeeded)
    }

    @Test("git signs a commit by touch, and verifies it")
    func commit() throws {
        try ssh.makeKey()
        try ssh.aliceDoes(
            """
            git init -q work && cd work && echo hello >text && git add text
            git config user.name alice && git config user.email alice@example.org
            git config gpg.format ssh && git config user.signingkey ~/.ssh/id_ecdsa_sk.pub
            git config gpg.ssh.allowedSignersFile ~/signers
            { printf 'alice@example.org '; cat ~/.ssh/id_ecdsa_sk.pub; } >~/signers
            """)
        // git shows what ssh-keygen has said only if that fails.
        let terminal = try ssh.alice("cd work && git commit -q -S -m first")
        ssh.touchUnseen()
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        let purpose = try ssh.purpose()
        #expect(
            purpose == "ssh signature: namespace git, by ssh-sk-helper of ssh-keygen of git",
            "\(purpose)")
        let verified = try host.run(
            ["sh", "-c", "cd work && git verify-commit HEAD"], as: HostFixture.alice)
        #expect(verified.succeeded && verified.errors.contains("Good \"git\" signature"))
        // Nobody else's finger signs, and git then commits nothing.
        let refused = try ssh.alice("cd work && git commit -q -S --allow-empty -m second")
        signet.touchBlindly(Touch.bob) { ssh.hasRefused("noMatch") }
        #expect(try refused.expectEnd() != .exited(0))
        #expect(try ssh.aliceDoes("cd work && git log --oneline | wc -l").contains("1"))
    }

    @Test("another user's key file signs nothing")
    func otherHandles() throws {
        try ssh.makeKey()
        try signet.shell(
            """
            install -d -o bob -g bob -m 700 /home/bob/.ssh
            for file in id_ecdsa_sk id_ecdsa_sk.pub; do
                install -o bob -g bob -m 600 /home/alice/.ssh/$file /home/bob/.ssh/$file
            done
            """)
        let bob = try host.run(
            ["sh", "-c", "echo x >text; ssh-keygen -Y sign -f ~/.ssh/id_ecdsa_sk -n file text"],
            as: HostFixture.bob, environment: ["SSH_SK_PROVIDER": SSHFixture.provider])
        #expect(!bob.succeeded)
        #expect(bob.errors.contains("belongs to another account"), "\(bob.errors)")
        try ssh.expectRefusal("sshHandleOfOtherAccount")
    }

    @Test("ed25519-sk is unsupported, and so is a name that is taken")
    func unsupported() throws {
        let terminal = try ssh.makingKey("/home/alice/.ssh/other", type: "ed25519-sk")
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        let first = try ssh.makingKey("/home/alice/.ssh/a", "-O", "user=work")
        try first.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        #expect(try first.expectEnd() == .exited(0))
        let second = try ssh.makingKey("/home/alice/.ssh/b", "-O", "user=work")
        try second.expect("the ssh key work exists already")
        #expect(try second.expectEnd() != .exited(0))
    }

    @Test("ssh-keygen -K writes the files of all keys anew, which log in")
    func resident() throws {
        try ssh.makeKey()
        try ssh.aliceDoes("rm ~/.ssh/id_ecdsa_sk ~/.ssh/id_ecdsa_sk.pub")
        let terminal = try ssh.alice("cd ~/.ssh && ssh-keygen -K -N ''")
        // It asks for a PIN in any case, before it asks the provider.
        try terminal.expect("PIN")
        try terminal.sendLine("")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        let file = try ssh.aliceDoes("ls ~/.ssh/id_ecdsa_sk_rk* | head -1").dropLast()
        let login = try ssh.ssh([String(file)])
        try login.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try expectLogin(login)
    }

    @Test("ssh-agent accepts the provider where it is installed, and signs by touch")
    func agent() throws {
        try ssh.makeKey()
        let terminal = try ssh.alice(
            """
            echo x >text
            ssh-agent sh -c 'ssh-add -q ~/.ssh/id_ecdsa_sk && rm ~/.ssh/id_ecdsa_sk \
                && ssh-keygen -Y sign -f ~/.ssh/id_ecdsa_sk.pub -n file text'
            """)
        ssh.touchUnseen()
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        #expect(try ssh.purpose().contains("namespace file, by ssh-sk-helper"))
    }

    @Test("signet ssh makes, lists, shows and removes a key")
    func command() throws {
        let none = try host.run(["signet", "ssh", "list"], as: HostFixture.alice)
        #expect(none.succeeded && none.output.contains("no ssh keys"), "\(none.output)")
        try ssh.makeKey()
        let list = try host.run(["signet", "ssh", "list"], as: HostFixture.alice)
        let print = try signet.shell("ssh-keygen -lf \(SSHFixture.key).pub | cut -d' ' -f2")
        #expect(list.output.contains(print.dropLast()), "\(list.output)")
        let shown = try host.run(["signet", "ssh", "public", "ssh"], as: HostFixture.alice)
        let file = String(decoding: try host.read("\(SSHFixture.key).pub"), as: UTF8.self)
        #expect(
            shown.output.split(separator: " ").prefix(2) == file.split(separator: " ").prefix(2))
        let checkup = try host.run(["signet", "doctor"], as: HostFixture.root)
        #expect(!checkup.output.contains("was not created by Signet"), "\(checkup.output)")
        let removed = try host.run(
            ["signet", "ssh", "remove", "ssh", "--password-stdin"], as: HostFixture.alice,
            input: HostFixture.alice.password + "\n")
        #expect(removed.succeeded, "\(removed.errors)")
        let terminal = try ssh.ssh()
        try terminal.expect("does not exist any more")
        #expect(try terminal.expectEnd() != .exited(0))
    }
}
