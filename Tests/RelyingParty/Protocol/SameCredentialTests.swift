// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("One credential for two accounts")
struct SameCredentialTests {
    /// A proof that was signed, to be sent.
    private struct Proof: Sendable {
        let path: String
        let body: Data

        func send(to server: TestServer) async throws -> Int {
            let object = try JSONSerialization.jsonObject(with: body) as? [String: Any]
            return try await server.send("POST", path, object).status
        }
    }

    @Test("is registered for one of them, even if both try at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for round in 0..<24 {
            let (one, two) = (try TestDevice(), try TestDevice(id: 0xd2))
            (one.account, two.account) = ("alice\(round)", "bob\(round)")
            two.credential = one.credential
            let proofs = [try await proof(one, server), try await proof(two, server)]
            async let first = proofs[0].send(to: server)
            async let second = proofs[1].send(to: server)
            #expect([try await first, try await second].sorted() == [200, 409])
        }
    }

    private func proof(_ device: TestDevice, _ server: TestServer) async throws -> Proof {
        let begun = try await server.begin(device)
        let statement = device.answer(
            try begun.binary("challenge"), "register", at: server.time.now)
        var body = try device.signed(statement.encoded(), .registration)
        body["publicKey"] = base64(device.key.publicPoint)
        return Proof(
            path: "/v1/registrations/\(device.registration)/proof",
            body: try JSONSerialization.data(withJSONObject: body))
    }
}
