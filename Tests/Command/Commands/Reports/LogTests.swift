// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import Foundation
import Glibc
import LoginMessages
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@testable import Command

/// The log of an account that exists on every machine, as the daemon would send it.
struct SampleLog {
    static let account: AccountName = "daemon"
    static let credential = CredentialID.sample(16..<32)

    var receipts: [ReceiptAnswer] = []
    var signers: [Bytes]
    var head: (counter: UInt64, digest: Bytes) = (0, Bytes(repeating: 0, count: 32))
    private let key: P256PrivateKey
    private let publicKey: SSHPublicKey

    /// A chain of receipts with the numbers 1, 3, 5 …
    init(count: Int) throws {
        key = try P256PrivateKey.generate()
        publicKey = try #require(SSHPublicKey(point: key.publicPoint))
        let comment = Bytes("signet:daemon:".utf8) + SampleLog.credential.hexadecimal
        let line = Bytes("daemon namespaces=\"login@signet,secret@signet,desktop@signet\" ".utf8)
        signers = [line + publicKey.line(comment: comment).dropLast()]
        for index in 0..<count { try append(counter: UInt64(index * 2 + 1)) }
    }

    mutating func append(
        counter: UInt64, namespace: SignatureNamespace = .login, version: UInt64 = 2,
        requester: String = "daemon", isGranted: Bool = true
    ) throws {
        var sample = Statement(
            audience: Audience.local, account: SampleLog.account, uid: 1,
            requester: version > 1 ? AccountName(requester) : .none, device: .sample(0..<16),
            credential: SampleLog.credential, challenge: .sample(0..<32),
            service: "sudo", terminal: Bytes("/dev/pts/3".utf8),
            purpose: Bytes("sudo apt\nupgrade".utf8), factor: Factor.fingerprint, enrolment: 7,
            counter: counter, previous: head.digest,
            issued: Instant(seconds: 1_795_195_440))
        sample.version = version
        let statement = sample.encoded()
        let data = SSHSignature.signedData(
            namespace: namespace.bytes, messageDigest: try SHA256.digest(statement))
        let numbers = try key.sign(data)
        let signature = SSHSignature(
            publicKey: publicKey, namespace: namespace, r: numbers.r, s: numbers.s)
        receipts.append(
            ReceiptAnswer(
                statement: statement, signature: signature.blob,
                isGranted: isGranted && version > 1))
        let entry = ReceiptEntry.bytes(
            statement: statement, signature: signature.blob,
            grantedCounter: isGranted && version > 1 ? counter : nil)
        head = (counter, try SHA256.digest(entry))
    }

    /// What the daemon answers.
    var script: [DaemonStep] {
        let end = DaemonStep.send(.chainHead(counter: head.counter, digest: head.digest))
        return [.receive, end] + signers.map { .send(.signer($0)) }
            + receipts.map { .send(.receipt($0)) } + [.send(.done(DoneAnswer()))]
    }
}

private func log(_ options: String..., from log: SampleLog) throws -> Run {
    try signet(["log", "--account", "daemon"] + options, [log.script])
}

@Suite("signet log")
struct LogTests {
    @Test("shows a line for each receipt")
    func list() throws {
        var sample = try SampleLog(count: 2)
        sample.receipts.append(
            ReceiptAnswer(statement: [1], signature: [2], isGranted: false))
        let run = try log(from: sample)
        #expect(run.code == .done)
        #expect(run.requests == [.log(LogRequest(account: SampleLog.account))])
        let line = "2026-11-20 17:24:00Z sudo pts/3 \"sudo apt\\x0aupgrade\" fingerprint\n"
        #expect(
            run.output == "#1 \(line)#3 \(line)the receipt at position 3 cannot be read: "
                + "see 'signet log --verify'\n")
        let document = try log("--json", from: sample).document("log")
        let receipts = document["receipts"] as? [[String: Any]]
        #expect(receipts?.map { $0["readable"] as? Bool } == [true, true, false])
        #expect(receipts?.first?["purpose"] as? String == "sudo apt\nupgrade")
        #expect(receipts?.first?["counter"] as? Int == 1)
        let empty = try signet(
            ["log", "--account", "daemon"], [answering(.done(DoneAnswer()))])
        #expect(empty.output == "there are no receipts for daemon\n")
    }

    @Test("says why numbers are skipped, beside the receipts and beside that nothing is missing")
    func gaps() throws {
        let text = "a number that is skipped belongs to a touch that was asked for and not "
        let sample = try SampleLog(count: 2)
        #expect(try log(from: sample).errors.hasPrefix(text))
        #expect(try log("--verify", from: sample).errors.hasPrefix(text))
        #expect(try log("--json", from: sample).errors == "")
        #expect(try log(from: try SampleLog(count: 1)).errors == "")
    }

    @Test("--signers shows the registered keys as they are")
    func signers() throws {
        let sample = try SampleLog(count: 1)
        let run = try log("--signers", from: sample)
        #expect(Bytes(run.output.utf8) == sample.signers[0] + [10])
    }

    @Test("says of a receipt that was not granted that it was not, and of older ones nothing")
    func granted() throws {
        var sample = try SampleLog(count: 0)
        try sample.append(counter: 1, version: 1)
        try sample.append(counter: 2)
        try sample.append(counter: 3, isGranted: false)
        let run = try log(from: sample)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.map { $0.hasSuffix("fingerprint, not granted") } == [false, false, true])
        #expect(run.errors.contains("'not granted': the finger matched"))
        let document = try log("--json", from: sample).document("log")
        let receipts = try #require(document["receipts"] as? [[String: Any]])
        #expect(receipts.map { $0["granted"] as? Bool } == [nil, true, false])
        let ordinary = try log(from: SampleLog(count: 1))
        #expect(!ordinary.output.contains("granted") && ordinary.errors.isEmpty)
        #expect(try log("--verify", from: sample).code == .done)
    }

    @Test("--verify finds what says that a receipt was granted taken away, or put in")
    func grantAltered() throws {
        for index in 0..<3 {
            var sample = try SampleLog(count: 0)
            for counter in 1...3 {
                try sample.append(counter: UInt64(counter), isGranted: counter != 2)
            }
            #expect(try log("--verify", from: sample).code == .done)
            sample.receipts[index].isGranted.toggle()
            let run = try log("--verify", from: sample)
            #expect(run.code == .denied, "\(index)")
            let shown = min(index + 2, 3)
            #expect(run.output.hasPrefix("receipt #\(shown): it does not follow"), "\(index)")
        }
    }

    @Test("--verify finds nothing wrong where nothing is")
    func intact() throws {
        let run = try log("--verify", from: SampleLog(count: 3))
        #expect(run.code == .done)
        #expect(run.output == "3 receipts: all signatures are valid, and nothing is missing\n")
        let json = try log("--verify", "--json", from: SampleLog(count: 1))
        #expect(try json.document("log-check")["intact"] as? Bool == true)
        #expect(try log("--verify", from: SampleLog(count: 0)).code == .done)
        let nothing = try signet(
            ["log", "--verify", "--account", "daemon"], [answering(.done(DoneAnswer()))])
        #expect(nothing.code == .done)
    }

    @Test("--verify accepts receipts of versions 1 and 2 in one chain, and shows other requesters")
    func mixed() throws {
        var sample = try SampleLog(count: 0)
        try sample.append(counter: 1, version: 1)
        try sample.append(counter: 2, version: 1)
        try sample.append(counter: 3)
        try sample.append(counter: 4, requester: "bob")
        let run = try log("--verify", from: sample)
        #expect(run.output == "4 receipts: all signatures are valid, and nothing is missing\n")
        let lines = try log(from: sample).output.split(separator: "\n")
        #expect(lines.map { $0.hasSuffix(", asked by bob") } == [false, false, false, true])
        let document = try log("--json", from: sample).document("log")
        let receipts = try #require(document["receipts"] as? [[String: Any]])
        #expect(receipts.map { $0["requester"] as? String } == [nil, nil, "daemon", "bob"])
        // A receipt that is made an old one is an altered one.
        let altered = String(decoding: sample.receipts[2].statement, as: UTF8.self)
            .replacingOccurrences(of: "signet-statement: 2", with: "signet-statement: 1")
            .replacingOccurrences(of: "requester: daemon\n", with: "")
            .replacingOccurrences(of: "command: \n", with: "")
        sample.receipts[2].statement = Bytes(altered.utf8)
        try expectFault(sample, "receipt #3: its signature is invalid: it was altered")
    }

    private func expectFault(_ sample: SampleLog, _ text: String) throws {
        let run = try log("--verify", from: sample)
        #expect(run.code == .denied)
        #expect(run.output.hasPrefix(text), "\(run.output)")
        let document = try log("--verify", "--json", from: sample).document("log-check")
        #expect(document["intact"] as? Bool == false)
        #expect((document["problem"] as? String)?.hasPrefix(text) == true)
    }

    @Test("--verify finds a receipt that was altered, removed, moved, doubled or put in")
    func altered() throws {
        let good = try SampleLog(count: 4)
        var sample = good
        let altered = String(decoding: good.receipts[1].statement, as: UTF8.self)
            .replacingOccurrences(of: "pts/3", with: "pts/4")
        sample.receipts[1].statement = Bytes(altered.utf8)
        try expectFault(sample, "receipt #3: its signature is invalid: it was altered")
        sample = good
        sample.receipts.remove(at: 1)
        try expectFault(sample, "receipt #5: it does not follow the receipt before it")
        sample = good
        sample.receipts.removeFirst()
        try expectFault(sample, "receipt #3: it does not follow the receipt before it")
        sample = good
        sample.receipts.swapAt(1, 2)
        try expectFault(sample, "receipt #5: it does not follow the receipt before it")
        sample = good
        sample.receipts.insert(good.receipts[1], at: 2)
        try expectFault(sample, "receipt #3: it does not follow the receipt before it")
        sample = good
        sample.receipts[2] = ReceiptAnswer(statement: [1], signature: [2], isGranted: false)
        try expectFault(sample, "receipt at position 3: it cannot be read")
    }

    @Test("--verify checks a secret's receipt like a login's, and shows what it was for")
    func secret() throws {
        var sample = try SampleLog(count: 1)
        try sample.append(counter: 5, namespace: .secret)
        #expect(try log("--verify", from: sample).code == .done)
        let receipts = try #require(
            try log("--json", from: sample).document("log")["receipts"] as? [[String: Any]])
        let uses = receipts.map { $0["namespace"] as? String }
        #expect(uses == ["login@signet", "secret@signet"])
        let scratch = try Scratch()
        for (number, use) in [("1", "login@signet"), ("5", "secret@signet")] {
            let directory = scratch.at(number)
            let exported = try log("--export", number, "--to", directory, from: sample)
            #expect(exported.output.contains("-I daemon -n \(use) -s statement.sig"))
        }
    }

    @Test("--verify finds that the end was removed")
    func tail() throws {
        var sample = try SampleLog(count: 4)
        sample.receipts.removeLast()
        try expectFault(sample, "receipt #7, the newest known to the service, is missing")
        sample.receipts.removeAll()
        try expectFault(sample, "receipt #7, the newest known to the service, is missing")
    }

    @Test("--verify finds another's key, another use, a number that does not grow")
    func strangers() throws {
        var sample = try SampleLog(count: 2)
        sample.signers = try SampleLog(count: 0).signers
        try expectFault(sample, "receipt #1: it was signed by a key that was never registered")
        sample = try SampleLog(count: 1)
        try sample.append(counter: 9, namespace: .file)
        try expectFault(sample, "receipt #9: its signature is invalid")
        sample = try SampleLog(count: 2)
        try sample.append(counter: 2)
        try expectFault(sample, "receipt #2: its number is not greater")
        sample = try SampleLog(count: 1)
        sample.signers = [Bytes("nonsense".utf8)]
        try expectFault(sample, "the list of registered keys cannot be read")
    }

    @Test("reports that the daemon could not read on")
    func damaged() throws {
        let sample = try SampleLog(count: 2)
        let denial = Denial(.storage, subject: Bytes("a receipt is damaged".utf8))
        let script: [DaemonStep] = sample.script.dropLast() + [.send(.denial(denial))]
        let check = try signet(["log", "--verify", "--account", "daemon"], [script])
        #expect(check.code == .denied)
        #expect(check.output.hasPrefix("receipt at position 3: it cannot be read"))
        let list = try signet(["log", "--account", "daemon"], [script])
        #expect(list.code == .fault)
        #expect(list.output.contains("#3 "))
        #expect(list.errors.contains("could not be read or written: a receipt is damaged"))
    }

    @Test("--verify without a head from the daemon proves nothing")
    func headless() throws {
        let sample = try SampleLog(count: 1)
        let run = try signet(
            ["log", "--verify", "--account", "daemon"],
            [answering(.receipt(sample.receipts[0]), .done(DoneAnswer()))])
        #expect(run.code == .denied)
        #expect(run.output.hasPrefix("the service did not report where the receipts end"))
    }
}

@Suite("signet log --export")
struct ExportTests {
    private func keygen(_ scratch: Scratch, _ signer: String, namespace: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ssh-keygen")
        process.arguments = [
            "-Y", "verify", "-f", scratch.at("out/signers"), "-I", signer, "-n", namespace, "-s",
            scratch.at("out/statement.sig"),
        ]
        process.standardInput = try FileHandle(
            forReadingFrom: URL(fileURLWithPath: scratch.at("out/statement")))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test("prints a command in which any name of an account remains one word")
    func quoted() {
        let text = LogMessages.checkCommand("CORP\\al ice", namespace: Bytes("login@signet".utf8))
        #expect(
            String(decoding: text.bytes, as: UTF8.self).contains(
                "-I 'CORP\\al ice' -n login@signet"))
    }

    @Test("writes what stock ssh-keygen accepts, and refuses when anything is changed")
    func export() throws {
        let scratch = try Scratch()
        let sample = try SampleLog(count: 3)
        let words = [
            "log", "--account", "daemon", "--export", "3", "--to", scratch.at("out"),
        ]
        let run = try signet(words, [sample.script])
        #expect(run.code == .done)
        #expect(run.output.contains("ssh-keygen -Y verify -f signers -I daemon -n login@signet"))
        #expect(try scratch.read("out/statement") == sample.receipts[1].statement)
        #expect(try keygen(scratch, "daemon", namespace: "login@signet"))
        #expect(try !keygen(scratch, "daemon", namespace: "file@signet"))
        #expect(try !keygen(scratch, "alice", namespace: "login@signet"))
        var text = try scratch.read("out/statement")
        text[30] ^= 1
        try scratch.write("out/statement", String(decoding: text, as: UTF8.self))
        #expect(try !keygen(scratch, "daemon", namespace: "login@signet"))
    }

    @Test("overwrites nothing, and says which receipts there are not")
    func refused() throws {
        let scratch = try Scratch()
        try scratch.write("out/statement.sig", "mine")
        let sample = try SampleLog(count: 1)
        let words = ["log", "--account", "daemon", "--to", scratch.at("out"), "--export"]
        let run = try signet(words + ["1"], [sample.script])
        #expect(run.code == .denied)
        #expect(run.errors.contains("out/statement.sig already exists and is not overwritten"))
        #expect(try scratch.read("out/statement.sig") == Bytes("mine".utf8))
        #expect(throws: (any Error).self) { try scratch.read("out/statement") }
        let missing = try signet(words + ["2"], [sample.script])
        #expect(missing.code == .denied)
        #expect(missing.errors.contains("there is no receipt #2 for daemon"))
        let nowhere = try signet(
            ["log", "--account", "daemon", "--export", "1", "--to", scratch.at("a/b")],
            [sample.script])
        #expect(nowhere.code == .fault)
        #expect(nowhere.errors.contains("mkdir"))
    }
}
