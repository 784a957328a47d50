// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelyingParty
import Testing

@Suite("A problem")
struct ProblemTests {
    @Test("is a problem document with its code")
    func document() {
        let problem = Problem(status: 404, code: "not-found", title: "not found")
        let body = String(decoding: problem.response.body, as: UTF8.self)
        #expect(problem.response.status == 404)
        #expect(
            body == """
                {"code":"not-found","status":404,"title":"not found",\
                "type":"urn:signet:problem:not-found"}
                """)
    }
}
