// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import ServerAPI

/// The kinds of calls that are limited for each network; each kind has a separate limit.
enum LimitedKind: CaseIterable, Sendable {
    /// Challenges that are asked for.
    case challenges
    /// Activation codes that are tried, and TPMs that are named for a registration.
    case registrations
    /// Signed answers, decisions and request codes that are refused.
    case proofs
    /// Refresh tokens that are refused, and revocations that end nothing.
    case tokens
}

/// What a call costs the network that it comes from, and when it is admitted anyway.
struct CallLimit: Sendable {
    /// The calls that count.
    enum Counting: Sendable {
        /// Each call, valid or not.
        case every
        /// Calls that are refused (401, 403, 409) or have no effect.
        ///
        /// Each of these may add a line to the audit trail. A proof that is being checked counts
        /// until it proves valid, so that concurrent calls cannot exceed the limit.
        case refusals
    }

    /// Finds the item that a call proves, for the time when the network has used up its calls.
    ///
    /// It changes nothing, and throws only faults of the server or of the body.
    typealias Recognition =
        @Sendable (Service, Call, HTTPRequest) async throws(Problem) ->
        LimitedItem?

    let kind: LimitedKind
    let counting: Counting
    let item: Recognition
}

// The limit of each call.
extension CallLimit {
    static let challenge = CallLimit(kind: .challenges, counting: .every) {
        service, call, _ throws(Problem) in
        try await service.challenges.item(ofRequest: call.body(ChallengeRequest.self))
    }

    static let registration = CallLimit(kind: .registrations, counting: .every) {
        service, call, _ throws(Problem) in
        try await service.registrations.item(ofRequest: call.body(RegistrationRequest.self))
    }

    static let attestation = CallLimit(kind: .registrations, counting: .every) {
        service, call, _ throws(Problem) in
        try await service.attestations.item(for: call.id())
    }

    static let registrationProof = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.registrations.item(
            ofProof: call.body(RegistrationProof.self), for: call.id())
    }

    static let login = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.challenges.item(
            ofAnswer: call.body(SignedChallengeRequest.self).proof, action: .login)
    }

    static let macToken = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.challenges.item(
            ofAnswer: call.body(MACTokenRequest.self).proof, action: .macToken)
    }

    static let removal = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.challenges.item(ofAnswer: call.body(SignedText.self), action: .remove)
    }

    static let passwordKey = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.challenges.item(
            ofAnswer: call.body(PasswordKeyRequest.self).proof, action: .passwordKey)
    }

    static let decision = CallLimit(kind: .proofs, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.operations.item(
            ofDecision: call.body(SignedText.self), on: call.id())
    }

    static let requestCode = CallLimit(kind: .proofs, counting: .refusals) {
        service, _, request throws(Problem) in
        guard let header = request.header("authorization") else { return nil }
        return try await service.requests.item(
            of: try request.received(by: service), authorization: [UInt8](header.utf8))
    }

    static let refresh = CallLimit(kind: .tokens, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.tokens.item(ofRefresh: call.body(RefreshRequest.self))
    }

    static let revocation = CallLimit(kind: .tokens, counting: .refusals) {
        service, call, _ throws(Problem) in
        try await service.tokens.item(ofRevocation: call.body(TokenRequest.self))
    }
}

/// The limits of all networks, by kind, and of all items.
package struct CallLimits: Sendable {
    /// How often a minute an item may be used while its network has used up its calls.
    ///
    /// For a device's challenges this is the reserve, and each counts; for anything else, only what
    /// is refused counts.
    static let itemPerMinute = 10
    /// The number of buckets that items share once no individual bucket is left.
    private static let shared = 256

    /// A token taken from the limit of a network or an item, which can be returned.
    enum Admission: Sendable {
        case network(RateLimit, RateLimit.Admission)
        case item(TokenBuckets<LimitedItem>.Admission)
    }

    private let challenges: RateLimit
    private let registrations: RateLimit
    private let proofs: RateLimit
    private let tokens: RateLimit
    private let items: TokenBuckets<LimitedItem>

    /// Limits each kind of call to these rates.
    package init(_ rates: NetworkRates, clock: Clock) {
        challenges = RateLimit(rates, clock: clock)
        registrations = RateLimit(rates, clock: clock)
        proofs = RateLimit(rates, clock: clock)
        tokens = RateLimit(rates, clock: clock)
        items = TokenBuckets(clock: clock)
    }

    /// Takes a token of the network of an address.
    ///
    /// - Throws: the time to wait if the network has used up its calls of this kind.
    func admit(
        _ kind: LimitedKind, from address: String
    ) throws(TooManyRequests) -> Admission {
        let limit =
            switch kind {
            case .challenges: challenges
            case .registrations: registrations
            case .proofs: proofs
            case .tokens: tokens
            }
        return .network(limit, try limit.admit(address))
    }

    /// Takes a token of an item.
    ///
    /// - Throws: the time to wait if the item has been used too often.
    func admit(_ item: LimitedItem) throws(TooManyRequests) -> Admission {
        let crowd = Int(item.hashValue.magnitude % UInt(Self.shared))
        return .item(
            try items.take([
                TokenBuckets.Request(item, perMinute: Self.itemPerMinute, crowd: crowd)
            ]))
    }

    /// Returns a token, for a call that is not to be counted.
    func giveBack(_ admission: Admission) {
        switch admission {
        case .network(let limit, let admission): limit.giveBack(admission)
        case .item(let admission): items.giveBack(admission)
        }
    }

    /// The number of buckets in memory.
    var count: Int {
        challenges.count + registrations.count + proofs.count + tokens.count + items.count
    }
}
