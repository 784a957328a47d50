// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Testing

@Suite("The rule of a request")
struct RequestRuleTests {
    private typealias Row = (
        request: any DaemonRequest.Type, owner: Bool, other: Bool, proof: Proof, begins: Bool
    )

    /// The account itself, another user, the proof, and whether it begins a request.
    private static let rows: [Row] = [
        (AuthenticateRequest.self, true, false, .none, true),
        (VerifyRequest.self, true, false, .none, true),
        (EnrollRequest.self, true, false, .password, true),
        (DeleteRequest.self, true, false, .password, true),
        (EnableRequest.self, true, false, .password, true),
        (DisableRequest.self, true, false, .password, true),
        (UnlockRequest.self, true, false, .password, true),
        (StatusRequest.self, true, false, .none, true),
        (ListRequest.self, true, false, .none, true),
        (ReadersRequest.self, true, true, .none, true),
        (LogRequest.self, true, false, .none, true),
        (ConfigurationRequest.self, true, true, .none, true),
        (PasswordAcceptedRequest.self, false, false, .none, true),
        (PasswordRequest.self, true, true, .none, false),
        (CancelRequest.self, true, true, .none, false),
        (SecretPartRequest.self, true, true, .none, false),
        (SecretSetRequest.self, true, false, .none, true),
        (SecretGetRequest.self, true, false, .none, true),
        (SecretListRequest.self, true, false, .none, true),
        (SecretDeleteRequest.self, true, false, .none, true),
        (VaultRequest.self, true, true, .none, true),
        (MigrateRequest.self, true, false, .password, true),
        (TrustVaultRequest.self, false, false, .none, true),
        (PasswordChangedRequest.self, false, false, .none, true),
        (WatchRequest.self, true, false, .none, true),
        (ReaderPrintsRequest.self, false, false, .none, true),
        (WatchReaderRequest.self, false, false, .none, true),
        (ImportPrintRequest.self, true, false, .password, true),
        (ConfirmRequest.self, true, false, .none, true),
        (ShownRequest.self, true, true, .none, false),
        (ServerEnableRequest.self, true, false, .password, true),
        (ServerDisableRequest.self, true, false, .password, true),
        (LoginAtServerRequest.self, true, false, .none, true),
        (ServerListRequest.self, true, false, .none, true),
        (ServerPasswordKeyRequest.self, true, false, .password, true),
        (SignRequest.self, true, false, .none, true),
        (SigningEnableRequest.self, true, false, .password, true),
        (SigningDisableRequest.self, true, false, .password, true),
        (SigningKeyRequest.self, true, false, .none, true),
        (MACTokenAddRequest.self, true, false, .none, true),
        (MACTokenListRequest.self, true, false, .none, true),
        (MACTokenRemoveRequest.self, true, false, .none, true),
        (MACTokenHeaderRequest.self, true, false, .none, true),
        (OperationListRequest.self, true, false, .none, true),
        (OperationShowRequest.self, true, false, .none, true),
        (OperationDecideRequest.self, true, false, .none, true),
        (OfferRequest.self, false, false, .none, true),
    ]

    /// What root cannot ask for in an account's place.
    private static let ownersAlone: Set<String> = [
        "serverLogin", "sign", "macTokenAdd", "macTokenHeader", "operationList", "operationShow",
        "operationDecide", "serverPasswordKey",
    ]

    @Test("is expected here for every request")
    func complete() {
        #expect(Set(Self.rows.map { $0.request.verb }) == Set(Verb.allCases))
        #expect(Self.rows.count == Verb.allCases.count)
    }

    @Test("permits the callers that it names and no others")
    func callers() {
        for (request, owner, other, proof, begins) in Self.rows {
            let (rule, name) = (request.rule, request.verb.protocolName)
            // Root in an account's place, unless it gets what would admit it elsewhere.
            let isForRoot = !Self.ownersAlone.contains(name)
            #expect(rule.permits(peerUID: 0, accountUID: 1_000) == isForRoot, "\(name)")
            #expect(rule.permits(peerUID: 0, accountUID: nil) == isForRoot, "\(name)")
            #expect(rule.permits(peerUID: 1_000, accountUID: 1_000) == owner, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: 1_000) == other, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: 0) == other, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: nil) == other, "\(name)")
            #expect(rule.permits(peerUID: .max, accountUID: nil) == other, "\(name)")
            #expect(rule.proof == proof, "\(name)")
            #expect(rule.beginsRequest == begins, "\(name)")
            #expect(begins != (request is any ContinuingRequest.Type), "\(name)")
        }
    }

    @Test("says what precedes a touch and what the touch releases; no other request asks for one")
    func touches() {
        let confirming: [TouchGuard] = [.presence, .credential, .reader, .lid]
        let expected: [String: (guards: [TouchGuard], releases: Set<Release>)] = [
            "authenticate": (
                [.presence, .loginLists, .background, .credential, .reader, .lid],
                [.statement, .loginPassword]
            ),
            "verify": ([.presence, .prints, .reader, .lid], []),
            "enroll": ([.presence], []),
            "secretGet": (confirming, [.statement, .secret]),
            "serverEnable": (confirming, [.statement, .keySignature]),
            "serverLogin": (confirming, [.statement, .keySignature]),
            "serverPasswordKey": (confirming, [.statement, .keySignature]),
            "sign": (confirming, [.statement, .keySignature]),
            "signingEnable": (confirming, [.statement, .keySignature]),
            "macTokenAdd": (confirming, [.statement, .keySignature]),
            "operationList": (confirming, [.statement, .keySignature]),
            "operationShow": (confirming, [.statement, .keySignature]),
            "operationDecide": (confirming, [.statement, .keySignature]),
        ]
        for request in Request.all {
            let name = request.verb.protocolName
            #expect(request.rule.touch?.guards == expected[name]?.guards, "\(name)")
            #expect(request.rule.touch?.releases == expected[name]?.releases, "\(name)")
            let mayServeOthers = request.rule.touch?.mayServeOthers ?? false
            #expect(mayServeOthers == (name == "authenticate"), "\(name)")
        }
        #expect(TouchRule.offer.guards == [.presence, .loginLists, .background, .reader, .lid])
        #expect(TouchRule.offer.releases.isEmpty && TouchRule.offer.mayServeOthers)
    }

    @Test("is not the only one: prints are opened for every request about an account but these")
    func prints() {
        let without: Set<String> = [
            "authenticate", "confirm", "disable", "unlock", "log", "passwordAccepted", "offer",
            "secretDelete", "watch", "signingDisable", "macTokenRemove",
        ]
        for case let request as any AccountRequest.Type in Request.all {
            let name = request.verb.protocolName
            #expect(request.readsPrints != without.contains(name), "\(name)")
        }
    }
}
