// SPDX-License-Identifier: Apache-2.0
import HTTPServer

extension Routes {
    /// Verification of request codes; issuing, listing and revoking MAC tokens.
    static let authentication: [Route] = [
        Route("POST", "/v1/authentication/verify", .rememberedApplication) {
            service, call throws(Problem) in
            let answer = try await service.requests.verifyAuthentication(call)
            return .json(plain: answer, outcome: answer.code ?? "ok")
        },
        Route("POST", "/v1/mac-tokens", .anybody) { service, call throws(Problem) in
            .json(try await service.macTokens.makeMACToken(call), status: 201)
        },
        Route("POST", "/v1/mac-tokens/{id}/revoke", .application) {
            service, call throws(Problem) in
            try await service.macTokens.revokeMACToken(call)
            return .done
        },
        Route("POST", "/v1/device/mac-tokens/{id}/revoke", .leavingDevice) {
            service, call throws(Problem) in
            try await service.macTokens.revokeOwnMACToken(call)
            return .done
        },
        Route("GET", "/v1/registrations/{id}/mac-tokens", .application) {
            service, call throws(Problem) in
            .json(try await service.macTokens.listMACTokens(call))
        },
    ]

    /// Refreshing, revoking and introspecting tokens, and publishing the keys that verify them.
    static let tokens: [Route] = [
        Route("POST", "/v1/token/refresh", .anybody) { service, call throws(Problem) in
            .json(try await service.tokens.refreshTokens(call))
        },
        Route("POST", "/v1/token/revoke", .anybody) { service, call throws(Problem) in
            var answer = Answer.json(RevocationAnswer())
            answer.wasOfUse = try await service.tokens.revokeTokens(call)
            return answer
        },
        Route("POST", "/v1/token/introspect", .application) { service, call throws(Problem) in
            .json(try await service.tokens.introspect(call))
        },
        Route("GET", "/.well-known/jwks.json", .anybody) { service, _ in
            Answer(
                response: HTTPResponse(
                    status: 200,
                    headers: [
                        ("Content-Type", "application/jwk-set+json"),
                        ("Cache-Control", "public, max-age=300"),
                    ], body: service.tokens.publicKeys()))
        },
    ]
}
