// SPDX-License-Identifier: Apache-2.0
// Operations, logins that are approved as operations, and what else devices read.
extension Routes {
    static let operations: [Route] = [
        Route("POST", path: "/v1/operations", caller: .application(.operations)) {
            service, call throws(Problem) in
            .json(try await service.operations.makeOperation(call), status: 201)
        },
        Route("GET", path: "/v1/operations/{id}", caller: .application(.operations, or: .logins)) {
            service, call throws(Problem) in
            .json(try await service.operations.showOperation(call))
        },
        Route(
            "POST", path: "/v1/operations/{id}/cancel",
            caller: .application(.operations, or: .logins)
        ) {
            service, call throws(Problem) in
            .json(try await service.operations.cancelOperation(call))
        },
        Route("GET", path: "/v1/accounts/{name}/operations", caller: .application(.operations)) {
            service, call throws(Problem) in
            .json(try await service.accountViews.operations(call))
        },
        Route("GET", path: "/v1/accounts/{name}/audit", caller: .application(.registrations)) {
            service, call throws(Problem) in
            .json(try await service.accountViews.audit(call))
        },
        Route("GET", path: "/v1/device/operations", caller: .device, limit: .requestCode) {
            service, call throws(Problem) in
            .json(try await service.operations.awaitedOperations(call))
        },
        Route(
            "GET", path: "/v1/device/operations/{id}", caller: .device, limit: .requestCode
        ) {
            service, call throws(Problem) in
            .json(try await service.operations.operationDetail(call))
        },
        Route("GET", path: "/v1/device/sessions", caller: .device, limit: .requestCode) {
            service, call throws(Problem) in
            .json(try await service.sessions.listSessions(call))
        },
        Route(
            "POST", path: "/v1/device/sessions/revoke", caller: .leavingDevice, limit: .requestCode
        ) {
            service, call throws(Problem) in
            .json(try await service.sessions.endAllSessions(call))
        },
        Route(
            "POST", path: "/v1/device/sessions/{id}/revoke", caller: .leavingDevice,
            limit: .requestCode
        ) {
            service, call throws(Problem) in
            .json(try await service.sessions.endSession(call))
        },
        Route(
            "POST", path: "/v1/operations/{id}/decision", caller: .anybody, limit: .decision
        ) {
            service, call throws(Problem) in
            .json(try await service.operations.decideOperation(call))
        },
        Route("POST", path: "/v1/login/init", caller: .application(.logins)) {
            service, call throws(Problem) in
            .json(try await service.logins.beginLogin(call), status: 201)
        },
        Route("POST", path: "/v1/login/confirm", caller: .application(.logins)) {
            service, call throws(Problem) in
            .json(plain: try await service.logins.confirmLogin(call))
        },
    ]
}
