// SPDX-License-Identifier: Apache-2.0
// Approvals, and logins that are approved as such.
extension Routes {
    static let operations: [Route] = [
        Route("POST", "/v1/operations", .application) { service, call throws(Problem) in
            .json(try await service.makeOperation(call), status: 201)
        },
        Route("GET", "/v1/operations/{id}", .application) { service, call throws(Problem) in
            .json(try await service.showOperation(call))
        },
        Route("POST", "/v1/operations/{id}/cancel", .application) {
            service, call throws(Problem) in
            .json(try await service.cancelOperation(call))
        },
        Route("GET", "/v1/device/operations", .device) { service, call throws(Problem) in
            .json(try await service.awaitedOperations(call))
        },
        Route("GET", "/v1/device/operations/{id}", .device) { service, call throws(Problem) in
            .json(try await service.operationDetail(call))
        },
        Route("POST", "/v1/operations/{id}/decision", .anybody) {
            service, call throws(Problem) in
            .json(try await service.decideOperation(call))
        },
        Route("POST", "/v1/login/init", .application) { service, call throws(Problem) in
            .json(try await service.beginLogin(call), status: 201)
        },
        Route("POST", "/v1/login/confirm", .application) { service, call throws(Problem) in
            .json(plain: try await service.confirmLogin(call))
        },
    ]
}
