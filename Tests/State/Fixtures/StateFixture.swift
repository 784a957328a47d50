// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import TestSupport
import Testing

/// A state directory of a test's own, with an account `alice`.
struct StateFixture {
    static let alice: AccountName = "alice"
    static let uid: UInt32 = 1000
    static let now = Instant(seconds: 1_795_195_440)
    static let reader = Array("virtual".utf8)

    let scratch: Scratch
    let state: StateDirectory
    let account: AccountState
    let vault: FileVault

    init() throws {
        scratch = try Scratch()
        #expect(unsafe chmod(scratch.path, 0o755) == 0)
        state = try StateDirectory.open(scratch.path)
        account = try state.makeAccount(Self.alice, uid: Self.uid, now: Self.now)
        vault = FileVault(host: state.host)
    }

    /// Alice's state in a directory whose durable changes fail at a step, once armed.
    func account(failing plan: FaultPlan) throws -> AccountState {
        let state = try StateDirectory.open(scratch.path, faults: plan.faults)
        return try #require(try state.account(Self.alice, uid: Self.uid))
    }

    /// Adds a print whose template is made of one number.
    @discardableResult
    func add(_ number: UInt8, _ finger: Finger = .rightIndex) throws -> PrintID {
        var template = [UInt8](repeating: number, count: 500)
        return try account.prints.add(
            &template, finger: finger, reader: Self.reader, now: Self.now)
    }

    /// The path of one of Alice's files.
    func file(_ name: String) -> String {
        scratch.at("private/accounts/\(Self.uid)/\(name)")
    }

    /// The path of Alice's public key.
    var publicKey: String { scratch.at("keys/\(Self.uid).pub") }

    func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// A file's bytes, as root reads them.
    func contents(_ path: String) throws -> [UInt8] { try TrustedFile.read(path, cap: 1 << 22) }

    /// Writes a file of the state as an attacker or a broken disk would.
    func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        let parts = path.split(separator: "/")
        let parent = "/" + parts.dropLast().joined(separator: "/")
        try Directory.open(parent).replace(String(parts.last ?? ""), bytes: bytes)
    }

    /// Signs with Alice's key under these prints, if it opens for them.
    func sign(
        _ message: [UInt8], _ credential: StoredCredential, _ enrolment: Enrolment
    ) throws -> P256Signature {
        let context = try account.credential.context(of: credential, enrolment: enrolment)
        return try vault.ready(key: credential.sealed, context: context).sign(message, context)
    }

    /// Issues Alice's credential for the prints as they are.
    @discardableResult
    func issue() throws -> StoredCredential {
        try account.credential.issue(
            try account.prints.enrolment(), vault: vault, now: Self.now)
    }
}

/// Fails the n-th durable step after it was armed.
// SAFETY: a test uses its plan from one thread at a time.
final class FaultPlan: @unchecked Sendable {
    private var left = -1
    private var times = Int.max
    private(set) var reached: [DurableStep] = []

    /// Lets `steps` steps pass and fails the next one, and so many of those behind it.
    func arm(after steps: Int, times: Int = .max) {
        left = steps
        self.times = times
        reached = []
    }

    /// Lets everything pass.
    func disarm() { left = -1 }

    var faults: DurableFaults {
        DurableFaults { [self] (step, name) throws(SystemFault) in
            guard left >= 0 else { return }
            reached.append(step)
            if left == 0 {
                // A disk that failed once stays broken until the plan is disarmed, if not told otherwise.
                times -= 1
                if times == 0 { left = -1 }
                throw SystemFault("test", on: name, code: ENOSPC)
            }
            left -= 1
        }
    }
}
