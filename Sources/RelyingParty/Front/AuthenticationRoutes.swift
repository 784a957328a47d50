// SPDX-License-Identifier: Apache-2.0
import HTTPServer

// The calls that verify request codes, and those that issue, list and end MAC tokens. Each row says
// who may make the call and which limit it counts against; the rules are in `Requests` and
// `MACTokens`.
extension Routes {
    /// Verification of request codes; issuing, listing and revoking MAC tokens.
    static let authentication: [Route] = [
        Route("POST", path: "/v1/authentication/verify", caller: .rememberedApplication(.verify)) {
            service, call throws(Problem) in
            let answer = try await service.requests.verifyAuthentication(call)
            return .json(plain: answer, outcome: answer.code ?? "ok")
        },
        Route("POST", path: "/v1/mac-tokens", caller: .anybody, limit: .macToken) {
            service, call throws(Problem) in
            .json(try await service.macTokens.makeMACToken(call), status: 201)
        },
        Route("POST", path: "/v1/mac-tokens/{id}/revoke", caller: .application(.registrations)) {
            service, call throws(Problem) in
            try await service.macTokens.revokeMACToken(call)
            return .done
        },
        Route(
            "POST", path: "/v1/device/mac-tokens/{id}/revoke", caller: .leavingDevice,
            limit: .requestCode
        ) {
            service, call throws(Problem) in
            try await service.macTokens.revokeOwnMACToken(call)
            return .done
        },
        Route(
            "GET", path: "/v1/registrations/{id}/mac-tokens", caller: .application(.registrations)
        ) {
            service, call throws(Problem) in
            .json(try await service.macTokens.listMACTokens(call))
        },
    ]

    /// Refreshing, revoking and introspecting tokens, and publishing the keys that verify them.
    static let tokens: [Route] = [
        Route("POST", path: "/v1/token/refresh", caller: .anybody, limit: .refresh) {
            service, call throws(Problem) in
            .json(try await service.tokens.refreshTokens(call))
        },
        Route("POST", path: "/v1/token/revoke", caller: .anybody, limit: .revocation) {
            service, call throws(Problem) in
            var answer = CallResult.json(RevocationAnswer())
            answer.wasOfUse = try await service.tokens.revokeTokens(call)
            return answer
        },
        Route("POST", path: "/v1/token/introspect", caller: .application(.verify)) {
            service, call throws(Problem) in
            .json(try await service.tokens.introspect(call))
        },
        Route("GET", path: "/.well-known/jwks.json", caller: .anybody) { service, _ in
            CallResult(
                response: HTTPResponse(
                    status: 200,
                    headers: [
                        ("Content-Type", "application/jwk-set+json"),
                        ("Cache-Control", "public, max-age=300"),
                    ], body: service.tokens.publicKeys()))
        },
    ]
}
