// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("Administration of callbacks")
struct CallbackAdministrationTests {
    @Test(
        "sets, shows and removes the URL, and the trail has no secret of it",
        arguments: Backend.allCases)
    func life(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        #expect(await server.fault("callback", "show", "shop")?.status == 3)
        let url = "https://shop.example:8443/callback?key=secret"
        try await server.administer("callback", "set", "shop", url)
        try await server.makeEvents(2)
        server.time.pass(60)
        let shown = try await server.administer("callback", "show", "shop")
        #expect(shown.contains("url             \(url)"))
        #expect(shown.contains("waiting         2") && shown.contains("failures        0"))
        #expect(shown.contains("last failure    -"))
        let json = try await server.administer("callback", "show", "shop", "--json").joined()
        #expect(json.contains(#""waiting":2"#) && json.contains(#""url":"\#(url)""#))
        let removed = try await server.administer("callback", "remove", "shop")
        #expect(removed == ["'shop' is no longer notified; 2 events were not sent"])
        #expect(await server.fault("callback", "show", "shop")?.status == 3)
        #expect(await server.fault("callback", "remove", "shop")?.status == 3)
        try await server.makeEvents(1)
        #expect(try await server.waitingEvents() == [])
        let details = try await server.rows("SELECT detail FROM audit ORDER BY id")
            .map { try $0.text(0) }
        #expect(details.contains("callback set https://shop.example:8443"))
        #expect(!details.contains { $0.contains("secret") })
        #expect(details.filter { $0 == "callback remove" }.count == 2)
    }

    @Test("refuses what is no URL for a callback, and an application that is not there")
    func refusals() async throws {
        let server = try await TestServer.make(.sqlite)
        for url in [
            "shop.example", "https://u@shop.example/", "https://127.1/", "http://10.0.0.1/",
            // Whatever the name leads to, the sender would refuse it.
            "https://10.0.0.1/", "https://169.254.169.254/latest/meta-data", "https://[::1]/",
            "https://192.0.2.1/", "http://shop.example/", "https://shop.example:25/",
            "https://localhost/", "https://a.localhost:8443/",
        ] {
            #expect(await server.fault("callback", "set", "shop", url)?.status == 2, "\(url)")
        }
        for words in [
            ["set", "none", "https://a.example/"], ["show", "none"], ["remove", "none"],
        ] {
            #expect(await server.fault(["callback"] + words)?.status == 3)
        }
        #expect(try await server.callback() == nil)
    }

    @Test("says why a receiver fails and when it is tried again, and a new URL begins anew")
    func failing() async throws {
        let server = try await TestServer.make(.sqlite)
        // From a time at which the address was permitted.
        try await server.setCallback("https://127.0.0.1/x")
        try await server.makeEvents(1)
        let carrier = CallbackCarrier(networks: CallbackNetworks(), authorities: .system)
        await CallbackSender(server.service.callbacks) { await carrier.deliver($0) }.runOnce()
        let shown = try await server.administer("callback", "show", "shop")
        #expect(
            shown.contains(
                "last failure    refused: 127.0.0.1 is this machine's own address"), "\(shown)")
        #expect(shown.contains("failures        1") && !shown.contains("next attempt    -"))
        try await server.administer("callback", "set", "shop", "https://shop.example/x")
        let anew = try await server.administer("callback", "show", "shop")
        #expect(anew.contains("failures        0") && anew.contains("next attempt    -"))
        #expect(anew.contains("last failure    -") && anew.contains("waiting         1"))
    }
}
