// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// A request that changes what is kept, and what people find before and after it.
struct Step: Sendable, CustomStringConvertible {
    let description: String
    /// Whose account it changes. `daemon` has the finger `one` and maybe `two`, `bin` has none.
    var person = Person.daemon
    /// The scans that are accepted before and after, by finger, where login by finger is on.
    var before: [Finger: String] = [.rightIndex: "one"]
    var after: [Finger: String] = [.rightIndex: "one"]
    /// Failed matches to begin with.
    var failures: UInt32 = 2
    /// A secret of daemon's, before and after where the fingers stay; `mail` is there from the
    /// beginning.
    var secret: (name: String, before: Bytes?, after: Bytes?) = ("mail", Step.mail, Step.mail)
    /// Whether what leads to the state before changes files beside the daemon.
    var isByHand = false
    /// What else leads to the state before.
    var prepare: @Sendable (DaemonFixture) throws -> Void = { _ in }
    /// The request, and what the person does; the answer that ends it.
    let run: @Sendable (DaemonFixture) throws -> Answer

    private static let name = Person.daemon.account
    static let mail: Bytes = [1, 2, 3]
    private static let two: [Finger: String] = [.rightIndex: "one", .leftIndex: "two"]

    /// Has `daemon` enrol its fingers and keep a secret.
    func begin(_ fixture: DaemonFixture) throws {
        try fixture.enrol(.daemon, .rightIndex, as: "one")
        if before[.leftIndex] != nil { try fixture.enrol(.daemon, .leftIndex, as: "two") }
        try #require(try fixture.client().keep(Step.mail, "mail").done != nil)
    }

    /// What is done to fingers, credential, lockout, receipts and secrets.
    static let all: [Step] = [
        Step(
            description: "the first finger", person: .bin, before: [:],
            after: [.rightIndex: "three"], failures: 0,
            run: { try $0.enrol(.bin, .rightIndex, as: "three") }),
        Step(
            description: "a further finger",
            after: [.rightIndex: "one", .leftThumb: "three"],
            run: { try $0.enrol(.daemon, .leftThumb, as: "three") }),
        Step(
            description: "a replaced finger", before: two,
            after: [.rightIndex: "one", .leftIndex: "three"],
            run: { try $0.enrol(.daemon, .leftIndex, as: "three") }),
        Step(
            description: "a deleted finger", before: two,
            run: { try $0.ask(.delete(account: name, finger: .leftIndex)) }),
        Step(
            description: "all fingers deleted", before: two, after: [:],
            run: { try $0.ask(.delete(account: name, finger: nil)) }),
        Step(
            description: "a finger taken over from fprintd",
            after: [.rightIndex: "one", .leftIndex: "two"],
            prepare: { try $0.fprintd.add("daemon", .text, .leftIndex) },
            run: { try $0.ask(.importPrint(account: name)) }),
        Step(
            description: "enable",
            prepare: { _ = try $0.ask(.disable(account: name)) },
            run: { try $0.ask(.enable(account: name)) }),
        Step(description: "enable again", run: { try $0.ask(.enable(account: name)) }),
        Step(description: "disable", run: { try $0.ask(.disable(account: name)) }),
        Step(
            description: "invalidation", isByHand: true,
            prepare: { fixture in
                let print = try #require(fixture.prints(of: .daemon).first)
                try DaemonFixture.damage(print)
            }, run: { try $0.ask(.login(.daemon)) }),
        Step(
            description: "login",
            run: { try $0.touchEach(.login(.daemon, tries: 1), with: "one") }),
        Step(
            description: "a failed match",
            run: { try $0.touchEach(.login(.daemon, tries: 1), with: "stranger") }),
        Step(
            description: "a lockout", failures: 4,
            run: { try $0.touchEach(.login(.daemon, tries: 1), with: "stranger") }),
        Step(
            description: "unlock", failures: 20,
            run: { try $0.ask(.unlock(account: name)) }),
        Step(
            description: "a new secret", secret: ("more", nil, [9]),
            run: { try $0.client().keep([9], "more") }),
        Step(
            description: "a replaced secret", secret: ("mail", mail, [9]),
            run: { try $0.client().keep([9], "mail", replacing: true) }),
        Step(
            description: "a deleted secret", secret: ("mail", mail, nil),
            run: { try $0.ask(.secretDelete(account: name, name: Bytes("mail".utf8))) }),
        Step(
            description: "a released secret",
            run: { try $0.touchEach(.get("mail"), with: "one") }),
    ]

    /// What uses the TPM beside the moves, where keys are made in it.
    static let withTPM: [Step] = [
        all[0], all[1],
        Step(description: "enable in the TPM", run: { try $0.ask(.enable(account: name)) }),
        Step(
            description: "a login with the TPM",
            // The daemon may die between its notice and the touch.
            run: {
                try $0.touchEach(
                    .login(.daemon, tries: 1), with: "one", within: .seconds(1))
            }),
    ]

    /// From one vault to the other.
    static let moves: [Step] = [
        Step(
            description: "a move to the TPM",
            prepare: { fixture in
                _ = try fixture.ask(.migrate(account: name, vault: Bytes("file".utf8)))
                // The fingerprints' key is made again as well.
                let keys = fixture.state + "/private/template-keys"
                for key in Layout.entries(of: keys) { _ = unsafe unlink("\(keys)/\(key)") }
            },
            run: { try $0.ask(.migrate(account: name, vault: Bytes("tpm".utf8))) }),
        Step(
            description: "a move to files",
            run: { try $0.ask(.migrate(account: name, vault: Bytes("file".utf8))) }),
    ]
}

/// How an account stands, as its owner sees it.
struct AccountImage: Equatable {
    let fingers: [Finger]
    let damaged: UInt8
    let generation: UInt64
    let state: CredentialState
    let lock: LockState
    /// The line of the public key that the PAM module reads.
    let key: Bytes?
    let failures: UInt32

    init(of person: Person, _ fixture: DaemonFixture) throws {
        // The daemon completes what a crash left when it is asked; the files are read after it.
        let status = try fixture.status(of: person)
        let client = try fixture.client()
        try client.send(.list(account: person.account))
        var fingers: [Finger] = []
        for answer in try client.rest() {
            if case .print(let print) = answer, let finger = print.finger { fingers.append(finger) }
        }
        self.fingers = fingers.sorted { $0.rawValue < $1.rawValue }
        damaged = status.damaged
        generation = status.generation
        state = status.state
        lock = status.lock
        key = try? Layout.read(fixture.publicKey(of: person))
        failures = (try? fixture.failures(of: person)) ?? 0
    }

    /// Whether two are the same but for failed matches and, where both have one, the key.
    func isLike(_ other: AccountImage) -> Bool {
        fingers == other.fingers && damaged == other.damaged && generation == other.generation
            && state == other.state && (key == nil) == (other.key == nil)
    }
}

/// The files of all accounts, to be put back under a daemon that runs: it keeps nothing in memory.
struct Snapshot {
    private let fixture: DaemonFixture
    private let files: [(path: String, bytes: Bytes)]
    private static let places = [
        "private/accounts", "private/comparisons", "private/template-keys", "keys",
    ]

    init(_ fixture: DaemonFixture) throws {
        self.fixture = fixture
        files = try Self.places.flatMap { try Self.files(in: "\(fixture.state)/\($0)") }
            .map { ($0, try Layout.read($0)) }
    }

    /// Puts everything back as it was.
    func restore() throws {
        for place in Self.places {
            for path in try Self.files(in: "\(fixture.state)/\(place)") { _ = unsafe unlink(path) }
        }
        for entry in Layout.entries(of: fixture.state + "/private/accounts") {
            let account = "\(fixture.state)/private/accounts/\(entry)"
            for part in Layout.entries(of: account) { _ = unsafe rmdir("\(account)/\(part)") }
            _ = unsafe rmdir(account)
        }
        for (path, bytes) in files {
            for directory in [
                Layout.directory(of: Layout.directory(of: path)), Layout.directory(of: path),
            ] where directory.hasPrefix(fixture.state + "/private/accounts/") {
                _ = unsafe mkdir(directory, 0o700)
            }
            let isPublic = path.hasPrefix(fixture.state + "/keys/")
            try DaemonFixture.write(bytes, to: path, mode: isPublic ? 0o644 : 0o600)
        }
    }

    /// Puts everything back, has the daemon die at a step of a change, from 1, and starts it anew.
    /// Gives the answer, if that came before.
    func kill(
        at point: Int, _ failpoint: Failpoint, _ change: (DaemonFixture) throws -> Answer,
        to person: Person = .daemon
    ) throws -> Answer? {
        try restore()
        failpoint.arm(at: point)
        let answer = try? change(fixture)
        // What is done behind the answer.
        if answer != nil { _ = try? fixture.ask(.status(account: person.account)) }
        let ended = try fixture.program.expectEnd(within: .seconds(10)).ending
        #expect(ended == .killed(SIGKILL), "\(point)")
        failpoint.arm()
        try fixture.restart(by: SIGKILL)
        return answer
    }

    /// All files below a directory, also those that a shell does not show.
    static func files(in directory: String) throws -> [String] {
        var found: [String] = []
        for name in Layout.entries(of: directory) + Layout.hidden(in: directory) {
            let path = "\(directory)/\(name)"
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                found += try files(in: path)
            } else {
                found.append(path)
            }
        }
        return found
    }
}
