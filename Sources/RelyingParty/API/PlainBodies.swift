// SPDX-License-Identifier: Apache-2.0
// The plain form of the bodies of the most frequent calls.

extension AuthenticationRequest: PlainDecodable {
    init?(_ object: PlainObject) {
        guard let authorization = object["authorization"], let method = object["method"],
            let resource = object["resource"], let body = object.binary("body")
        else { return nil }
        self.authorization = TextBytes(authorization)
        self.method = TextBytes(method)
        self.resource = TextBytes(resource)
        self.body = body
    }
}

extension SignedChallengeRequest: PlainDecodable {
    init?(_ object: PlainObject) {
        guard let statement = object.binary("statement"),
            let signature = object.binary("signature"), !object.has("module")
        else { return nil }
        self.statement = statement
        self.signature = signature
        module = nil
    }
}

extension ChallengeRequest: PlainDecodable {
    init?(_ object: PlainObject) {
        guard let application = object.text("application").flatMap({ Name($0) }),
            let account = object.text("account").flatMap({ Name($0) }),
            let device = object.text("device").flatMap({ ID(text: $0) })
        else { return nil }
        var action: ChallengeAction?
        if let word = object.text("action") {
            guard let known = ChallengeAction(rawValue: word) else { return nil }
            action = known
        }
        self.application = application
        self.account = account
        self.device = device
        self.action = action
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
