import TestSupport

extension DemoSet {
    /// What is left of logins: proofs that anybody can check.
    static let receiptScenes = [
        DemoScene(
            title: "Every touch left a signed receipt",
            about: "It says who, when, where and for what command, and is chained to the one "
                + "before. The password left none: it proves nothing to others.",
            play: list),
        DemoScene(
            title: "Stock ssh-keygen checks a receipt",
            about: "No program of Signet's is needed, and none has to be trusted.",
            play: verify),
        DemoScene(
            title: "One byte is changed",
            about: "The same command, the same signature, one other letter in the statement.",
            play: alter),
        DemoScene(
            title: "Somebody rewrites the log",
            about: "In the daemon's own files, as root: a receipt now tells of another command.",
            play: rewrite),
    ]

    private static let receipts = "/var/lib/signet/private/accounts/\(Stage.alice.uid)/receipts"

    private static func list(_ set: DemoSet) throws {
        let log = try set.alice("signet", "log")
        try set.end(log, "the receipts are listed")
        let check = try set.alice("signet", "log", "--verify")
        try set.see("each signature is good and nothing is missing", on: check)
        try set.end(check, "all signatures are good, and no receipt is missing")
    }

    private static func verify(_ set: DemoSet) throws {
        let export = try set.alice("signet", "log", "--export", "1", "--to", "receipt")
        try set.end(export, "the receipt is exported, with the command that checks it")
        try set.show("cat statement")
        let check = try set.inReceipt(set.stockCheck(export))
        try set.see("Good \"login@signet\" signature for alice", on: check)
        try set.end(check, "ssh-keygen accepts it")
    }

    private static func alter(_ set: DemoSet) throws {
        let change = try set.inReceipt(
            "sed -i 's/purpose: sudo whoami/purpose: sudo whoamI/' statement")
        try set.end(change, "one letter is another one")
        let export = try set.alice("signet", "log", "--export", "1", "--to", "receipt2")
        try set.end(export, "(the command once more)")
        let check = try set.inReceipt(set.stockCheck(export))
        let ending = try check.expectEnd(within: patience)
        try set.check(
            "ssh-keygen refuses it", ending != .exited(0) && check.transcript.contains("Could not"),
            came: "\(ending)\n\(check.transcript)")
    }

    private static func rewrite(_ set: DemoSet) throws {
        set.screen.act("root changes 'sudo whoami' to 'sudo reboot' in the second receipt")
        try set.shell("sed -i '0,/whoami/! {0,/whoami/ s/whoami/reboot/}' \(receipts)")
        let check = try set.alice("signet", "log", "--verify")
        let ending = try check.expectEnd(within: patience)
        try set.check(
            "'signet log --verify' finds the receipt",
            ending != .exited(0)
                && check.transcript.contains("receipt #2: "),
            came: "\(ending)\n\(check.transcript)")
    }

    /// The command for checking, as 'signet log --export' shows it.
    private func stockCheck(_ export: Terminal) throws -> String {
        let lines = export.transcript.split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { $0.hasPrefix("ssh-keygen ") }) else {
            throw DemoFault(expected: "a command for ssh-keygen", came: export.transcript)
        }
        return String(line)
    }

    private func show(_ line: String) throws {
        try end(inReceipt(line), "a person can read what was signed")
    }

    private func inReceipt(_ line: String) throws -> Terminal {
        try alice(shown: line, ["sh", "-c", "cd receipt && \(line)"], at: "~/receipt")
    }
}
