// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport

extension DemoSet {
    /// A machine with a TPM, and what does not follow when its disk goes to another, `elsewhere`.
    static func vaultScenes(elsewhere: DemoSet) -> [DemoScene] {
        [
            DemoScene(
                title: "The key lives in the TPM",
                about: "On another machine, with a TPM (swtpm, one in software). Until now keys "
                    + "were in sealed files; here the key is made in the TPM, never leaves it, "
                    + "and signs only for these fingers. Fingerprints are sealed by the TPM too.",
                play: keepInTPM),
            DemoScene(
                title: "A stolen disk",
                about: "All of Signet's data is copied to a thief's machine, which has a TPM "
                    + "too. The thief is root there, and has a reader that calls anything a "
                    + "match: still, neither the key nor alice's fingerprints can be opened.",
                play: { try steal($0, elsewhere) }),
            DemoScene(
                title: "The TPM was cleared",
                about: "As the firmware setup can do: its contents are lost. alice sees the "
                    + "reason, and her password works. root confirms that the TPM is trusted from now "
                    + "on, and alice enrols again.",
                play: clear),
            DemoScene(
                title: "The key moves to a file, and back",
                about: "For example before the TPM is replaced. It needs the password, and "
                    + "no finger has to be enrolled again.",
                play: migrate),
        ]
    }

    // MARK: The machine

    private static let tpmSocket = "/run/tpm"

    /// Puts a new TPM into the machine, which ends with it. The daemon must not run yet.
    func addTPM(of maker: TPMAuthority) throws {
        try shell("mkdir -m 700 /run/tpm-state")
        try maker.manufacture(into: host.path("/run/tpm-state"))
        // Its sockets listen when the command returns.
        try shell(
            """
            swtpm socket --tpm2 --daemon \
            --server type=unixio,path=\(Self.tpmSocket) \
            --ctrl type=unixio,path=\(Self.tpmSocket).ctrl \
            --tpmstate dir=/run/tpm-state --flags not-need-init,startup-clear
            """)
        try host.write(
            "/etc/signet/signet.conf", "[vault]\ntpm = swtpm:path=\(Self.tpmSocket)\n")
    }

    private var tpm: TPMClient { TPMClient(path: host.path(Self.tpmSocket)) }

    func swipe(_ finger: Finger, _ act: String) throws {
        screen.act(act)
        try signet.touch(finger.rawValue, on: .text)
    }

    private func seeSwipeInvitation(_ terminal: Terminal) throws {
        try seeInvitation(terminal, to: "swipe your finger across the reader")
    }

    private func swipeAtSudo() throws {
        let terminal = try alice("sudo", "whoami")
        try seeSwipeInvitation(terminal)
        try swipe(.aliceRight, "alice swipes her right index finger")
        try seeRoot(terminal)
    }

    private func checkVault(_ name: String) throws {
        let vault = String(decoding: try signet.status(HostFixture.alice).vault, as: UTF8.self)
        try check("alice's key is in the vault '\(name)'", vault == name, came: vault)
    }

    /// sudo says that there is another TPM, without a touch, and continues to its own prompt.
    private func seeAnotherTPM() throws -> Terminal {
        let terminal = try alice("sudo", "whoami")
        try see("the TPM was cleared or is a different one", on: terminal)
        try see(Self.sudoPrompt, on: terminal)
        try check("the message appears at once, without a touch", terminal) {
            !$0.contains("did not match")
        }
        return terminal
    }

    private func trustTPM() throws {
        let trust = try root("signet", "vault", "trust")
        try see("the TPM is now trusted", on: trust)
        try end(trust, "the TPM is trusted with its new root key")
    }

    // MARK: The scenes

    private static func keepInTPM(_ set: DemoSet) throws {
        set.screen.act("alice has enrolled a finger here, too")
        let answer = try set.signet.enroll(
            HostFixture.alice, .rightIndex, as: Finger.aliceRight.rawValue, on: .text)
        guard case .done(_) = answer else {
            throw DemoFault(expected: "a finger of alice's", came: "\(answer)")
        }
        let vault = try set.alice("signet", "vault")
        try set.see("tpm: new keys are stored here", on: vault)
        try set.end(vault, "the TPM was found and is used")
        try set.checkVault("tpm")
        try set.swipeAtSudo()
    }

    private static func steal(_ set: DemoSet, _ elsewhere: DemoSet) throws {
        set.screen.act("a thief copies /var/lib/signet and /etc/shadow to another machine")
        let state = "/var/lib/signet"
        for (file, place) in [(state + "/.", state), ("/etc/shadow", "/etc/shadow")] {
            let copy = try Program(
                Command(["cp", "-a", set.host.path(file), elsewhere.host.path(place)])
            ).expectEnd(within: patience)
            try set.check("\(place) was copied", copy.succeeded, came: copy.errors)
        }
        try elsewhere.signet.start()
        try elsewhere.giveUp(try elsewhere.seeAnotherTPM(), who: "the thief")
        try elsewhere.trustTPM()
        let terminal = try elsewhere.alice("sudo", "whoami")
        try elsewhere.see("fingerprint login is off for alice", on: terminal)
        try elsewhere.see(sudoPrompt, on: terminal)
        let list = try elsewhere.alice("signet", "list")
        try elsewhere.see("damaged", on: list)
        try elsewhere.end(list, "alice's fingerprint is listed, but cannot be opened")
        try elsewhere.giveUp(terminal, who: "the thief")
        try set.checkVault("tpm")
    }

    private static func clear(_ set: DemoSet) throws {
        set.screen.act("the TPM is cleared")
        try set.tpm.run(TPMCommand(.clear, [TPMHandle.platform], passwords: [[]]))
        let terminal = try set.seeAnotherTPM()
        try set.typePassword(terminal)
        try set.seeRoot(terminal)
        try set.trustTPM()
        let delete = try set.alice("signet", "delete", "--all")
        try set.see("Password of alice: ", on: delete)
        try set.typePassword(delete)
        try set.end(delete, "the data that can no longer be opened is deleted")
        set.screen.act("alice enrols her finger again")
        let answer = try set.signet.enroll(
            HostFixture.alice, .rightIndex, as: Finger.aliceRight.rawValue, on: .text)
        guard case .done(_) = answer else {
            throw DemoFault(expected: "a finger of alice's", came: "\(answer)")
        }
        try set.swipeAtSudo()
    }

    private static func migrate(_ set: DemoSet) throws {
        for vault in ["file", "tpm"] {
            let terminal = try set.alice("signet", "vault", "migrate", vault)
            try set.see("Password of alice: ", on: terminal)
            try set.typePassword(terminal)
            try set.see("the key of alice is now in the vault '\(vault)'", on: terminal)
            try set.end(terminal, "the old key was deleted")
            try set.checkVault(vault)
            try set.swipeAtSudo()
        }
    }
}
