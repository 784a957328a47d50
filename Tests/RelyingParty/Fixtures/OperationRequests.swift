// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import HTTPServer
import SQL
import ServerAPI
import SignedFormats

@testable import RelyingParty

extension TestServer {
    /// Makes a template; false where there is one of this name.
    @discardableResult
    func makeTemplate(
        _ name: String = "payment", _ text: String = "pay {amount} EUR\nto {payee}",
        purpose: TemplatePurpose = .operation, seconds: Int64 = 300, maximumFailures: Int64 = 3,
        isDeviceBound: Bool = false, factors: TemplateFactors = .policy,
        application: String = "shop"
    ) async throws -> Bool {
        guard let name = Name(name) else { throw Unexpected("no name") }
        let template = try OperationTemplate(
            name: name, text: text, purpose: purpose, seconds: seconds,
            maximumFailures: maximumFailures, isDeviceBound: isDeviceBound, factors: factors)
        return try await database.write { store throws(DatabaseFault) in
            guard let owner = try store.applications.application(name: application) else {
                throw .broken("no such application")
            }
            return try store.templates.makeTemplate(template, of: owner.id, at: TestTime.start)
        }
    }

    /// The usual wish for an operation.
    static var payment: [String: Any] {
        [
            "account": "alice", "template": "payment",
            "data": ["amount": "10", "payee": "Bob"],
        ]
    }

    /// Makes an operation, and gives its id.
    func operation(_ wish: [String: Any] = payment) async throws -> String {
        let reply = try await ask("POST", "/v1/operations", wish)
        guard reply.status == 201 else {
            throw Unexpected("not made: \(String(decoding: reply.bytes, as: UTF8.self))")
        }
        return try reply.text("operation")
    }

    /// The state of an operation, as its application sees it.
    func status(_ operation: String) async throws -> String {
        try await ask("GET", "/v1/operations/\(operation)").text("status")
    }

    /// A call of a device that was recognised.
    func call(from device: TestDevice, _ parameters: [String] = []) async throws -> Call {
        let head = device.head
        let signer = try await database.read { store throws(DatabaseFault) in
            try store.signers.signer(head)
        }
        return Call(
            content: [],
            parameters: parameters, application: nil,
            device: signer.map {
                AuthenticatedDevice(signer: $0, factor: AuthenticationFactor.touch)
            },
            origin: Origin(address: "192.0.2.1", agent: "test"))
    }

    /// What a device is shown of an operation.
    func detail(_ operation: String, for device: TestDevice) async throws -> OperationDetail {
        try await service.operations.operationDetail(call(from: device, [operation]))
    }

    /// What awaits a device.
    func awaited(by device: TestDevice) async throws -> [String] {
        let answer = try await service.operations.awaitedOperations(call(from: device))
        return answer.operations.map(\.operation.text)
    }

    /// Sends a signed decision.
    func decide(_ operation: String, _ body: [String: Any]) async throws -> Reply {
        try await send("POST", "/v1/operations/\(operation)/decision", body)
    }

    /// Approves or rejects what was shown.
    func decide(
        _ operation: String, _ decision: OperationDecision = .approve, by device: TestDevice
    ) async throws -> Reply {
        let shown = try await detail(operation, for: device)
        let statement = device.decision(of: shown, decision, at: time.now)
        return try await decide(
            operation, device.signed(statement.encoded(), .operation, by: device.signingKey))
    }

    /// Sends many bodies at once, and gives how many were answered with 200.
    func race(_ path: String, _ bodies: [[String: String]], key: String? = nil) async throws -> Int
    {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for body in bodies {
                group.addTask { try await self.send("POST", path, body, key: key).status }
            }
            return try await group.reduce(into: 0) { $0 += $1 == 200 ? 1 : 0 }
        }
    }
}

extension TestDevice {
    /// A decision of what was shown, unsigned.
    func decision(
        of shown: OperationDetail, _ decision: OperationDecision = .approve, at now: Int64
    ) -> OperationStatement {
        OperationStatement(
            head: head, operation: shown.operation, challenge: shown.challenge,
            template: [UInt8](shown.template.utf8), data: [UInt8](shown.data.utf8),
            decision: decision, claims: claims(at: now))
    }
}
