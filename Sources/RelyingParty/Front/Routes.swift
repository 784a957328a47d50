// SPDX-License-Identifier: Apache-2.0
import ServerAPI

/// The table of all calls, as described in docs/developer/SERVER-INTEGRATE.md.
///
/// A row states who may make the call, what it costs the caller's network, and which handler serves
/// it; there is no other way to a handler.
enum Routes {
    /// The maximum size of a body, in bytes.
    static let bodyLimit = 16_384

    static let all: [Route] =
        registration + login + authentication + tokens + operations + administration + health

    private static let registration: [Route] = [
        Route("POST", path: "/v1/activations", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.registrations.makeActivation(call), status: 201)
        },
        Route("POST", path: "/v1/registrations", caller: .anybody, limit: .registration) {
            service, call throws(Problem) in
            .json(try await service.registrations.beginRegistration(call), status: 201)
        },
        Route(
            "POST", path: "/v1/activations/requirements", caller: .anybody, limit: .registration
        ) {
            service, call throws(Problem) in
            .json(try await service.attestations.requirements(call))
        },
        Route(
            "POST", path: "/v1/registrations/{id}/attestation", caller: .anybody,
            limit: .attestation
        ) {
            service, call throws(Problem) in
            .json(try await service.attestations.begin(call))
        },
        Route(
            "POST", path: "/v1/registrations/{id}/proof", caller: .anybody,
            limit: .registrationProof
        ) {
            service, call throws(Problem) in
            .json(try await service.registrations.proveRegistration(call))
        },
        Route(
            "POST", path: "/v1/registrations/{id}/password-key", caller: .anybody,
            limit: .passwordKey
        ) {
            service, call throws(Problem) in
            .json(try await service.registrations.replacePasswordKey(call))
        },
        Route("POST", path: "/v1/registrations/{id}/commit", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.registrations.commitRegistration(call))
        },
        Route("POST", path: "/v1/registrations/{id}/block", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .blocked))
        },
        Route("POST", path: "/v1/registrations/{id}/unblock", caller: .application(.registrations))
        {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .active))
        },
        Route("POST", path: "/v1/registrations/{id}/remove", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .removed))
        },
        Route(
            "POST", path: "/v1/registrations/{id}/disable", caller: .anybody, limit: .removal
        ) {
            service, call throws(Problem) in
            .json(try await service.registrations.disableRegistration(call))
        },
        Route("GET", path: "/v1/registrations/{id}", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.registrations.showRegistration(call))
        },
        Route(
            "GET", path: "/v1/accounts/{name}/registrations", caller: .application(.registrations)
        ) {
            service, call throws(Problem) in
            .json(try await service.registrations.listRegistrations(call))
        },
    ]

    private static let login: [Route] = [
        Route("POST", path: "/v1/login/challenge", caller: .anybody, limit: .challenge) {
            service, call throws(Problem) in
            .json(plain: try await service.challenges.issueChallenge(call))
        },
        Route("POST", path: "/v1/login", caller: .anybody, limit: .login) {
            service, call throws(Problem) in
            .json(plain: try await service.logins.logIn(call))
        },
    ]

    private static let health: [Route] = [
        Route("GET", path: "/health/live", caller: .anybody) { _, _ throws(Problem) in
            CallResult(response: .plain("live"))
        },
        Route("GET", path: "/health/ready", caller: .anybody) { service, _ throws(Problem) in
            guard await service.health.isReady() else { throw .unavailable }
            return CallResult(response: .plain("ready"))
        },
    ]
}
