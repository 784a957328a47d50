// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQL
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Callbacks by several servers on one database")
struct CallbackLeaseTests {
    @Test("are each sent by one of them", arguments: Backend.allCases)
    func oneOfSeveral(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let receivers = try [CallbackReceiver(), CallbackReceiver(), CallbackReceiver()]
        for (number, receiver) in receivers.enumerated() {
            if number > 0 { _ = try await server.makeApplication("app\(number)") }
            let name = number == 0 ? "shop" : "app\(number)"
            try await server.setCallback(receiver.url, of: name)
            try await server.makeEvents(60, application: name)
        }
        let senders = try await [
            server.sender(), server.neighbour().sender(), server.neighbour().sender(),
        ]
        await withDiscardingTaskGroup { group in
            for sender in senders {
                group.addTask { for _ in 0..<12 { await sender.runOnce() } }
            }
        }
        for receiver in receivers {
            let ids = try receiver.received.map { try server.claims($0)["jti"] as? String }
            #expect(ids.count == 60 && Set(ids).count == 60)
            await receiver.stop()
        }
        #expect(try await server.waitingEvents() == [])
    }

    @Test(
        "of one that died are sent by another when its lease is over", arguments: Backend.allCases)
    func expiredLease(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let receiver = try CallbackReceiver()
        try await server.setCallback(receiver.url)
        try await server.makeEvents(1)
        let application = try #require(try await server.service.callbacks.due(most: 9).first)
        // It took the lease, and was never heard of again.
        let lost = try #require(try await server.service.callbacks.take(application))
        #expect(lost.events.count == 1)
        let neighbour = try await server.neighbour()
        for _ in 0..<3 { try await neighbour.send() }
        #expect(receiver.received.isEmpty)
        server.time.pass(59)
        try await neighbour.send()
        #expect(receiver.received.isEmpty)
        server.time.pass(1)
        try await neighbour.send()
        #expect(receiver.received.count == 1)
        // If the first comes back, it changes nothing of the other's.
        try await server.makeEvents(1)
        let other = try #require(try await neighbour.service.callbacks.take(application))
        let id = try #require(lost.events.first).id
        try await server.service.callbacks.settle(lost, [id: .failed(.timeout)])
        #expect(try await server.callback()?.failures == 0)
        #expect(try await server.service.callbacks.take(application) == nil)
        let delivered = try #require(other.events.first).id
        try await neighbour.service.callbacks.settle(other, [delivered: .delivered])
        #expect(try await server.waitingEvents() == [])
        await receiver.stop()
    }

    @Test(
        "are held up by no lease and no delay that a wrong clock has set",
        arguments: Backend.allCases)
    func wrongClock(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let receiver = try CallbackReceiver()
        try await server.setCallback(receiver.url)
        try await server.makeEvents(1)
        try await server.change(
            "UPDATE callback SET lease = 4000000000, retry = 4000000000, failures = 1")
        try await server.change("UPDATE callback_event SET due = 4000000000")
        try await server.send()
        #expect(receiver.received.count == 1)
        await receiver.stop()
    }

    @Test(
        "are sent by the next at once if a server stops in the middle", arguments: Backend.allCases)
    func stopped(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let gate = Turnstile()
        let receiver = try CallbackReceiver { number, _ in
            if number == 0 { await gate.pass() }
            return HTTPResponse(status: 200)
        }
        try await server.setCallback(receiver.url)
        try await server.makeEvents(1)
        let sender = try server.sender()
        let running = Task { await sender.run(every: .milliseconds(5)) }
        try await until { receiver.received.count == 1 }
        running.cancel()
        await running.value
        let record = try #require(try await server.callback())
        #expect(record.failures == 0 && record.failed == nil)
        try await server.neighbour().send()
        #expect(receiver.received.count == 2)
        let ids = try receiver.received.map { try server.claims($0)["jti"] as? String }
        #expect(Set(ids).count == 1)
        await gate.open()
        await receiver.stop()
    }

    @Test("go to the new URL when it is changed, whatever the old one's receiver did")
    func changedURL() async throws {
        let server = try await TestServer.make(.sqlite)
        let old = try CallbackReceiver { _, _ in HTTPResponse(status: 500) }
        let new = try CallbackReceiver()
        try await server.setCallback(old.url)
        try await server.makeEvents(3)
        let application = try #require(try await server.service.callbacks.due(most: 9).first)
        let begun = try #require(try await server.service.callbacks.take(application))
        try await server.setCallback(new.url)
        let failures = begun.events.map { ($0.id, CallbackOutcome.failed(.status(500))) }
        try await server.service.callbacks.settle(
            begun, Dictionary(uniqueKeysWithValues: failures))
        // The failure of the old one does not count for the new one.
        #expect(try await server.callback()?.failures == 0)
        server.time.pass(5)
        try await server.send()
        #expect(old.received.isEmpty && new.received.count == 3)
        #expect(try server.claims(new.received[0])["aud"] as? String == new.url)
        await old.stop()
        await new.stop()
    }
}
