// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import JSONFormat
import SignedFormats

/// The calls that the site makes to signet-server, as described in docs/developer/SERVER-INTEGRATE.md.
///
/// The calls are authenticated with the application's API key. Browsers never see the key or a
/// token.
struct SignetServer: Sendable {
    let client: HTTPClient
    /// The server's URL, without a slash at its end.
    let url: String
    /// The application's API key.
    let key: String

    /// Makes a call, and returns the JSON body of its success.
    ///
    /// - Throws: `.refused` with the status and code of a problem, or `.unavailable` if the server
    ///   does not answer, or not as documented.
    private func call(
        _ method: String, path: String, body: [(name: String, value: JSON)]? = nil
    ) async throws(CallFault) -> JSON {
        var request = ClientRequest(
            method: method, url: url + path, headers: [("Authorization", "Bearer \(key)")])
        if let body {
            request.headers.append(("Content-Type", "application/json"))
            request.body = JSON.object(body).encoded()
        }
        let answer: HTTPAnswer
        do throws(ClientFault) {
            answer = try await client.send(request)
        } catch { throw .unavailable("\(error)") }
        guard let json = try? JSON(parsing: answer.body) else {
            throw .unavailable("status \(answer.status), and no JSON")
        }
        if answer.status == 200 || answer.status == 201 { return json }
        let code = json["code"]?.stringValue ?? ""
        switch (answer.status, code) {
        case (401, "api-key-refused"): throw .unavailable("the API key is refused")
        case (400..<429, _) where !code.isEmpty: throw .refused(status: answer.status, code: code)
        default: throw .unavailable("status \(answer.status) \(code)")
        }
    }
}

/// Why a call did not succeed.
enum CallFault: Error, Equatable {
    /// The server refused the call, with the code of a problem (RFC 9457).
    case refused(status: Int, code: String)
    /// The call could not be made, or its answer cannot be used; the text is for the log.
    case unavailable(String)
}

// Logins that are approved on a device.
extension SignetServer {
    /// Begins a login for a visitor in a browser.
    ///
    /// Because of the visitor's address, the server counts this login with those of strangers. If
    /// there is no such account, or it may not log in, the server answers as if the login had
    /// begun.
    func beginLogin(
        account: String, template: String, code: String, visitor: String, agent: String
    ) async throws(CallFault) -> PendingLogin {
        let answer = try await call(
            "POST", path: "/v1/login/init",
            body: [
                ("account", .string(account)), ("template", .string(template)),
                ("data", .object([("code", .string(code))])), ("visitor", .string(visitor)),
                ("additional", .object([("agent", .string(agent))])),
            ])
        return PendingLogin(
            operation: try answer.text("operation"), session: try answer.text("session"),
            text: try answer.text("data"), expires: try answer.number("expires"))
    }

    /// Whether a login was approved; false for one that was only pretended.
    func isApproved(_ login: PendingLogin) async throws(CallFault) -> Bool {
        do throws(CallFault) {
            let answer = try await call("GET", path: "/v1/operations/\(login.operation)")
            return try answer.text("status") == "APPROVED"
        } catch {
            guard case .refused(404, _) = error else { throw error }
            return false
        }
    }

    /// Cancels a login; one that has ended, or was only pretended, is not changed.
    func cancel(_ login: PendingLogin) async throws(CallFault) {
        do throws(CallFault) {
            _ = try await call("POST", path: "/v1/operations/\(login.operation)/cancel", body: [])
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    /// Exchanges an approved login for tokens, which succeeds once and only with its session
    /// secret.
    func confirm(_ login: PendingLogin) async throws(CallFault) -> ConfirmedLogin {
        let answer = try await call(
            "POST", path: "/v1/login/confirm",
            body: [("operation", .string(login.operation)), ("session", .string(login.session))])
        guard let tokens = answer["tokens"] else { throw .lacking("tokens") }
        return ConfirmedLogin(
            account: try answer.text("account"), application: try answer.text("application"),
            registration: try answer.text("registration"), tokens: try Tokens(tokens))
    }
}

// Tokens.
extension SignetServer {
    /// Whether an access token is valid now.
    func isActive(_ tokens: Tokens) async throws(CallFault) -> Bool {
        let answer = try await call(
            "POST", path: "/v1/token/introspect", body: [("token", .string(tokens.access))])
        guard let isActive = answer["active"]?.boolValue else { throw .lacking("active") }
        return isActive
    }

    /// Exchanges a refresh token for the next pair; nil if the session has ended.
    func refresh(_ tokens: Tokens) async throws(CallFault) -> Tokens? {
        do throws(CallFault) {
            return try Tokens(
                try await call(
                    "POST", path: "/v1/token/refresh",
                    body: [("refreshToken", .string(tokens.refresh))]))
        } catch {
            guard case .refused(401, _) = error else { throw error }
            return nil
        }
    }

    /// Ends the session of these tokens at the server.
    func revoke(_ tokens: Tokens) async throws(CallFault) {
        _ = try await call(
            "POST", path: "/v1/token/revoke", body: [("token", .string(tokens.refresh))])
    }
}

// What the server stores about an account.
extension SignetServer {
    /// The registrations of an account, newest first.
    func devices(of account: String) async throws(CallFault) -> [Device] {
        var devices: [Device] = []
        for json in try await list("registrations", of: account, member: "registrations").reversed()
        {
            devices.append(try Device(json))
        }
        return devices
    }

    /// The latest operations and logins of an account, newest first.
    func operations(of account: String) async throws(CallFault) -> [Operation] {
        var operations: [Operation] = []
        for json in try await list("operations", of: account, member: "operations") {
            operations.append(try Operation(json))
        }
        return operations
    }

    /// The latest audit lines of an account, newest first.
    func receipts(of account: String) async throws(CallFault) -> [Receipt] {
        var receipts: [Receipt] = []
        for json in try await list("audit", of: account, member: "entries") {
            receipts.append(try Receipt(json))
        }
        return receipts
    }

    private func list(
        _ what: String, of account: String, member: String
    ) async throws(CallFault) -> [JSON] {
        let answer = try await call("GET", path: "/v1/accounts/\(escaped(account))/\(what)")
        guard let list = answer[member]?.arrayValue else { throw .lacking(member) }
        return list
    }

    /// Percent-encodes a name for use as one part of a path (RFC 3986, section 2.1).
    private func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(Unicode.Scalar(byte))
            default: "%" + String(decoding: Hexadecimal.encode([byte]), as: UTF8.self)
            }
        }.joined()
    }
}
