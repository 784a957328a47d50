// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import HTTPServer

@Suite("A line of libmicrohttpd")
struct LibraryLineTests {
    @Test(
        "is logged with its numbers, and without texts and what follows them",
        arguments: [
            ("nothing", "nothing", "nothing"),
            ("code %u.", "code 413.", "code 413."),
            ("%d of %lu, 5%%", "-1 of 77, 5%", "-1 of 77, 5%"),
            ("code %u ('%s')", "code 413 ('secret')", "code 413 ('…')"),
            ("'%s' code %u", "'secret' code 9' code 413", "'…' code …"),
            ("%.*s, %p: %u", "secret, 0x1: 7", "…, …: …"),
            ("ends in %", "ends in %", "ends in %"),
            ("another %u", "not this 7", "another …"),
            ("%u%s", "7", "7…"),
        ])
    func line(form: String, text: String, shown: String) {
        #expect(loggable(form: form, text: text) == shown)
    }

    @Test("says which answer it gave")
    func answer() async throws {
        let lines = Lines()
        var configuration = local()
        configuration.log = { lines.add($0) }
        let server = try HTTPServer(configuration, handler: echo)
        _ = try exchange(
            server.port,
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n")
        await server.stop(within: .seconds(1))
        #expect(lines.all.contains { $0.contains(#/HTTP response code is (413|400) \('…'\)/#) })
        #expect(!lines.all.contains { $0.contains("%") })
    }
}
