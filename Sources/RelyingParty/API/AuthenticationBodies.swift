// SPDX-License-Identifier: Apache-2.0
import Domain
import ServerAPI

/// The body with which a back end asks about a request that it received.
struct AuthenticationRequest: Decodable {
    /// The value of the request's `Authorization` header.
    let authorization: TextBytes
    let method: TextBytes
    /// The request target, as the device has signed it.
    let resource: TextBytes
    /// SHA-256 of the exact body, 32 bytes.
    let body: Binary
}

/// A string as its UTF-8 bytes, because it is compared byte by byte with the signed text.
struct TextBytes: Decodable, Sendable {
    let bytes: [UInt8]

    /// Creates a value from bytes, which must be well-formed UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        bytes = [UInt8](try decoder.singleValueContainer().decode(String.self).utf8)
    }
}

/// Whether a request's code is valid, and if so, which device and account sent it.
///
/// If it is not valid, only `valid`, `code`, the application and, if the code was right,
/// `remainingAttempts` are present.
struct AuthenticationAnswer: Encodable, Sendable {
    let valid: Bool
    /// Why it is not valid; nil if it is.
    let code: String?
    /// How many failures are left until the registration is BLOCKED; nil unless its key or its token
    /// made the code.
    let remainingAttempts: Int64?
    /// The application that asked.
    let application: String
    /// The application's own roles.
    let applicationRoles: [String]
    let account: String?
    let registration: RegistrationID?
    let device: DeviceID?
    let status: RegistrationStatus?
    let factor: String?
    let flags: [String]?
    let roles: [String]?

    /// The answer for an invalid code, which contains only the reason and who asked.
    init(refusedFor problem: Problem, application name: String, roles applicationRoles: [String]) {
        valid = false
        code = problem.code
        remainingAttempts = problem.remainingAttempts
        application = name
        self.applicationRoles = applicationRoles
        account = nil
        registration = nil
        device = nil
        status = nil
        factor = nil
        flags = nil
        roles = nil
    }
}

/// A MAC token in a list, without its secret.
struct MACTokenState: Encodable, Sendable {
    let token: MACTokenID
    let name: String
    let created: Int64
    let expires: Int64
    let revoked: Bool
}

struct MACTokenList: Encodable, Sendable {
    let tokens: [MACTokenState]
}
