// SPDX-License-Identifier: Apache-2.0

/// A request whose route, body and caller were checked.
struct Call: Sendable {
    /// The body as it arrived.
    let content: [UInt8]
    /// The parts of the path that the route leaves open, in their order.
    let parameters: [String]
    /// Whose API key it came with; nil where the route wants none.
    let application: ApplicationRecord?
    /// The API key's digest, where there is an application.
    let apiKey: [UInt8]
    /// Who signed the request itself; nil where the route does not want that.
    let device: AuthenticatedDevice?
    /// From where it came.
    let origin: Origin

    /// The body as JSON.
    func body<Value: Decodable>(_ type: Value.Type) throws(Problem) -> Value {
        try JSON.decode(type, from: content)
    }

    /// The body as JSON, which most callers send in the plain form.
    func body<Value: PlainDecodable>(_ type: Value.Type) throws(Problem) -> Value {
        if let object = PlainObject(content), let value = Value(object) { return value }
        return try JSON.decode(type, from: content)
    }

    /// The id in the path.
    func id() throws(Problem) -> [UInt8] {
        guard let text = parameters.first, let id = ID(text: text) else { throw .notFound }
        return id.bytes
    }

    /// The application of the API key; a route that asks for it has the caller `.application`.
    func caller() throws(Problem) -> ApplicationRecord {
        guard let application else { throw .apiKeyRefused }
        return application
    }

    /// The application of the API key, with the key, for a call that asks whether it holds.
    func asking() throws(Problem) -> AskingApplication {
        AskingApplication(record: try caller(), apiKey: apiKey)
    }

    /// Who signed the request; a route that asks for it has the caller `.device`.
    func deviceSigner() throws(Problem) -> Signer { try provenDevice().signer }

    /// The same, with how that was proven.
    func provenDevice() throws(Problem) -> AuthenticatedDevice {
        guard let device else { throw .refused }
        return device
    }
}
