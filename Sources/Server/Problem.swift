import FoundationEssentials
import HTTP

/// Why a request was refused, as RFC 9457 has it; the codes are stable and in docs/SERVER.md.
package struct Problem: Error, Equatable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// What programs branch on: lower case, words joined by hyphens.
    package let code: String
    /// What a person reads.
    package let title: String

    /// From its parts.
    package init(status: Int, code: String, title: String) {
        self.status = status
        self.code = code
        self.title = title
    }

    /// As the body `application/problem+json`.
    package var response: HTTPResponse {
        struct Document: Encodable {
            let type: String
            let title: String
            let status: Int
            let code: String
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            type: "urn:signet:problem:\(code)", title: title, status: status, code: code)
        let body = (try? encoder.encode(document)).map { [UInt8]($0) } ?? []
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/problem+json")], body: body)
    }
}
