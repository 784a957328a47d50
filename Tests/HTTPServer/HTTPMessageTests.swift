// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Testing

@Suite("An HTTP request")
struct HTTPMessageTests {
    @Test("names a header that was sent once, and none that was sent twice")
    func headers() {
        let request = HTTPRequest(
            method: "GET", path: "/",
            headers: [("accept", "a"), ("authorization", "b"), ("authorization", "c")])
        #expect(request.header("accept") == "a")
        #expect(request.header("authorization") == nil)
        #expect(request.header("cookie") == nil)
    }
}
