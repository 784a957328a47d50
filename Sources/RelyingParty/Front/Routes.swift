// SPDX-License-Identifier: Apache-2.0
/// The table of all calls, as described in docs/developer/SERVER.md.
///
/// A row states who may make the call and which handler serves it; there is no other way to a
/// handler.
enum Routes {
    /// The maximum size of a body, in bytes.
    static let bodyLimit = 16_384

    static let all: [Route] =
        registration + login + authentication + tokens + operations + health

    private static let registration: [Route] = [
        Route("POST", "/v1/activations", .application) { service, call throws(Problem) in
            .json(try await service.registrations.makeActivation(call), status: 201)
        },
        Route("POST", "/v1/registrations", .anybody, limited: true) {
            service, call throws(Problem) in
            .json(try await service.registrations.beginRegistration(call), status: 201)
        },
        Route("POST", "/v1/registrations/{id}/proof", .anybody) {
            service, call throws(Problem) in
            .json(try await service.registrations.proveRegistration(call))
        },
        Route("POST", "/v1/registrations/{id}/commit", .application) {
            service, call throws(Problem) in
            .json(try await service.registrations.commitRegistration(call))
        },
        Route("POST", "/v1/registrations/{id}/block", .application) {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .blocked))
        },
        Route("POST", "/v1/registrations/{id}/unblock", .application) {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .active))
        },
        Route("POST", "/v1/registrations/{id}/remove", .application) {
            service, call throws(Problem) in
            .json(try await service.registrations.change(call, to: .removed))
        },
        Route("POST", "/v1/registrations/{id}/disable", .anybody) {
            service, call throws(Problem) in
            .json(try await service.registrations.disableRegistration(call))
        },
        Route("GET", "/v1/registrations/{id}", .application) { service, call throws(Problem) in
            .json(try await service.registrations.showRegistration(call))
        },
        Route("GET", "/v1/accounts/{name}/registrations", .application) {
            service, call throws(Problem) in
            .json(try await service.registrations.listRegistrations(call))
        },
    ]

    private static let login: [Route] = [
        Route("POST", "/v1/login/challenge", .anybody, limited: true) {
            service, call throws(Problem) in
            .json(plain: try await service.challenges.issueChallenge(call))
        },
        Route("POST", "/v1/login", .anybody) { service, call throws(Problem) in
            .json(plain: try await service.logins.logIn(call))
        },
    ]

    private static let health: [Route] = [
        Route("GET", "/health/live", .anybody) { _, _ throws(Problem) in
            Answer(response: .plain("live"))
        },
        Route("GET", "/health/ready", .anybody) { service, _ throws(Problem) in
            guard await service.health.isReady() else { throw .unavailable }
            return Answer(response: .plain("ready"))
        },
    ]
}
