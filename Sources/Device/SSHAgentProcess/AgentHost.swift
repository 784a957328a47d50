// SPDX-License-Identifier: Apache-2.0
import Domain
import MainContext
import Posix
import SSHAgentProtocol
import SSHProtocol

/// The places where the agent finds others, and how long it waits for them.
package struct AgentPaths: Sendable {
    /// signetd's socket.
    package var daemon = "/run/signet/signetd.sock"
    /// The uid that signetd must have.
    package var daemonUID: UInt32 = 0
    /// How long signetd may take for its first answer, which may have to start on a busy machine. ssh
    /// shows nothing meanwhile, and a server gives it two minutes for all keys and the password.
    package var startLimit = Duration.seconds(30)
    /// How long another agent may take for what needs no person, and signetd to end what was cancelled.
    package var answerLimit = Duration.seconds(5)
    /// How long the touch for a signature, and each word after another, may take.
    package var touchLimit = Duration.seconds(75)
    /// How long the process stays without a client if systemd has started it.
    package var idle = Duration.seconds(30)

    /// The places of an installed system.
    package init() {}
}

/// The agent's own socket, to which it must not connect.
struct OwnSocket: Sendable {
    /// Its path.
    let path: String
    /// Who listens there; nil for systemd, which listens for other agents as well.
    let listener: PeerCredentials?
}

/// What the connections share: settings, lock, hidden keys, and the way to signetd.
///
/// All of it is gone when the process ends, so a process that is locked or hides keys does not end by
/// itself.
@ServiceActor
final class AgentHost {
    let settings: AgentSettings
    let policy: SigningPolicy
    let paths: AgentPaths
    let keys: SignetdKeys
    let own: OwnSocket
    private let clock: Clock
    var lock = AgentLock()
    /// The keys that were taken out of the agent.
    private(set) var hidden: Set<SSHKeyID> = []
    /// Whether all keys were taken out.
    private(set) var hidesAll = false
    /// The names in `destinations` that no key has, as far as they were complained of.
    private var missing: Set<SSHKeyName> = []
    /// How many signatures are awaited by connections that come from other machines.
    private var forwardedSignatures = 0
    /// The signatures that are awaited.
    private var signatures: [ObjectIdentifier: SignetdCall] = [:]
    /// The tokens that are on their way to other agents.
    private var tokens: Set<AgentLoopToken> = []
    /// Called when the process may have become idle, or has something to remember.
    var changed: () -> Void = {}

    init(
        _ settings: AgentSettings, paths: AgentPaths, account: AccountName, own: OwnSocket,
        clock: Clock
    ) {
        self.own = own
        self.settings = settings
        self.paths = paths
        self.clock = clock
        policy = SigningPolicy(settings)
        keys = SignetdKeys(paths: paths, account: account)
    }

    /// The time since boot.
    var now: Duration { clock.sinceBoot() }

    /// Whether ending the process would undo what a client has asked for.
    var remembers: Bool { lock.isLocked || hidesAll || !hidden.isEmpty }

    /// Takes a key out of the agent until the process ends.
    func hide(_ key: SSHKeyID) {
        hidden.insert(key)
        changed()
    }

    /// Takes all keys out of the agent until the process ends.
    func hideAll() {
        hidesAll = true
        changed()
    }

    /// Takes the one place for a signature that another machine asks for; false if it is taken.
    ///
    /// The reader serves one request after another. Without this limit, a host that the agent is
    /// forwarded to could occupy all of the user's places there.
    func beginForwarded() -> Bool {
        guard forwardedSignatures < 1 else { return false }
        forwardedSignatures += 1
        return true
    }

    /// Gives that place back.
    func endForwarded() { forwardedSignatures -= 1 }

    /// Notes a signature that is awaited, so that `cancelSignatures` takes it back.
    func begin(_ signature: SignetdCall) {
        signatures[ObjectIdentifier(signature)] = signature
    }

    /// Notes that a signature is not awaited any more, whatever its outcome.
    func end(_ signature: SignetdCall) { signatures[ObjectIdentifier(signature)] = nil }

    /// Takes back all requests for signatures: no touch is awaited for them any more.
    func cancelSignatures() {
        for signature in signatures.values { signature.cancel() }
    }

    /// Notes a token that is passed on; false if it is on its way already, so that it came back.
    func begin(_ token: AgentLoopToken) -> Bool { tokens.insert(token).inserted }

    /// Forgets a token, which was answered.
    func end(_ token: AgentLoopToken) { tokens.remove(token) }

    /// Complains once of each name in `destinations` that no key has: its rules restrict nothing.
    func checkDestinations(of names: [SSHKeyName]) {
        for name in settings.destinations.keys
        where !names.contains(name) && missing.insert(name).inserted {
            complain(
                "agent.conf: 'destinations' names the key '\(String(decoding: name.bytes, as: UTF8.self))', which does not exist, so it restricts nothing. 'signet ssh list' shows the names"
            )
        }
    }

    /// Writes a line to standard error, which systemd adds to the user's journal.
    func complain(_ line: String) { Posix.complain("signet-agent: \(line)") }
}
