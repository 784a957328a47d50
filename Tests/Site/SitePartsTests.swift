// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import Synchronization
import Testing

@testable import Site

@Suite("Parts of the site")
struct SitePartsTests {
    @Test("HTML escapes each value, and no markup of its own type")
    func html() {
        let value = "<a href=\"x\">&'\u{0}\n\u{202e}\u{feff}\u{85}é"
        let markup: HTML = "<b>\(value)</b>\("<i>" as HTML)\(7)"
        #expect(
            markup.text == """
                <b>&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}é</b><i>7
                """)
        #expect(HTML.lines("a\n<b\r\u{2028}c").text == "a\n&lt;b\u{fffd}\u{fffd}c")
    }

    @Test("the address is the origin of site.url, as browsers write it")
    func address() {
        let good = [
            "https://id.example.org": "https://id.example.org",
            "https://id.example.org/": "https://id.example.org",
            "HTTPS://ID.example.org:443/": "https://id.example.org",
            "https://id.example.org:8443": "https://id.example.org:8443",
            "http://localhost:80": "http://localhost",
            "http://127.0.0.1:8443":
                "http://127.0.0.1:8443", "http://[::1]:8443/": "http://[::1]:8443",
            "https://[2001:db8::1]": "https://[2001:db8::1]",
        ]
        for (url, origin) in good { #expect(SiteAddress(url)?.origin == origin, "\(url)") }
        for url in [
            "", "id.example.org", "ftp://id.example.org", "https://", "https:///",
            "https://id.example.org/signet", "https://a@b", "https://a b", "https://a?b",
            "https://a#b", "https://ä.example.org", "http://id.example.org",
            "http://localhost.example.org", "http://127.0.0.1.example.org", "http://192.0.2.1",
            "https://a,https://b", "https://a\r\nX: y",
        ] {
            #expect(SiteAddress(url) == nil, "\(url)")
        }
    }

    @Test("a form is read as browsers write it, and anything else is refused")
    func form() {
        func fields(_ text: String) -> [String: String]? { Form.fields(of: [UInt8](text.utf8)) }
        #expect(fields("account=a+b%2B%C3%A9&token=") == ["account": "a b+é", "token": ""])
        #expect(fields("") == [:])
        #expect(fields("a") == ["a": ""])
        #expect(fields("a=b=c") == ["a": "b=c"])
        for text in [
            "a=%", "a=%4", "a=%4g", "a=%00", "a=%c3", "%ff=a", "a=1&a=2", "a=\u{e9}", "a=\n",
        ] {
            #expect(fields(text) == nil, "\(text)")
        }
    }

    @Test("garbage is read as a form or as none, and ends nothing")
    func garbage() {
        var random = SystemRandomNumberGenerator()
        let bytes = [UInt8]("account=%41+&;\u{e9}".utf8) + [0, 0xff]
        for _ in 0..<20_000 {
            let body = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                bytes.randomElement(using: &random) ?? 0
            }
            let request = HTTPRequest(
                method: "GET", path: "/",
                headers: [("cookie", String(decoding: body, as: UTF8.self))])
            #expect((Form.fields(of: body)?.count ?? 0) <= 8)
            #expect(throws: Never.self) { try Cookie.of(request, named: "a") }
        }
    }

    @Test("answers to a sign-in come at a full step of time, however long the work took")
    func steps() {
        let began = ContinuousClock.now
        for (work, answered) in [(0, 100), (1, 100), (99, 100), (101, 200), (250, 300)] {
            let due = Site.due(since: began, at: began.advanced(by: .milliseconds(work)))
            #expect(began.duration(to: due) == .milliseconds(answered), "\(work)")
        }
    }

    @Test("what awaits an approval is bounded, and ends with its time")
    func bounded() async throws {
        let now = Mutex<Int64>(1_000)
        let clock = Clock(
            boot: { "test" }, sinceBoot: { .zero }, wallSeconds: { now.withLock { $0 } })
        let browsers = Browsers(clock: clock)
        let login = PendingLogin(operation: "a", session: "b", text: "c", expires: 2_000)
        for _ in 0..<10_000 { #expect(await browsers.begin(login, for: try Cookie.fresh())) }
        #expect(await !browsers.begin(login, for: try Cookie.fresh()))
        // An approval in the last second can be confirmed for another minute.
        now.withLock { $0 = 2_059 }
        #expect(await !browsers.begin(login, for: try Cookie.fresh()))
        now.withLock { $0 = 2_060 }
        let cookie = try Cookie.fresh()
        #expect(await browsers.begin(login, for: cookie))
        // It is taken once.
        #expect(await browsers.takeLogin(of: cookie) == login)
        #expect(await browsers.takeLogin(of: cookie) == nil)
    }
}
