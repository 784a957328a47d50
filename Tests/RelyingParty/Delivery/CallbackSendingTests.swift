// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Posix
import SQL
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Callbacks")
struct CallbackSendingTests {
    @Test("arrive once, signed for their receiver, and are forgotten", arguments: Backend.allCases)
    func delivered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let receiver = try CallbackReceiver()
        try await server.setCallback(receiver.url)
        let device = try TestDevice()
        try await server.register(device)
        let happened = server.time.now
        server.time.pass(100)
        try await server.send()
        try await server.send()
        #expect(receiver.received.count == 1)
        let claims = try server.claims(try #require(receiver.received.first))
        let id = try #require(claims["jti"] as? String)
        #expect(id.wholeMatch(of: #/[0-9a-f]{32}/#) != nil)
        let expected: [String: Any] = [
            "iss": "https://id.example.org", "aud": receiver.url, "iat": server.time.now,
            "exp": server.time.now + 300, "jti": id, "type": "registration.active",
            "time": happened, "application": "shop", "account": "alice",
            "registration": device.registration,
        ]
        #expect(NSDictionary(dictionary: claims) == NSDictionary(dictionary: expected))
        #expect(try await server.waitingEvents() == [])
        #expect(try await server.callback()?.succeeded == server.time.now)
        await receiver.stop()
    }

    @Test("are no access tokens, and access tokens are no callbacks")
    func noAccessToken() async throws {
        let server = try await TestServer.make(.sqlite)
        let receiver = try CallbackReceiver()
        try await server.setCallback(receiver.url)
        let device = try TestDevice()
        try await server.register(device)
        try await server.send()
        let body = try #require(receiver.received.first)
        #expect(throws: TokenFault.unknownHeader) {
            try JSONWebToken.verify(body, keys: server.service.keys.verifying)
        }
        let answer = try await server.ask(
            "POST", "/v1/token/introspect", ["token": String(decoding: body, as: UTF8.self)])
        #expect(answer.status == 200 && answer["active"] as? Bool == false)
        let tokens = try #require(try await server.logIn(device)["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        #expect(throws: Unexpected.self) { try server.claims([UInt8](token.utf8)) }
        await receiver.stop()
    }

    /// What a receiver does that does not take a callback, and how the attempt counts.
    enum Ailment: String, CaseIterable, Sendable {
        case fault, redirection, refusal, slow, huge, closed
    }

    @Test(
        "wait where their receiver fails, and are sent again with the same id",
        arguments: Ailment.allCases)
    func failing(ailment: Ailment) async throws {
        let server = try await TestServer.make(.sqlite)
        let gate = Turnstile()
        let elsewhere = try CallbackReceiver()
        let isWell = SharedValue(false)
        let receiver = try CallbackReceiver { _, _ in
            if isWell.value { return HTTPResponse(status: 200) }
            switch ailment {
            case .fault: return HTTPResponse(status: 500)
            case .redirection:
                return HTTPResponse(status: 302, headers: [("Location", elsewhere.url)])
            case .refusal: return HTTPResponse(status: 404)
            case .slow:
                await gate.pass()
                return HTTPResponse(status: 200)
            case .huge, .closed:
                return HTTPResponse(
                    status: 200, body: [UInt8](repeating: 0x20, count: 65_537))
            }
        }
        let closed = "http://127.0.0.1:\(try freePort())/"
        try await server.setCallback(ailment == .closed ? closed : receiver.url)
        try await server.makeEvents(1)
        try await server.send(limit: ailment == .slow ? .milliseconds(200) : .seconds(10))
        let record = try #require(try await server.callback())
        #expect(record.failures == 1 && record.failed == server.time.now)
        #expect((3...5).contains(record.retry - server.time.now))
        let expected =
            switch ailment {
            case .fault: "the receiver answered with status 500"
            case .redirection: "the receiver answered with status 302"
            case .refusal: "the receiver answered with status 404"
            case .slow: "the receiver did not answer in time"
            case .huge: "the receiver's answer is too long"
            case .closed: "the server cannot be reached: "
            }
        #expect(record.reason.hasPrefix(expected), "\(record.reason)")
        #expect(elsewhere.received.isEmpty)
        // It is not tried again before its time.
        let before = receiver.received.count
        try await server.send()
        #expect(receiver.received.count == before)
        isWell.value = true
        await gate.open()
        if ailment == .closed { try await server.setCallback(receiver.url) }
        server.time.pass(5)
        try await server.send()
        #expect(try await server.waitingEvents() == [])
        #expect(try await server.callback()?.failures == 0)
        let ids = try receiver.received.map { try server.claims($0)["jti"] as? String }
        #expect(Set(ids).count == 1 && ids.count == before + 1)
        // Each attempt is signed at its own time.
        let last = try server.claims(try #require(receiver.received.last))
        #expect(last["iat"] as? Int64 == server.time.now)
        await receiver.stop()
        await elsewhere.stop()
    }

    @Test(
        "are never sent to the server's own network",
        arguments: [
            "https://localhost/", "https://localhost:8443/x", "https://127.0.0.1/",
            "https://[::1]/",
            "https://169.254.169.254/latest/meta-data/", "https://[::ffff:127.0.0.1]/",
            "https://10.0.0.1/", "http://localhost/",
        ])
    func ownNetwork(url: String) async throws {
        let carrier = CallbackCarrier(networks: CallbackNetworks(), authorities: .system)
        let outcome = await carrier.deliver(CallbackMessage(url: url, body: []))
        guard case .failed(.address(let reason)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("address"))
    }

    @Test("are sent to the one address that was checked, whatever the name stands for later")
    func rebinding() async throws {
        let receiver = try CallbackReceiver()
        let port = receiver.url.split(separator: ":")[2].prefix { $0 != "/" }
        let lookups = SharedValue(0)
        var carrier = CallbackCarrier(
            networks: CallbackNetworks(listed: [try AddressBlock("127.0.0.0/8")]),
            authorities: .system)
        let here = try #require(InternetAddress("127.0.0.1"))
        let metadata = try #require(InternetAddress("169.254.169.254"))
        carrier.resolve = { _ in lookups.change { $0 + 1 } == 0 ? [here] : [metadata] }
        let url = "http://rebinding.invalid:\(port)/callback"
        #expect(await carrier.deliver(CallbackMessage(url: url, body: [1])) == .delivered)
        #expect(lookups.value == 1 && receiver.received.count == 1)
        // The second delivery asks again, and is refused.
        let second = await carrier.deliver(CallbackMessage(url: url, body: [1]))
        #expect(second == .failed(.address("169.254.169.254 is not a public address")))
        // One bad address among good ones is enough.
        carrier.resolve = { _ in [here, metadata] }
        #expect(await carrier.deliver(CallbackMessage(url: url, body: [1])) == second)
        // An address of this machine is refused although it is public.
        let public6 = try #require(InternetAddress("2606:4700::1111"))
        carrier.resolve = { _ in [public6] }
        carrier.isOwn = { $0 == public6 }
        #expect(
            await carrier.deliver(CallbackMessage(url: "https://own.invalid/", body: []))
                == .failed(.address("2606:4700::1111 is this machine's own address")))
        carrier.resolve = { _ throws(ResolutionFault) in throw ResolutionFault(reason: "gone") }
        #expect(
            await carrier.deliver(CallbackMessage(url: "https://gone.invalid/", body: []))
                == .failed(.resolution("gone")))
        #expect(receiver.received.count == 1)
        await receiver.stop()
    }

    @Test("reach only a receiver whose certificate is by an authority, and for its name")
    func certificates() async throws {
        let scratch = try Scratch()
        let made = try Program(
            Command([
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", "/CN=x", "-addext",
                "subjectAltName=DNS:shop.example", "-keyout", scratch.at("key.pem"), "-out",
                scratch.at("chain.pem"),
            ])
        ).expectEnd()
        #expect(made.succeeded)
        var key = try scratch.read("key.pem")
        let chain = try scratch.read("chain.pem")
        let receiver = try CallbackReceiver(
            identity: .init(chain: chain, key: SecretBytes(moving: &key)))
        let port = receiver.url.split(separator: ":")[2].prefix { $0 != "/" }
        let here = try #require(InternetAddress("127.0.0.1"))
        func outcome(
            _ host: String, _ authorities: ClientConfiguration.Authorities
        ) async throws -> CallbackOutcome {
            var carrier = CallbackCarrier(
                networks: CallbackNetworks(listed: [try AddressBlock("127.0.0.0/8")]),
                authorities: authorities)
            carrier.resolve = { _ in [here] }
            return await carrier.deliver(
                CallbackMessage(url: "https://\(host):\(port)/", body: []))
        }
        #expect(try await outcome("shop.example", .certificates(chain)) == .delivered)
        #expect(
            try await outcome("bank.example", .certificates(chain))
                == .failed(.certificate("\(TLSRefusal.anotherName)")))
        #expect(
            try await outcome("shop.example", .system)
                == .failed(.certificate("\(TLSRefusal.unknownAuthority)")))
        #expect(receiver.received.count == 1)
        await receiver.stop()
    }

    @Test("of one application are not held up by another's receiver that hangs")
    func separateLanes() async throws {
        let server = try await TestServer.make(.sqlite)
        _ = try await server.makeApplication("bank")
        let gate = Turnstile()
        let dead = try CallbackReceiver { _, _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        let receiver = try CallbackReceiver()
        try await server.setCallback(dead.url, of: "bank")
        try await server.setCallback(receiver.url)
        try await server.makeEvents(20, application: "bank")
        let sender = try server.sender()
        let running = Task { await sender.run(every: .milliseconds(5)) }
        let most = Int(Callbacks.batch)
        try await until { dead.received.count == most }
        try await server.makeEvents(20)
        try await until { receiver.received.count == 20 }
        // Those of the other lane still hang, and no more were begun.
        #expect(dead.received.count == most)
        running.cancel()
        await running.value
        await gate.open()
        await dead.stop()
        await receiver.stop()
    }

    @Test("to a dead receiver are tried one at a time, ever more rarely")
    func throttled() async throws {
        let server = try await TestServer.make(.sqlite)
        let receiver = try CallbackReceiver { _, _ in HTTPResponse(status: 503) }
        try await server.setCallback(receiver.url)
        try await server.makeEvents(50)
        try await server.send()
        let most = Int(Callbacks.batch)
        #expect(receiver.received.count == most)
        var waits: [Int64] = []
        for attempt in 1...14 {
            let record = try #require(try await server.callback())
            #expect(record.failures == attempt)
            waits.append(record.retry - server.time.now)
            server.time.pass(record.retry - server.time.now - 1)
            try await server.send()
            #expect(receiver.received.count == most - 1 + attempt)
            server.time.pass(1)
            try await server.send()
            #expect(receiver.received.count == most + attempt)
        }
        for (failures, wait) in waits.enumerated() {
            let whole = min(3_600, Int64(5) << Int64(failures))
            #expect(((whole - whole / 2)...whole).contains(wait), "\(waits)")
        }
        await receiver.stop()
    }

    @Test("that a receiver does not like do not hold up those that it does")
    func poison() async throws {
        let server = try await TestServer.make(.sqlite)
        let receiver = try CallbackReceiver { _, body in
            let isPoison = try? server.claims(body)["type"] as? String == "account.blocked"
            return HTTPResponse(status: isPoison == true ? 400 : 200)
        }
        try await server.setCallback(receiver.url)
        try await server.makeEvents(2)
        for _ in 0..<10 {
            try await server.send()
            server.time.pass(5)
        }
        #expect(try await server.waitingEvents().map(\.type) == ["account.blocked"])
        try await server.makeEvents(20)
        for _ in 0..<120 {
            try await server.send()
            server.time.pass(5)
        }
        #expect(Set(try await server.waitingEvents().map(\.type)) == ["account.blocked"])
        #expect(try await server.waitingEvents().count == 11)
        await receiver.stop()
    }

    @Test(
        "are dropped when they are too old, which is counted and written down",
        arguments: Backend.allCases)
    func dropped(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.setCallback("https://shop.example/")
        try await server.makeEvents(3)
        server.time.pass(72 * 3_600)
        try await server.makeEvents(2)
        await server.service.maintenance.forgetOld()
        #expect(try await server.waitingEvents().count == 5)
        server.time.pass(1)
        await server.service.maintenance.forgetOld()
        #expect(try await server.waitingEvents().count == 2)
        let lines = try await server.rows(
            "SELECT outcome, application, detail FROM audit WHERE event = 'callback'")
        #expect(lines.count == 1)
        #expect(try lines.first?.text(0) == "dropped" && lines.first?.text(1) == "shop")
        #expect(try lines.first?.text(2) == "3 events were not delivered within 72 hours")
        let text = server.service.callbacks.figures.text(
            backlog: await server.service.callbacks.backlog())
        #expect(text.contains("signet_callbacks_dropped_total 3\n"))
        #expect(text.contains("signet_callback_queue 2\n"))
        #expect(text.contains("signet_callback_oldest_seconds 1\n"))
    }

    @Test("are counted by what became of them")
    func figures() async throws {
        let server = try await TestServer.make(.sqlite)
        let receiver = try CallbackReceiver { number, _ in
            HTTPResponse(status: number == 0 ? 500 : 200)
        }
        try await server.setCallback(receiver.url)
        try await server.makeEvents(1)
        try await server.send()
        server.time.pass(5)
        try await server.send()
        try await server.setCallback("http://10.0.0.1/")
        try await server.makeEvents(1)
        try await server.send()
        let text = server.service.callbacks.figures.text(
            backlog: await server.service.callbacks.backlog())
        for line in [
            "signet_callbacks_total{outcome=\"ok\"} 1",
            "signet_callbacks_total{outcome=\"status\"} 1",
            "signet_callbacks_total{outcome=\"address\"} 1", "signet_callback_queue 1",
        ] {
            #expect(text.contains(line + "\n"), "\(text)")
        }
        await receiver.stop()
    }
}
