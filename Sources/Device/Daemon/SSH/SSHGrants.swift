// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// A grant of `signet ssh allow`: the evidence that a finger has allowed a few signatures by one
/// key, for one destination, for the programs that one client starts.
///
/// Only `SSHGrants.begin` makes one, from a touch. It is gone when its request ends, so neither a
/// restart of the daemon nor a client that has left leaves one.
@ServiceActor
final class SSHGrant {
    let account: UInt32
    let key: SSHKeyID
    let destination: SSHDestination
    let earlier: GrantingTouch
    let signatures: UInt32
    fileprivate let tree: ProcessTree
    fileprivate let end: Duration
    fileprivate(set) var used: UInt32 = 0
    /// Why it has ended before its time; nil while it holds, or if it was used up.
    fileprivate(set) var denial: Denial?
    /// Whether it has ended, other than by its last signature or its time.
    fileprivate var isOver = false
    /// Is raised when it has ended.
    let ending = Interruption()

    fileprivate init(
        _ request: SSHAllowRequest, account: UInt32, earlier: GrantingTouch, tree: ProcessTree,
        end: Duration
    ) {
        self.account = account
        key = request.key
        destination = request.destination
        signatures = request.signatures
        self.earlier = earlier
        self.tree = tree
        self.end = end
    }

    /// Ends the grant, for a reason if there is one; no further signature is covered.
    func end(because denial: Denial?) {
        if self.denial == nil { self.denial = denial }
        if denial != nil { isOver = true }
        used = signatures
        ending.raise()
    }
}

/// One signature that a grant covers; only `SSHGrants.use` makes one, and counts it.
struct GrantedSignature {
    let earlier: GrantingTouch
    /// The number of this signature, from 1.
    let number: UInt32
    let total: UInt32

    @ServiceActor fileprivate init(_ grant: SSHGrant) {
        earlier = grant.earlier
        number = grant.used
        total = grant.signatures
    }

    /// What the receipt adds to the purpose.
    var note: Bytes {
        Bytes(", \(number) of \(total) that a touch has allowed".utf8)
    }
}

/// The grants that hold now.
@ServiceActor
final class SSHGrants {
    private let clock: Clock
    private let examiner: PresenceExaminer
    private var grants: [SSHGrant] = []

    init(clock: Clock, examiner: PresenceExaminer) {
        self.clock = clock
        self.examiner = examiner
    }

    /// The end of a grant that begins now, as a time since boot.
    private func end(_ seconds: UInt32) -> Duration { clock.sinceBoot() + .seconds(Int64(seconds)) }

    /// Begins a grant for the programs that the client will start.
    ///
    /// Throws `notAtMachine` if the client's process is not held. The caller must end it.
    func begin(
        _ request: SSHAllowRequest, account: Account, earlier: GrantingTouch, client: any Client
    ) throws(Denial) -> SSHGrant {
        guard let tree = ProcessTree(below: client.process) else { throw Denial(.cancelled) }
        let grant = SSHGrant(
            request, account: account.uid, earlier: earlier, tree: tree, end: end(request.seconds))
        grants.append(grant)
        return grant
    }

    /// Forgets a grant, which has ended; a signature that it covers may still be in progress, and is
    /// not made if the client has gone.
    func end(_ grant: SSHGrant, isCancelled: Bool) {
        grant.end(because: nil)
        if isCancelled { grant.isOver = true }
        grants.removeAll { $0 === grant }
    }

    /// The time that is left of a grant; not positive once it has ended.
    func timeLeft(of grant: SSHGrant) -> Duration {
        grant.used < grant.signatures ? grant.end - clock.sinceBoot() : .zero
    }

    /// The grant that covers what a client wants signed; nil if none does.
    ///
    /// Key, destination, time, number and the client's descent must all fit.
    func covering(
        _ content: SSHSignedData, by key: SSHKeyID, account: Account, client: any Client,
        fingerprint: (Bytes) -> Bytes
    ) -> SSHGrant? {
        grants.first { grant in
            grant.account == account.uid && grant.key == key && timeLeft(of: grant) > .zero
                && grant.destination.covers(content, fingerprint: fingerprint)
                && examiner.contains(client.process, in: grant.tree)
        }
    }

    /// Throws `timedOut` after the grant's time, and the reason for which it has ended before; not if
    /// its last signature has been counted.
    func checkHolds(_ grant: SSHGrant) throws(Denial) {
        if let denial = grant.denial { throw denial }
        guard !grant.isOver else { throw Denial(.cancelled) }
        guard grant.end > clock.sinceBoot() else { throw Denial(.timedOut) }
    }

    /// Counts one signature; nil if the grant has ended meanwhile.
    func use(_ grant: SSHGrant) -> GrantedSignature? {
        guard timeLeft(of: grant) > .zero else { return nil }
        grant.used += 1
        if grant.used == grant.signatures { grant.ending.raise() }
        return GrantedSignature(grant)
    }
}

extension SSHDestination {
    /// Whether data are for this destination; a login that states no host key is for none.
    func covers(_ content: SSHSignedData, fingerprint: (Bytes) -> Bytes) -> Bool {
        switch (kind, content) {
        case (.hostKey(let wanted), .authentication(let request)):
            guard let host = request.hostKey else { return false }
            return fingerprint(host.plain) == wanted
        case (.namespace(let wanted), .signature(let signature)):
            return signature.namespace == wanted
        case (.hostKey, .signature), (.namespace, .authentication): return false
        }
    }
}
