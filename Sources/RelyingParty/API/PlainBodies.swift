// SPDX-License-Identifier: Apache-2.0
import Domain
import JSONFormat
import SignedFormats

// The bodies of the most frequent calls, encoded and decoded without `Codable`.
//
// They have the same form as with `Codable`. An initialiser that returns nil leaves it to `Codable`
// to say what is wrong, or to decode members that it does not handle itself.

extension AuthenticationRequest: PlainDecodable {
    init?(_ object: JSON) {
        guard let authorization = object["authorization"]?.stringValue,
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
        guard let statement = object.binary("statement"),
            let signature = object.binary("signature"), object["module"] == nil
        else { return nil }
        self.statement = statement
        self.signature = signature
        module = nil
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
        self.application = application
        self.account = account
        self.device = device
        self.action = action
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
        json.put("account", account)
        json.put("application", application)
        json.put("code", code)
        json.put("device", device?.text)
        json.put("factor", factor)
        json.put("flags", flags)
        json.put("registration", registration?.text)
        json.put("remainingAttempts", remainingAttempts)
        json.put("roles", roles)
        json.put("status", status?.rawValue)
        json.put("valid", valid)
        json.end()
    }
}

extension ChallengeAnswer: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("audience", audience)
        json.put("challenge", base64(challenge.bytes))
        json.put("expires", expires)
        json.end()
    }
}

extension LoginAnswer: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("account", account)
        json.put("application", application)
        json.put("factor", factor)
        json.put("flags", flags)
        json.put("registration", registration.text)
        json.put("remainingAttempts", remainingAttempts)
        json.put("roles", roles)
        json.put("status", status.rawValue)
        json.begin("tokens")
        json.put("accessToken", tokens.accessToken)
        json.put("expiresIn", tokens.expiresIn)
        json.put("refreshToken", tokens.refreshToken)
        json.put("tokenType", tokens.tokenType)
        json.end()
        json.put("valid", valid)
        if let verdict {
            json.begin("verdict")
            json.put("signature", base64(verdict.signature.bytes))
            json.put("statement", base64(verdict.statement.bytes))
            json.end()
        }
        json.end()
    }
}

extension AccessClaims: PlainEncodable {
    func write(to json: inout JSONWriter) {
        json.begin()
        json.put("amr", amr)
        json.put("aud", aud)
        json.put("exp", exp)
        json.put("flags", flags)
        json.put("iat", iat)
        json.put("iss", iss)
        json.put("jti", jti)
        json.put("reg", reg)
        json.put("roles", roles)
        json.put("sid", sid)
        json.put("sub", sub)
        json.end()
    }
}
