// SPDX-License-Identifier: Apache-2.0
// Operations, and logins that are approved as operations.
extension Routes {
    static let operations: [Route] = [
        Route("POST", "/v1/operations", .application) { service, call throws(Problem) in
            .json(try await service.operations.makeOperation(call), status: 201)
        },
        Route("GET", "/v1/operations/{id}", .application) { service, call throws(Problem) in
            .json(try await service.operations.showOperation(call))
        },
        Route("POST", "/v1/operations/{id}/cancel", .application) {
            service, call throws(Problem) in
            .json(try await service.operations.cancelOperation(call))
        },
        Route("GET", "/v1/accounts/{name}/operations", .application) {
            service, call throws(Problem) in
            .json(try await service.accountViews.operations(call))
        },
        Route("GET", "/v1/accounts/{name}/audit", .application) { service, call throws(Problem) in
            .json(try await service.accountViews.audit(call))
        },
        Route("GET", "/v1/device/operations", .device) { service, call throws(Problem) in
            .json(try await service.operations.awaitedOperations(call))
        },
        Route("GET", "/v1/device/operations/{id}", .device) { service, call throws(Problem) in
            .json(try await service.operations.operationDetail(call))
        },
        Route("POST", "/v1/operations/{id}/decision", .anybody) {
            service, call throws(Problem) in
            .json(try await service.operations.decideOperation(call))
        },
        Route("POST", "/v1/login/init", .application) { service, call throws(Problem) in
            .json(try await service.logins.beginLogin(call), status: 201)
        },
        Route("POST", "/v1/login/confirm", .application) { service, call throws(Problem) in
            .json(plain: try await service.logins.confirmLogin(call))
        },
    ]
}
