// SPDX-License-Identifier: Apache-2.0
import Configuration
import Domain
import SSHAgentProcess
import SSHAgentProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("What the agent has signed")
struct SigningPolicyTests {
    private static let local = PeerKind(.client, isRemote: false)
    private static let ssh = PeerKind(.ssh, isRemote: false)
    private static let relay = PeerKind(.relay, isRemote: false)
    private static let remote = PeerKind(.client, isRemote: true)
    private static let remoteSSH = PeerKind(.ssh, isRemote: true)
    private static let name = known(SSHKeyName([UInt8]("work".utf8)))
    private let near: TestHost
    private let far: TestHost

    init() throws {
        near = try TestHost()
        far = try TestHost()
    }

    private func settings(_ lines: String...) throws -> AgentSettings {
        let text = (["[agent]"] + lines).joined(separator: "\n")
        return try AgentSettings(
            Configuration(AgentSettings.table, files: [("agent.conf", [UInt8](text.utf8))]),
            file: "agent.conf")
    }

    private static let id = [UInt8](repeating: 1, count: 32)

    /// A login at `near` or another host, stated or not.
    private func login(
        session: [UInt8] = id, at host: TestHost?, user: String = "alice"
    ) throws -> SSHSignedData {
        let data = SSHData.Request.with {
            $0.session = SSHData.string(session)
            $0.user = SSHData.string(user)
            $0.algorithm = SSHData.string("ecdsa-sha2-nistp256")
            if let host {
                $0.host = SSHData.string(host.blob)
            } else {
                $0.method = SSHData.string("publickey")
                $0.host = []
            }
        }
        return try SSHSignedData(parsing: data, algorithm: "ecdsa-sha2-nistp256")
    }

    private func file() throws -> SSHSignedData {
        try SSHSignedData(
            parsing: SSHData.Signature().bytes, algorithm: "ecdsa-sha2-nistp256")
    }

    private func sessions(
        forwardedBy hops: [TestHost] = [], to host: TestHost?
    ) throws -> ConnectionSessions {
        var sessions = ConnectionSessions()
        for (number, hop) in hops.enumerated() {
            try sessions.add(
                hop.session([UInt8](repeating: UInt8(100 + number), count: 32), isForwarding: true))
        }
        if let host { try sessions.add(host.session(Self.id)) }
        return sessions
    }

    private func refusal(
        _ content: SSHSignedData, _ sessions: ConnectionSessions, _ peer: PeerKind = local,
        _ settings: AgentSettings = AgentSettings()
    ) -> SigningPolicy.Refusal? {
        do throws(SigningPolicy.Refusal) {
            _ = try SigningPolicy(settings).way(
                of: content, over: sessions, from: peer, by: Self.name)
            return nil
        } catch { return error }
    }

    @Test("a login over a bound connection must be for its session and its host")
    func bound() throws {
        let here = try sessions(to: near)
        #expect(refusal(try login(at: near), here) == nil)
        #expect(refusal(try login(at: nil), here) == nil)
        #expect(refusal(try login(at: far), here) == .otherHost)
        let other = [UInt8](repeating: 2, count: 32)
        #expect(refusal(try login(session: other, at: near), here) == .otherSession)
        #expect(refusal(try file(), here) == .otherSession)
        #expect(refusal(try login(at: near), here, Self.ssh) == nil)
        var failed = here
        failed.fail()
        #expect(refusal(try login(at: near), failed) == .failedBinding)
    }

    @Test("a forwarded login is told with its hosts, and must be for the last session")
    func forwarded() throws {
        let way = try SigningPolicy(AgentSettings()).way(
            of: login(at: far), over: sessions(forwardedBy: [near], to: far), from: Self.ssh,
            by: Self.name)
        #expect(way.forwarders == [try near.session(Self.id).fingerprint])
        #expect(way.host == (try far.session(Self.id).fingerprint))
        let first = [UInt8](repeating: 100, count: 32)
        let over = try sessions(forwardedBy: [near], to: far)
        #expect(refusal(try login(session: first, at: near), over) == .otherSession)
    }

    @Test("a forwarded login that states no host is refused, whoever has signed its session")
    func hostNotStated() throws {
        // `far` has signed the session id that `near` has with some third host.
        let over = try sessions(forwardedBy: [near], to: far)
        #expect(refusal(try login(at: nil), over, Self.ssh) == .hostNotStated)
        let allowing = try settings("unnamed-forwarding = yes")
        #expect(refusal(try login(at: nil), over, Self.ssh, allowing) == .hostNotStated)
        let farther = try sessions(forwardedBy: [near, TestHost()], to: far)
        #expect(refusal(try login(at: nil), farther, Self.ssh) == .hostNotStated)
        // The first host is the one that ssh of this machine has reached.
        #expect(refusal(try login(at: nil), try sessions(to: far), Self.ssh) == nil)
    }

    @Test("a relay, and a program of a remote session, are refused even with a proven session")
    func boundRelays() throws {
        let allowing = try settings("unnamed-forwarding = yes")
        let here = try sessions(to: near)
        let over = try sessions(forwardedBy: [near], to: far)
        for peer in [Self.relay, Self.remote, Self.remoteSSH] {
            #expect(refusal(try login(at: near), here, peer) == .unnamedForwarding)
            #expect(refusal(try login(at: far), over, peer) == .unnamedForwarding)
            #expect(refusal(try login(at: near), here, peer, allowing) == nil)
            #expect(refusal(try login(at: far), here, peer, allowing) == .otherHost)
        }
    }

    @Test("a forwarded connection that does not say where it leads signs nothing, unless allowed")
    func unnamed() throws {
        let allowing = try settings("unnamed-forwarding = yes")
        let forwarded = try sessions(forwardedBy: [near], to: nil)
        let none = ConnectionSessions()
        for content in [try login(at: far), try login(at: nil), try file()] {
            #expect(refusal(content, forwarded) == .unnamedForwarding)
            #expect(refusal(content, none, Self.ssh) == .unnamedForwarding)
            #expect(refusal(content, none, Self.relay) == .unnamedForwarding)
            #expect(refusal(content, none, Self.remote) == .unnamedForwarding)
            #expect(refusal(content, forwarded, Self.local, allowing) == nil)
            #expect(refusal(content, none, Self.ssh, allowing) == nil)
            #expect(refusal(content, none, Self.relay, allowing) == nil)
            #expect(refusal(content, none, Self.remote, allowing) == nil)
        }
    }

    @Test("a local program need not name its session, unless the user demands it")
    func unbound() throws {
        let strict = try settings("unbound = no")
        let none = ConnectionSessions()
        #expect(refusal(try login(at: nil), none) == nil)
        #expect(refusal(try file(), none) == nil)
        #expect(refusal(try login(at: near), none, Self.local, strict) == .unbound)
        #expect(refusal(try file(), none, Self.local, strict) == nil)
        #expect(refusal(try login(at: near), try sessions(to: near), Self.local, strict) == nil)
    }

    @Test("a restricted key signs logins at its destinations, and nothing else")
    func restricted() throws {
        func text(_ host: TestHost) throws -> String {
            String(decoding: try host.session(Self.id).fingerprint.text, as: UTF8.self)
        }
        let rules = try settings(
            "unnamed-forwarding = yes",
            "destinations = work:alice@\(text(near)), work:\(text(near))>\(text(far))")
        func refusal(_ content: SSHSignedData, _ over: ConnectionSessions) -> SigningPolicy
            .Refusal?
        {
            self.refusal(content, over, Self.local, rules)
        }
        #expect(refusal(try login(at: near), try sessions(to: near)) == nil)
        #expect(refusal(try login(at: near, user: "bob"), try sessions(to: near)) == .destination)
        #expect(refusal(try login(at: far), try sessions(to: far)) == .destination)
        #expect(
            refusal(try login(at: far, user: "bob"), try sessions(forwardedBy: [near], to: far))
                == nil)
        #expect(refusal(try login(at: near), ConnectionSessions()) == .destination)
        #expect(refusal(try file(), ConnectionSessions()) == .destination)
        #expect(refusal(try file(), try sessions(forwardedBy: [near], to: nil)) == .destination)
        let policy = SigningPolicy(rules)
        #expect(policy.lists(Self.name, over: ConnectionSessions()))
        #expect(policy.lists(Self.name, over: try sessions(to: near)))
        #expect(!policy.lists(Self.name, over: try sessions(to: far)))
        let free = known(SSHKeyName([UInt8]("free".utf8)))
        #expect(policy.lists(free, over: try sessions(to: far)))
    }

    @Test("a settings file with a mistake is refused as a whole")
    func mistakes() throws {
        let good = try settings("upstream = /run/a", "unbound = no")
        #expect(good.upstream == "/run/a" && !good.allowsUnbound && !good.allowsUnnamedForwarding)
        #expect(try settings("upstream = none").upstream == nil)
        for line in [
            "upstream = run/a", "upstream = ~/a", "upstream = %h/a", "unbound = maybe",
            "unnamed-forwarding =", "destinations = work",
            "destinations = work:alice", "destinations = a b:SHA256:x", "other = 1",
            "destinations = work:SHA256:AAAA",
        ] {
            #expect(throws: ConfigurationFault.self) { try settings(line) }
        }
    }

    @Test("each refusal says what it is")
    func texts() {
        let texts = SigningPolicy.Refusal.allCases.map(\.text)
        #expect(Set(texts).count == texts.count && texts.allSatisfy { !$0.isEmpty })
    }
}

@Suite("The agent's lock")
struct AgentLockTests {
    /// A lock, and what was done to it.
    private final class Door {
        var lock = AgentLock()

        func locks(_ passphrase: [UInt8]) -> Bool { number(lockedWith: passphrase) != nil }

        func number(lockedWith passphrase: [UInt8]) -> Int? { lock.lock(passphrase) }

        func opens(_ passphrase: [UInt8], at now: Duration) -> Bool {
            lock.unlock(passphrase, at: now)
        }
    }

    @Test("opens to its passphrase alone, and a wrong one makes the next wait")
    func lock() {
        let door = Door()
        #expect(!door.lock.isLocked && !door.opens([1], at: .zero))
        #expect(door.locks([1, 2]) && door.lock.isLocked)
        #expect(!door.locks([3]))
        #expect(!door.opens([1], at: .zero) && door.lock.isLocked)
        #expect(!door.opens([1, 2], at: .milliseconds(999)))
        #expect(door.opens([1, 2], at: .seconds(1)) && !door.lock.isLocked)
        #expect(door.locks([]) && door.opens([], at: .zero))
    }

    @Test("a lock is taken back, but not one that was set since")
    func takenBack() throws {
        let door = Door()
        let first = try #require(door.number(lockedWith: [1]))
        door.lock.takeBack(first)
        #expect(!door.lock.isLocked)
        let second = try #require(door.number(lockedWith: [2]))
        #expect(door.opens([2], at: .zero) && door.locks([3]))
        door.lock.takeBack(second)
        #expect(door.lock.isLocked && !door.opens([2], at: .zero))
    }

    @Test("the wait grows with each wrong passphrase, to ten seconds")
    func waits() {
        let door = Door()
        #expect(door.locks([1]))
        var now = Duration.zero
        for number in 1...12 {
            #expect(!door.opens([2], at: now))
            let wait = Duration.seconds(min(number, 10))
            #expect(!door.opens([1], at: now + wait - .milliseconds(1)))
            now += wait
        }
        #expect(door.opens([1], at: now))
    }
}
