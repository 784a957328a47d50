// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import JSONFormat
import SignedFormats

/// signet-server, as its applications call it: docs/developer/SERVER.md describes each call.
///
/// The API key authorises the calls. It stays in this process: browsers never see it, nor any token.
struct SignetServer: Sendable {
    let client: HTTPClient
    /// The server's URL, without a slash at its end.
    let url: String
    /// The application's API key.
    let key: String

    /// Makes a call; returns the body of a success.
    ///
    /// - Throws: the problem's status and code; `.unavailable` if the server does not answer as
    ///   documented, or not at all.
    private func call(
        _ method: String, _ path: String, _ body: [(name: String, value: JSON)]? = nil
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

/// Why a call had no success.
enum CallFault: Error, Equatable {
    /// The server refused it, with the code of a problem (RFC 9457).
    case refused(status: Int, code: String)
    /// It could not be made, or the answer cannot be used. The text is for the log.
    case unavailable(String)
}

// Logins that are approved on a device.
extension SignetServer {
    /// Begins a login for whoever sits at a browser.
    ///
    /// The visitor's address has the server count this login with those of strangers, and answer as
    /// if it had begun if there is no such account, or none that may log in.
    func beginLogin(
        account: String, template: String, code: String, visitor: String, agent: String
    ) async throws(CallFault) -> PendingLogin {
        let answer = try await call(
            "POST", "/v1/login/init",
            [
                ("account", .string(account)), ("template", .string(template)),
                ("data", .object([("code", .string(code))])), ("visitor", .string(visitor)),
                ("additional", .object([("agent", .string(agent))])),
            ])
        return PendingLogin(
            operation: try answer.text("operation"), session: try answer.text("session"),
            text: try answer.text("data"), expires: try answer.number("expires"))
    }

    /// Whether a login was approved. One that was only pretended is not, and is unknown here.
    func isApproved(_ login: PendingLogin) async throws(CallFault) -> Bool {
        do throws(CallFault) {
            let answer = try await call("GET", "/v1/operations/\(login.operation)")
            return try answer.text("status") == "APPROVED"
        } catch {
            guard case .refused(404, _) = error else { throw error }
            return false
        }
    }

    /// Takes a login back. One that is over, or was only pretended, stays as it is.
    func cancel(_ login: PendingLogin) async throws(CallFault) {
        do throws(CallFault) {
            _ = try await call("POST", "/v1/operations/\(login.operation)/cancel", [])
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    /// Exchanges an approved login for tokens: once, and only by the session that began it.
    func confirm(_ login: PendingLogin) async throws(CallFault) -> ConfirmedLogin {
        let answer = try await call(
            "POST", "/v1/login/confirm",
            [("operation", .string(login.operation)), ("session", .string(login.session))])
        guard let tokens = answer["tokens"] else { throw .lacking("tokens") }
        return ConfirmedLogin(
            account: try answer.text("account"), application: try answer.text("application"),
            registration: try answer.text("registration"), tokens: try Tokens(tokens))
    }
}

// Tokens.
extension SignetServer {
    /// Whether an access token is valid at this moment.
    func isActive(_ tokens: Tokens) async throws(CallFault) -> Bool {
        let answer = try await call(
            "POST", "/v1/token/introspect", [("token", .string(tokens.access))])
        guard let isActive = answer["active"]?.boolValue else { throw .lacking("active") }
        return isActive
    }

    /// Exchanges a refresh token for the next pair; nil if the session has ended.
    func refresh(_ tokens: Tokens) async throws(CallFault) -> Tokens? {
        do throws(CallFault) {
            return try Tokens(
                try await call(
                    "POST", "/v1/token/refresh", [("refreshToken", .string(tokens.refresh))]))
        } catch {
            guard case .refused(401, _) = error else { throw error }
            return nil
        }
    }

    /// Ends the session of these tokens.
    func revoke(_ tokens: Tokens) async throws(CallFault) {
        _ = try await call("POST", "/v1/token/revoke", [("token", .string(tokens.refresh))])
    }
}

// What the server stores about an account.
extension SignetServer {
    /// Newest first.
    func devices(of account: String) async throws(CallFault) -> [Device] {
        var devices: [Device] = []
        for json in try await list("registrations", of: account, "registrations").reversed() {
            devices.append(try Device(json))
        }
        return devices
    }

    /// The newest, newest first.
    func operations(of account: String) async throws(CallFault) -> [Operation] {
        var operations: [Operation] = []
        for json in try await list("operations", of: account, "operations") {
            operations.append(try Operation(json))
        }
        return operations
    }

    /// The newest, newest first.
    func receipts(of account: String) async throws(CallFault) -> [Receipt] {
        var receipts: [Receipt] = []
        for json in try await list("audit", of: account, "entries") {
            receipts.append(try Receipt(json))
        }
        return receipts
    }

    private func list(
        _ what: String, of account: String, _ member: String
    ) async throws(CallFault) -> [JSON] {
        let answer = try await call("GET", "/v1/accounts/\(escaped(account))/\(what)")
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
