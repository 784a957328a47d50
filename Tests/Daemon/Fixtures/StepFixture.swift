// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// A daemon with accounts as one step finds them, and what they are like before and after it.
struct StepFixture {
    let step: Step
    let daemon: DaemonFixture
    let failpoint: Failpoint
    let snapshot: Snapshot
    /// How many durable steps there are.
    let points: Int
    /// How many TPM commands there are.
    let commands: Int
    private let scratch: Scratch
    private let before: AccountImage
    private let after: AccountImage

    init(_ step: Step, tpm: TPMInterposer? = nil) throws {
        let scratch = try Scratch()
        failpoint = try Failpoint(path: scratch.at("failpoint"))
        self.scratch = scratch
        self.step = step
        let vault = tpm.map { "[vault]\nkind = tpm\ntpm = \($0.tcti)\n" } ?? ""
        daemon = try DaemonFixture([.text], configuration: vault, failpoint: failpoint)
        try step.begin(daemon)
        let answer = try daemon.touchEach(.login(.daemon, tries: 1), with: "one")
        try #require(answer.assertion != nil)
        _ = try daemon.status(of: .daemon)
        try daemon.setFailures(step.failures, of: .daemon)
        try step.prepare(daemon)
        snapshot = try Snapshot(daemon)
        before = try AccountImage(of: step.person, daemon)
        try snapshot.restore()
        if tpm != nil {
            try daemon.restart()
            // It listens before it has opened the state; what that takes does not belong to the step.
            let client = try daemon.client()
            try client.send(.configuration)
            _ = try client.rest()
        }
        failpoint.arm()
        tpm?.forget()
        _ = try step.run(daemon)
        _ = try daemon.status(of: step.person)
        points = failpoint.reached
        commands = tpm?.exchanges.count ?? 0
        after = try AccountImage(of: step.person, daemon)
        try snapshot.restore()
    }

    /// Checks what is left, on a daemon that runs and a disk that works.
    func check(
        _ place: String, hasAnswered: Bool, hasRestarted: Bool, isBrief: Bool = false
    ) throws {
        let now = try AccountImage(of: step.person, daemon)
        let isOld = now.isLike(before) && now.key == before.key
        // A key that the change made is another one each time.
        let isNew = now.isLike(after) && (now.key == before.key) == (after.key == before.key)
        #expect(isOld || isNew, "\(place): \(now)")
        if hasAnswered { #expect(isNew, "\(place): \(now)") }
        let isForgiven = now.failures < before.failures
        if isForgiven { #expect(after.failures < before.failures && isNew, "\(place)") }
        try checkFiles(now, place, hasRestarted: hasRestarted)
        let (fingers, others) =
            isNew ? (step.after, step.before) : (step.before, step.after)
        try checkLogins(now, fingers, others, place, isBrief: isBrief)
        if !isBrief, now.generation == before.generation {
            try checkSecret(now, hasAnswered, place)
        }
        // What is written behind the last answer is on disk before this one.
        _ = try daemon.status(of: step.person)
    }

    /// As long as the fingers stay, a touch releases what was kept before or after.
    private func checkSecret(_ now: AccountImage, _ hasAnswered: Bool, _ place: String) throws {
        guard now.state == .valid, step.person.uid == Person.daemon.uid else { return }
        let (name, old, new) = step.secret
        let secret = try daemon.get(name, with: "one")
        #expect(secret == new || secret == old && !hasAnswered, "\(place): \(secret ?? [])")
    }

    /// Nothing is left over of what did not come about.
    private func checkFiles(_ now: AccountImage, _ place: String, hasRestarted: Bool) throws {
        let names = try Snapshot.files(in: daemon.state).compactMap {
            $0.split(separator: "/").last
        }
        // A mark that a key was to be exchanged goes at the next start, if it cannot go at once.
        let left = names.filter { $0.hasPrefix(".") || hasRestarted && $0.hasSuffix(".next") }
        #expect(left.isEmpty, "\(place)")
        #expect(daemon.prints(of: step.person).count == now.fingers.count, "\(place)")
    }

    /// The fingers that count are accepted, no other is, and each success has its receipt.
    private func checkLogins(
        _ now: AccountImage, _ fingers: [Finger: String], _ others: [Finger: String],
        _ place: String,
        isBrief: Bool
    ) throws {
        guard now.state == .valid, now.damaged == 0 else {
            #expect(try daemon.ask(.login(step.person)).denial != nil, "\(place)")
            return
        }
        if now.lock != .open {
            try daemon.setFailures(0, of: step.person)
        }
        #expect(Set(now.fingers) == Set(fingers.keys), "\(place)")
        let gone = others.filter { !fingers.values.contains($0.value) }
        // Where nothing was killed, once for each place is enough.
        for id in isBrief ? [] : Array(gone.values) {
            let answer = try daemon.touchEach(.login(step.person, tries: 1), with: id)
            #expect(answer.reason == .noMatch, "\(place): \(id)")
        }
        // The one that the change is about, else any.
        let changed = fingers.first { others[$0.key] != $0.value } ?? fingers.first
        let id = try #require(changed?.value)
        let answer = try daemon.touchEach(.login(step.person, challenge: 9, tries: 1), with: id)
        let proof = try #require(answer.assertion, "\(place): \(answer)")
        try checkProof(proof, now)
        try daemon.receipts(of: step.person).verify()
    }

    /// As the PAM module does it.
    private func checkProof(_ proof: Assertion, _ now: AccountImage) throws {
        let line = try SSHPublicKey.parse(line: try #require(now.key))
        let statement = try Statement(parsing: proof.statement)
        #expect(statement.challenge == .sample(repeating: 9))
        #expect(statement.enrolment == now.generation && statement.uid == step.person.uid)
        let signature = try SSHSignature(blob: proof.signature)
        #expect(signature.publicKey == line.key)
        let data = SSHSignature.signedData(
            namespace: SignatureNamespace.login.bytes,
            messageDigest: try SHA256.digest(proof.statement))
        let numbers = try #require(P256Signature(r: signature.r, s: signature.s))
        #expect(try P256PublicKey(point: line.key.point.bytes).verifies(numbers, message: data))
    }
}
