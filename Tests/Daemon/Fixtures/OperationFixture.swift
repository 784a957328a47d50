// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

// MAC tokens and operations, as the command asks for them.
extension ServerFixture {
    /// Asks as a person and touches at each invitation; all that came.
    @discardableResult
    func touching(
        _ request: Request, _ person: Person = .daemon, with finger: String = "one"
    ) throws -> [Answer] {
        let client = try daemon.client(person)
        _ = try daemon.touchEach(request, with: finger, client: client)
        return client.heard
    }

    /// Asks as a person, without a touch.
    func asking(_ request: Request, _ person: Person = .daemon) throws -> [Answer] {
        let client = try daemon.client(person)
        try client.send(request)
        return try client.rest()
    }

    func addToken(
        _ name: String, _ person: Person = .daemon, with finger: String = "one"
    ) throws -> Answer {
        let answers = try touching(
            .macTokenAdd(
                MACTokenAddRequest(
                    account: person.account, timeoutMilliseconds: 20_000, server: url,
                    name: Bytes(name.utf8))), person, with: finger)
        return try #require(answers.last)
    }

    /// The header of a request, by the token `name`.
    func header(
        _ name: String, _ method: String = "GET", _ resource: String = "/v1/payments",
        body: Bytes = Digests.nothing, _ person: Person = .daemon
    ) throws -> Answer {
        try #require(
            try asking(
                .macTokenHeader(
                    MACTokenHeaderRequest(
                        account: person.account, server: url, name: Bytes(name.utf8),
                        method: Bytes(method.utf8), resource: Bytes(resource.utf8),
                        bodyDigest: body)), person
            ).last)
    }

    func tokens(_ person: Person = .daemon) throws -> [MACTokenAnswer] {
        try asking(.macTokenList(account: person.account), person).compactMap { answer in
            if case .macToken(let token) = answer { token } else { nil }
        }
    }

    /// What the server says of a header: nil where it is valid, else the code.
    func verdict(
        _ header: String, _ method: String = "GET", _ resource: String = "/v1/payments",
        body: Bytes = Digests.nothing
    ) throws -> String? {
        let answer = try server.ask(
            "POST", "/v1/authentication/verify",
            [
                "authorization": header, "method": method, "resource": resource,
                "body": String(decoding: Base64.encode(body, alphabet: .url), as: UTF8.self),
            ])
        if answer["valid"] as? Bool == true {
            #expect(answer["factor"] as? String == "possession")
            return nil
        }
        return answer["code"] as? String ?? "\(answer)"
    }

    func listing(mayTouch: Bool = true, only server: ServerURL? = nil) -> Request {
        .operationList(
            OperationListRequest(
                account: Person.daemon.account, timeoutMilliseconds: mayTouch ? 20_000 : nil,
                server: server))
    }

    /// The texts of what awaits, with touches where they are wanted, and how many that were.
    func awaited() throws -> (texts: [String], touches: Int) {
        let answers = try touching(listing())
        let touches = answers.filter { $0.notice?.kind == .touch }.count
        return (answers.compactMap(\.operation).map(\.text), touches)
    }

    func deciding(_ choice: OperationChoice, _ id: String) throws -> Request {
        .operationDecide(
            OperationDecideRequest(
                account: Person.daemon.account, timeoutMilliseconds: 20_000, server: url,
                operation: try #require(OperationID(hexadecimal: Bytes(id.utf8))), decision: choice)
        )
    }

    func showing(_ id: String, mayTouch: Bool = true) throws -> Request {
        .operationShow(
            OperationShowRequest(
                account: Person.daemon.account, timeoutMilliseconds: mayTouch ? 20_000 : nil,
                server: url, operation: try #require(OperationID(hexadecimal: Bytes(id.utf8)))))
    }
}

/// SHA-256 of what bodies there are.
enum Digests {
    /// Of nothing, in hexadecimal as sha256sum(1) has it.
    static let nothing =
        Hexadecimal.decode(
            Bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".utf8)) ?? []
}

extension Answer {
    var header: String? {
        if case .authorization(let header) = self {
            String(decoding: header, as: UTF8.self)
        } else {
            nil
        }
    }
    var operation: OperationAnswer? {
        if case .operation(let operation) = self { operation } else { nil }
    }
    var trouble: ServerTroubleAnswer? {
        if case .serverTrouble(let trouble) = self { trouble } else { nil }
    }
    var decided: OperationState? { if case .decided(let state) = self { state } else { nil } }
}

extension OperationAnswer {
    var text: String { String(decoding: content.data, as: UTF8.self) }
}
