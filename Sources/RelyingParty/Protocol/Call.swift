// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import ServerAPI

/// A request as a handler receives it: the route is known and the caller authenticated.
///
/// The dispatcher guarantees what the route declares: `application` is set where the route requires
/// an API key, and `device` where it requires a signed request. If that were violated, the
/// accessors would throw a `Problem` instead of trapping. The body is still undecoded.
struct Call: Sendable {
    /// The body exactly as received.
    let content: [UInt8]
    /// The variable parts of the path, in order, as the route matched them.
    let parameters: [String]
    /// The application whose API key authenticated the call; nil where the route requires none.
    let application: AskingApplication?
    /// The device that signed the request or sent a MAC; nil where the route requires neither.
    let device: AuthenticatedDevice?
    /// The sender's address and user agent, and the name of the API key.
    let origin: Origin

    /// Parses the body as JSON, in which no object may have a name twice; throws `.malformed`.
    func body() throws(Problem) -> JSON { try JSON.body(content) }

    /// Decodes the body as JSON; throws `.malformed`, naming the wrong or unknown field.
    func body<Value: Decodable>(_ type: Value.Type) throws(Problem) -> Value {
        try JSON.body(content).value(type)
    }

    /// Checks the body of a call that takes no fields: `{}`, or nothing at all.
    func emptyBody() throws(Problem) {
        if !content.isEmpty { _ = try body(EmptyRequest.self) }
    }

    /// Decodes the body as JSON, for a type that parses itself; if that fails, `.malformed` says
    /// why.
    func body<Value: PlainDecodable>(_ type: Value.Type) throws(Problem) -> Value {
        let json = try JSON.body(content)
        if let value = Value(json) { return value }
        return try json.value(type)
    }

    /// Returns the id in the path; throws `.notFound` if it is malformed.
    func id<ID: BodyID>() throws(Problem) -> ID {
        guard let text = parameters.first, let id = ID(text: text) else { throw .notFound }
        return id
    }

    /// Returns the calling application, on routes whose caller is `.application`.
    func caller() throws(Problem) -> ApplicationRecord {
        try asking().record
    }

    /// Returns the calling application with its API key, so that a transaction can check the key.
    func asking() throws(Problem) -> AskingApplication {
        guard let application else { throw .apiKeyRefused }
        return application
    }

    /// Returns the device that sent the request, on routes whose caller is `.device`.
    func deviceSigner() throws(Problem) -> Signer { try provenDevice().signer }

    /// Returns that device together with the factor and the MAC token that authenticated it.
    func provenDevice() throws(Problem) -> AuthenticatedDevice {
        guard let device else { throw .refused }
        return device
    }
}
