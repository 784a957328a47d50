// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import HTTPClient
import HTTPServer
import LoginProtocol
import Posix
import RelyingPartySupport
import TestSupport

@testable import Relay

/// What the relay makes of a server that answers so, which it trusts, and is asked within a limit.
func relayed(
    _ request: (_ server: ServerURL) -> RelayRequest, within limit: Duration = .seconds(10),
    _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
) async throws -> [RelayAnswer] {
    let scratch = try Scratch()
    try scratch.makeCertificate("server")
    var key = try scratch.read("server.key")
    let identity = try ServerConfiguration.Identity(
        chain: scratch.read("server.pem"), key: SecretBytes(moving: &key))
    let server = try HTTPServer(
        ServerConfiguration(place: .address("127.0.0.1", port: 0), identity: identity),
        handler: answer)
    var configuration = ClientConfiguration()
    configuration.authorities = .file(scratch.at("server.pem"))
    configuration.totalLimit = limit
    configuration.bodyLimit = 32 * 1_024
    let relay = Relay(configuration)
    let answers = relay.answers(request(ServerURL("https://127.0.0.1:\(server.port)")))
    await server.stop(within: .milliseconds(100))
    return answers
}
