// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("Administration of templates")
struct TemplateAdministrationTests {
    @Test("makes, shows and removes them", arguments: Backend.allCases)
    func life(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.administer(
            "template", "add", "shop", "payment", "pay {amount} EUR\nto {payee}", "--seconds", "60",
            "--max-failures", "2", "--device", "one")
        try await server.administer(
            "template", "add", "shop", "login", "sign in", "--purpose", "login")
        let list = try await server.administer("template", "list", "shop")
        #expect(list.count == 3)
        #expect(
            list[2].hasPrefix("payment  operation  60       2             one     policy   pay"))
        #expect(list[2].hasSuffix("EUR\\nto {payee}"))
        var wish = TestServer.payment
        wish["device"] = hexadecimal(device.id)
        let id = try await server.operation(wish)
        try await server.administer("template", "remove", "shop", "payment")
        #expect(try await server.decide(id, by: device).status == 200)
        #expect(try await server.administer("template", "list", "shop").count == 2)
    }

    @Test("makes none that cannot be used", arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for (text, options) in [
            ("pay {amount", []), ("", []), ("pay\t1", []), ("pay", ["--seconds", "9"]),
            ("pay", ["--max-failures", "0"]), ("pay", ["--device", "two"]),
            ("pay", ["--purpose", "payment"]),
        ] {
            let words = ["template", "add", "shop", "payment", text] + options
            await #expect(throws: AdminFault.self) { try await server.administer(words) }
        }
        #expect(try await server.administer("template", "list", "shop") == ["none"])
        try await server.administer("template", "add", "shop", "payment", "pay")
        #expect(await server.fault("template", "add", "shop", "payment", "pay")?.status == 4)
        #expect(await server.fault("template", "add", "none", "payment", "pay")?.status == 3)
        #expect(await server.fault("template", "remove", "shop", "other")?.status == 3)
        #expect(await server.fault("template", "remove", "none", "payment")?.status == 3)
        #expect(await server.fault("template", "list", "none")?.status == 3)
    }
}
