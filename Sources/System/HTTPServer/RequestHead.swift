// SPDX-License-Identifier: Apache-2.0
/// The validated head of a request.
///
/// A head that two programs could interpret differently is rejected, because that allows request
/// smuggling (RFC 9112, section 11.2).
struct RequestHead: Sendable {
    let method: String
    let path: String
    let query: [(name: String, value: String)]
    var headers: [(name: String, value: String)] = []
    /// The value of `Content-Length`; nil if there is none.
    var length: Int?

    /// Whether the client waits for permission to send the body (RFC 9110, section 10.1.1).
    var awaitsLeave: Bool {
        headers.contains { $0.name == "expect" && $0.value.lowercased() == "100-continue" }
    }

    /// Why the server itself answers a request, in place of the handler.
    enum Refusal: Error, Equatable {
        /// 400: the request is invalid or ambiguous.
        case malformed
        /// 411: the body has a transfer coding in place of a length.
        case lengthRequired
        /// 413: the body exceeds its limit.
        case tooLarge
        /// 503: the server is stopping.
        case stopping

        var status: Int {
            switch self {
            case .malformed: 400
            case .lengthRequired: 411
            case .tooLarge: 413
            case .stopping: 503
            }
        }
    }

    /// Parses the method and the target of the request line.
    ///
    /// The method must be a token. The target must begin with `/`, consist of visible ASCII without
    /// `#`, and decode to valid text.
    ///
    /// - Throws: `.malformed` otherwise.
    init(method: String, target: String) throws(Refusal) {
        guard isToken(method.utf8), target.utf8.first == UInt8(ascii: "/"),
            target.utf8.allSatisfy(isTargetByte)
        else { throw .malformed }
        let bytes = target.utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        self.method = method
        path = String(target[..<mark])
        // The path is matched as sent, but it must decode to valid text.
        guard percentDecoded(target[..<mark].utf8) != nil else { throw .malformed }
        query = mark == bytes.endIndex ? [] : try parsedQuery(target[bytes.index(after: mark)...])
    }

    /// Checks the headers that delimit the body, and sets `length`.
    ///
    /// There must be no `Transfer-Encoding`, whatever its value: it is refused here, before the
    /// library decodes a chunk, because decoders differ in what they take for the end of a chunk's
    /// line (CVE-2025-22871). There may be one `Content-Length` and one `Host`.
    ///
    /// - Throws: `.lengthRequired` for a transfer coding, `.malformed` for more than one length or
    ///   host, or a length that is not a decimal number, `.tooLarge` for a length beyond `Int`.
    mutating func settleLength() throws(Refusal) {
        var lengths: [String] = []
        var hosts = 0
        for header in headers {
            switch header.name {
            case "content-length": lengths.append(header.value)
            case "transfer-encoding": throw .lengthRequired
            case "host": hosts += 1
            default: break
            }
        }
        guard lengths.count <= 1, hosts <= 1 else { throw .malformed }
        guard let text = lengths.first else { return }
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { throw .malformed }
        guard let value = Int(text) else { throw .tooLarge }
        length = value
    }
}

/// Splits a query at `&` and `=`, and decodes names and values; empty parts are skipped.
private func parsedQuery(
    _ text: Substring
) throws(RequestHead.Refusal) -> [(name: String, value: String)] {
    var result: [(name: String, value: String)] = []
    for part in text.utf8.split(separator: UInt8(ascii: "&")) {
        let middle = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
        let rest = part[middle...].dropFirst()
        guard let name = percentDecoded(part[..<middle]), let value = percentDecoded(rest) else {
            throw .malformed
        }
        result.append((name, value))
    }
    return result
}

/// Percent-decodes a text; nil for a broken escape, an encoded NUL, or a result that is not UTF-8.
func percentDecoded(_ text: Substring.UTF8View) -> String? {
    guard text.contains(UInt8(ascii: "%")) else { return String(Substring(text)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit)
        else { return nil }
        let decoded = high << 4 | low
        guard decoded != 0 else { return nil }
        bytes.append(decoded)
    }
    return String(validating: bytes, as: UTF8.self)
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// Whether the bytes are a token, as methods and header names are (RFC 9110, section 5.6.2).
func isToken(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty
        && bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}

/// Whether a byte may occur in a request target: visible ASCII except `#`.
private func isTargetByte(_ byte: UInt8) -> Bool {
    0x21...0x7e ~= byte && byte != UInt8(ascii: "#")
}

/// Whether the bytes contain no control characters except tabs (RFC 9110, section 5.5).
func isHeaderValue(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
}
