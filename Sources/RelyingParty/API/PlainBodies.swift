// SPDX-License-Identifier: Apache-2.0
import Domain
import JSONFormat
import ServerAPI
import SignedFormats

// The bodies of the most frequent calls, encoded and decoded without `Codable`.
//
// They have the same form as with `Codable`. An initialiser that returns nil leaves it to `Codable`
// to say what is wrong, or to decode members that it does not handle itself.

extension AuthenticationRequest: PlainDecodable {
    init?(_ object: JSON) {
        guard object.memberCount == 4, let authorization = object["authorization"]?.stringValue,
            let method = object["method"]?.stringValue,
            let resource = object["resource"]?.stringValue, let body = object.binary("body")
        else { return nil }
        self.authorization = TextBytes([UInt8](authorization.utf8))
        self.method = TextBytes([UInt8](method.utf8))
        self.resource = TextBytes([UInt8](resource.utf8))
        self.body = body
    }
}

extension SignedChallengeRequest: PlainDecodable {
    init?(_ object: JSON) {
        // A third member is a module's challenge, or unknown.
        guard object.memberCount == 2, let statement = object.binary("statement"),
            let signature = object.binary("signature")
        else { return nil }
        self.init(statement: statement, signature: signature, module: nil)
    }
}

extension ChallengeRequest: PlainDecodable {
    init?(_ object: JSON) {
        guard let application = object["application"]?.stringValue.flatMap({ Name($0) }),
            let account = object["account"]?.stringValue.flatMap({ Name($0) }),
            let device = object["device"]?.stringValue.flatMap({ DeviceID(text: $0) })
        else { return nil }
        var action: ChallengeAction?
        if let member = object["action"] {
            guard let known = member.stringValue.flatMap({ ChallengeAction(rawValue: $0) }) else {
                return nil
            }
            action = known
        }
        guard object.memberCount == (action == nil ? 3 : 4) else { return nil }
        self.init(application: application, account: account, device: device, action: action)
    }
}

extension JSON {
    /// A member with base64url text without padding, decoded; nil for anything else.
    fileprivate func binary(_ name: String) -> Binary? {
        self[name]?.stringValue.flatMap { Base64.decode([UInt8]($0.utf8), alphabet: .url) }.map {
            Binary($0)
        }
    }
}

extension AuthenticationAnswer: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("account", text: account)
        json.put("application", text: application)
        json.put("applicationRoles", texts: applicationRoles)
        json.put("code", text: code)
        json.put("device", text: device?.text)
        json.put("factor", text: factor)
        json.put("flags", texts: flags)
        json.put("registration", text: registration?.text)
        json.put("remainingAttempts", number: remainingAttempts)
        json.put("roles", texts: roles)
        json.put("status", text: status?.rawValue)
        json.put("valid", valid)
        json.end()
    }
}

extension ChallengeAnswer: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("audience", text: audience)
        json.put("challenge", text: base64(challenge.bytes))
        json.put("expires", number: expires)
        if let policy {
            json.begin("policy")
            json.put("factors", texts: policy.factors.map(\.rawValue))
            json.put("keys", text: policy.keys.rawValue)
            json.put("secureBoot", text: policy.secureBoot.rawValue)
            json.end()
        }
        json.end()
    }
}

extension AcceptedLogin: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("account", text: account)
        json.put("application", text: application)
        json.put("applicationRoles", texts: applicationRoles)
        json.put("factor", text: factor)
        json.put("flags", texts: flags)
        json.put("registration", text: registration.text)
        json.put("remainingAttempts", number: remainingAttempts)
        json.put("roles", texts: roles)
        json.put("status", text: status.rawValue)
        json.begin("tokens")
        json.put("accessToken", text: tokens.accessToken)
        json.put("expiresIn", number: tokens.expiresIn)
        json.put("refreshToken", text: tokens.refreshToken)
        json.put("tokenType", text: tokens.tokenType)
        json.end()
        json.put("valid", valid)
        if let verdict {
            json.begin("verdict")
            json.put("signature", text: base64(verdict.signature.bytes))
            json.put("statement", text: base64(verdict.statement.bytes))
            json.end()
        }
        json.end()
    }
}

extension AccessClaims: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("amr", texts: amr)
        json.put("aud", text: aud)
        json.put("exp", number: exp)
        json.put("flags", texts: flags)
        json.put("iat", number: iat)
        json.put("iss", text: iss)
        json.put("jti", text: jti)
        json.put("reg", text: reg)
        json.put("roles", texts: roles)
        json.put("sid", text: sid)
        json.put("sub", text: sub)
        json.end()
    }
}
