// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Operations: what a server asks a user to approve or reject.
///
/// A decision needs a touch. What is signed is exactly the operation that the client was sent for
/// display in the same request, and the server checks that it is the one that it issued. Reading
/// operations needs no touch but a MAC token of the daemon's own, which a touch obtains; see
/// `OperationReading.swift`.
@ServiceActor
final class OperationApprovals {
    let clock: Clock
    let relay: RelayClient
    let accounts: Accounts
    let macTokens: DeviceMACTokens
    let keys: ServerKeys
    let guards: TouchGuards
    let confirmations: Confirmations

    init(
        clock: Clock, relay: RelayClient, accounts: Accounts, macTokens: DeviceMACTokens,
        keys: ServerKeys, guards: TouchGuards, confirmations: Confirmations
    ) {
        self.clock = clock
        self.relay = relay
        self.accounts = accounts
        self.macTokens = macTokens
        self.keys = keys
        self.guards = guards
        self.confirmations = confirmations
    }
}

extension OperationApprovals {
    var handlers: [RequestHandler] {
        [
            RequestHandler(listOperations), RequestHandler(showOperation),
            RequestHandler(decideOperation),
        ]
    }

    /// Sends the pending operations of an account, and the reasons why some servers could not be
    /// read.
    ///
    /// Servers for which a reading token is missing are asked again after one touch for all of
    /// them, if the request allows a touch. If the request names one server, its trouble is thrown
    /// instead of sent. A failed touch is thrown if it was needed for every server, or if it was
    /// cancelled.
    func listOperations(
        _ request: OperationListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        var keys = try await keysToAsk(request.server, account: account)
        let all = keys.count
        var hasTouched = false
        for mayTouch in [request.timeoutMilliseconds != nil, false] {
            let (lacking, found) = await tell(awaitedAt: keys, account: account, client: client)
            var troubles = found
            keys = lacking.map { ($0.key, $0.url) }
            if !lacking.isEmpty, mayTouch, let milliseconds = request.timeoutMilliseconds {
                let got = await getReadingTokens(
                    at: keys,
                    asking: ReadingRequest(
                        OperationListRequest.self, milliseconds: milliseconds,
                        factor: request.factor), account: account, client: client)
                // What the other servers have reported is still valid.
                if let denial = got.denial, lacking.count == all || denial.reason == .cancelled {
                    throw denial
                }
                hasTouched = true
                troubles += got.troubles
                keys.removeAll { key, _ in got.troubles.contains { $0.key == key } }
            } else {
                troubles += lacking.map { $0.trouble(afterTouch: hasTouched) }
                keys = []
            }
            for trouble in troubles {
                if request.server != nil { throw trouble.denial }
                await client.send(.serverTrouble(ServerTroubleAnswer(trouble)))
            }
        }
        return .done(DoneAnswer())
    }

    /// Sends the pending operations of an account at some servers.
    ///
    /// - Returns: the servers for which a reading token is missing, and those that failed.
    private func tell(
        awaitedAt keys: [(ServerKey, CanonicalServerURL)], account: Account, client: any Client
    ) async -> (lacking: [UnreadServer], troubles: [ServerTrouble]) {
        var lacking: [UnreadServer] = []
        var troubles: [ServerTrouble] = []
        for (key, url) in keys {
            switch await awaited(at: key, url: url, account: account) {
            case .told(let operations):
                for operation in operations {
                    await client.send(.operation(OperationAnswer(operation, at: key)))
                }
            case .wantsToken(let orElse):
                lacking.append(UnreadServer(key: key, url: url, orElse: orElse))
            case .denied(let denial): troubles.append(ServerTrouble(key: key, denial: denial))
            }
        }
        return (lacking, troubles)
    }

    /// Sends one operation, in whatever state it is.
    ///
    /// Asks for a touch only if a reading token is missing.
    func showOperation(
        _ request: OperationShowRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let found = try await operation(
            request.operation, at: request.server,
            asking: request.timeoutMilliseconds.map {
                ReadingRequest(
                    OperationShowRequest.self, milliseconds: $0, factor: request.factor)
            }, account: account, client: client)
        await client.send(.operation(OperationAnswer(found.operation, at: found.key)))
        return .done(DoneAnswer())
    }

    /// Sends one operation for display, asks for a touch or the password, and signs exactly that
    /// operation with the decision.
    ///
    /// Throws `passwordNotAccepted` or `fingerNotAccepted` before either is asked for, if the
    /// operation does not accept it, `operationOver` if it is already decided or expired, and the
    /// denial for the server's answer if the server does not accept the decision.
    func decideOperation(
        _ request: OperationDecideRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let found = try await operation(
            request.operation, at: request.server,
            asking: ReadingRequest(
                OperationDecideRequest.self, milliseconds: request.timeoutMilliseconds,
                factor: request.factor), account: account, client: client)
        let operation = found.operation
        await client.send(.operation(OperationAnswer(operation, at: found.key)))
        guard operation.state == .pending else { throw Denial.over(operation.state) }
        try operation.check(request.factor, at: found.key)
        let purpose =
            Bytes("server \(found.url.text): ".utf8)
            + request.context.purpose
            + Bytes(", ".utf8) + operation.content.template + Bytes(": ".utf8)
            + operation.content.data
        let matter = SignedMatter(purpose: purpose, challenge: operation.challenge)
        let plan = guards.plan(
            for: OperationDecideRequest.self, account: account,
            milliseconds: request.timeoutMilliseconds)
        return try await confirmations.confirmed(
            plan, by: request.factor, matter: matter, client: client
        ) { (snapshot, confirmation) throws(Denial) in
            try await self.decide(
                found, choice: request.decision, account: account, snapshot: snapshot,
                confirmation: confirmation, client: client)
        }
    }

    /// Signs the decision and sends it to the server.
    ///
    /// The signed text contains the server's challenge, the template and the data of the operation.
    private func decide(
        _ found: OperationAtServer, choice: OperationChoice, account: Account,
        snapshot: AccountSnapshot, confirmation: Confirmation, client: any Client
    ) async throws(Denial) -> Answer {
        let operation = found.operation
        let answer = try await keys.serverHears(
            of: found.key, account: account, kept: snapshot.kept, telling: client
        ) { (snapshot) throws(Denial) in
            try await keys.signed(
                by: found.key, in: .operation, account: account, snapshot: snapshot,
                for: confirmation
            ) {
                (key) throws(CryptoFault) in
                let statement = OperationStatement(
                    head: keys.head(key, for: key.audience), operation: operation.content.operation,
                    challenge: operation.challenge, template: operation.content.template,
                    data: operation.content.data, decision: OperationDecision(choice),
                    claims: keys.claims(
                        key, factor: confirmation.factor, enrolment: snapshot.enrolment))
                return try SignedMessage(text: statement.encoded())
            }
        } _: { signed in
            .decide(
                RelayDecision(
                    server: ServerURL(found.url), operation: operation.content.operation,
                    statement: signed.statement ?? [], signature: signed.signature))
        }
        if case .decided(let state) = answer { return .decided(state) }
        return try await settle(answer, found: found, choice: choice, account: account)
    }

    /// Settles a decision that the server did not confirm.
    ///
    /// The server may have accepted this decision although its answer was lost, or another one
    /// before. Where that is possible, the operation is read again: if it has the decided state and
    /// no answer came, the decision counts as accepted; any other final state is thrown as
    /// `operationOver`.
    private func settle(
        _ answer: RelayAnswer, found: OperationAtServer, choice: OperationChoice,
        account: Account
    ) async throws(Denial) -> Answer {
        if answer.leavesDoubt,
            case .told(let now) = await self.operation(
                found.operation.content.operation, at: found.key, url: found.url, account: account),
            now.state != .pending
        {
            if case .unreachable = answer, now.state == OperationState(choice) {
                return .decided(now.state)
            }
            throw Denial.over(now.state)
        }
        throw keys.denial(of: answer, url: found.url, account: account, signedBy: found.key)
    }
}

/// An operation as its server reports it, with the key that can decide it.
private struct OperationAtServer {
    let operation: RelayOperation
    let key: ServerKey
    let url: CanonicalServerURL
}

extension OperationApprovals {
    /// The good keys to read with: the named server's, or all of the account.
    func keysToAsk(
        _ server: ServerURL?, account: Account
    ) async throws(Denial) -> [(ServerKey, CanonicalServerURL)] {
        if let server {
            guard let url = CanonicalServerURL(server) else { throw Denial(.badRequest) }
            return [(try await keys.goodKey(for: url, account: account), url)]
        }
        return try await keys.serverKeys(of: account).filter { $0.state == .good }.compactMap {
            key in
            CanonicalServerURL(key.server).map { (key, $0) }
        }
    }

    /// Reads one operation, after the user has confirmed `request` if a reading token is missing;
    /// nil if the user may not be asked.
    ///
    /// Throws `readingTokenWanted` if a token is missing and the user may not be asked, and
    /// `serverRefused` if the server does not accept the new token either.
    private func operation(
        _ identifier: OperationID, at server: ServerURL, asking request: ReadingRequest?,
        account: Account, client: any Client
    ) async throws(Denial) -> OperationAtServer {
        guard let url = CanonicalServerURL(server) else { throw Denial(.badRequest) }
        let key = try await keys.goodKey(for: url, account: account)
        var unread: UnreadServer
        var hasTouched = false
        repeat {
            switch await operation(identifier, at: key, url: url, account: account) {
            case .told(let told):
                return OperationAtServer(operation: told, key: key, url: url)
            case .denied(let denial): throw denial
            case .wantsToken(let orElse):
                unread = UnreadServer(key: key, url: url, orElse: orElse)
            }
            guard !hasTouched, let request else { break }
            let got = await getReadingTokens(
                at: [(key, url)], asking: request, account: account, client: client)
            if let trouble = got.troubles.first { throw trouble.denial }
            hasTouched = true
        } while true
        throw unread.trouble(afterTouch: hasTouched).denial
    }
}

extension ServerTroubleAnswer {
    init(_ trouble: ServerTrouble) {
        self.init(
            server: trouble.key.server, reason: trouble.denial.reason,
            subject: trouble.denial.subject ?? [])
    }
}

extension RelayAnswer {
    /// Whether the server may have decided the operation, by this request or an earlier one.
    fileprivate var leavesDoubt: Bool {
        switch self {
        case .unreachable(_, let isRepeatable, _): !isRepeatable
        case .refused(let code, _, _): code == Bytes("conflict".utf8)
        case .registered, .proven, .challenge, .loggedIn, .removed, .macToken, .awaited, .listed,
            .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            true
        }
    }
}

extension Denial {
    /// The operation is decided or expired; the subject is its state.
    fileprivate static func over(_ state: OperationState) -> Denial {
        Denial(.operationOver, subject: Bytes(state.protocolName.utf8))
    }
}

extension OperationAnswer {
    fileprivate init(_ content: OperationContent, at key: ServerKey) {
        self.init(
            account: key.account, server: key.server, application: key.application,
            content: content, state: .pending)
    }

    fileprivate init(_ operation: RelayOperation, at key: ServerKey) {
        self.init(
            account: key.account, server: key.server, application: key.application,
            content: operation.content, state: operation.state, failures: operation.failures,
            factors: operation.factors, missing: operation.missing)
    }
}

extension RelayOperation {
    /// Throws if the operation does not accept a factor, before the user is asked for it.
    ///
    /// A server that does not say is asked. The password key is checked, too.
    fileprivate func check(_ factor: ConfirmingFactor, at key: ServerKey) throws(Denial) {
        let isAccepted =
            switch (factors, factor) {
            case (.fingerprint, .password), (.password, .finger): false
            case (nil, _), (.fingerprint, .finger), (.password, .password), (.either, _),
                (.both, _):
                true
            }
        guard isAccepted else {
            throw Denial(
                factor == .password ? .passwordNotAccepted : .fingerNotAccepted,
                subject: key.server.bytes)
        }
        try key.check(factor)
    }
}

extension OperationDecision {
    fileprivate init(_ choice: OperationChoice) {
        self =
            switch choice {
            case .approve: .approve
            case .reject: .reject
            }
    }
}

extension OperationState {
    /// The state of an operation after a decision.
    fileprivate init(_ choice: OperationChoice) {
        self =
            switch choice {
            case .approve: .approved
            case .reject: .rejected
            }
    }
}
