// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// What is left of logins: proofs that anyone can check.
    static let receiptScenes = [
        DemoScene(
            title: "Every touch left a signed receipt",
            about: "Who, when, where and for which command, each chained to the previous one. A "
                + "number is assigned before the scan; if a login ended without a match, "
                + "there is no receipt. The chain shows that none was removed.",
            play: list),
        DemoScene(
            title: "Standard ssh-keygen verifies a receipt",
            about: "This needs no program of Signet, and no trust in one. With one "
                + "letter changed, the same command refuses it.",
            play: verify),
        DemoScene(
            title: "An intruder rewrites the log",
            about: "In the daemon's own files, as root: a receipt now names another command.",
            play: rewrite),
    ]

    private static let receipts =
        "/var/lib/signet/private/accounts/\(HostFixture.alice.uid)/receipts"

    private static func list(_ set: DemoSet) throws {
        let log = try set.alice("signet", "log")
        try set.end(log, "the receipts are listed")
        let check = try set.alice("signet", "log", "--verify")
        try set.see("all signatures are valid, and nothing is missing", on: check)
        try set.end(check, "all signatures are valid, and no receipt is missing")
    }

    private static func verify(_ set: DemoSet) throws {
        let export = try set.alice("signet", "log", "--export", "1", "--to", "receipt")
        try set.end(export, "the receipt is exported, with the command that verifies it")
        let command = try set.stockCheck(export)
        try set.end(set.inReceipt("cat statement"), "the signed text is readable")
        let check = try set.inReceipt(command)
        try set.see("Good \"login@signet\" signature for alice", on: check)
        try set.end(check, "ssh-keygen accepts it")

        try set.end(set.inReceipt("sed -i s/whoami/whoamI/ statement"), "one letter is changed")
        let again = try set.inReceipt(command)
        let ending = try again.expectEnd(within: patience)
        try set.check(
            "ssh-keygen refuses it",
            ending != .exited(0) && again.transcript.contains("Could not verify signature"),
            came: "\(ending)\n\(again.transcript)")
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

    private func inReceipt(_ line: String) throws -> Terminal {
        try alice(shown: line, ["sh", "-c", "cd receipt && \(line)"], at: "~/receipt")
    }
}
