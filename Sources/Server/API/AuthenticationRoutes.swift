// SPDX-License-Identifier: Apache-2.0
extension Routes {
    /// Codes of requests, and MAC tokens.
    static let authentication: [Route] = [
        Route("POST", "/v1/authentication/verify", .rememberedApplication) {
            service, call throws(Problem) in
            let answer = try await service.verifyAuthentication(call)
            return .json(plain: answer, outcome: answer.code ?? "ok")
        },
        Route("POST", "/v1/mac-tokens", .anybody) { service, call throws(Problem) in
            .json(try await service.makeMACToken(call), status: 201)
        },
        Route("POST", "/v1/mac-tokens/{id}/revoke", .application) {
            service, call throws(Problem) in
            try await service.revokeMACToken(call)
            return .done
        },
        Route("POST", "/v1/device/mac-tokens/{id}/revoke", .leavingDevice) {
            service, call throws(Problem) in
            try await service.revokeOwnMACToken(call)
            return .done
        },
        Route("GET", "/v1/registrations/{id}/mac-tokens", .application) {
            service, call throws(Problem) in
            .json(try await service.listMACTokens(call))
        },
    ]

    /// How tokens go on and end.
    static let tokens: [Route] = [
        Route("POST", "/v1/token/refresh", .anybody) { service, call throws(Problem) in
            .json(try await service.refreshTokens(call))
        },
        Route("POST", "/v1/token/revoke", .anybody) { service, call throws(Problem) in
            var answer = Answer.json(RevocationAnswer())
            answer.wasOfUse = try await service.revokeTokens(call)
            return answer
        },
        Route("POST", "/v1/token/introspect", .application) { service, call throws(Problem) in
            .json(try await service.introspect(call))
        },
        Route("GET", "/.well-known/jwks.json", .anybody) { service, _ in
            Answer(response: service.showKeys())
        },
    ]
}
