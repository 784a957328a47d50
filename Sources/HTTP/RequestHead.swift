// SPDX-License-Identifier: Apache-2.0
/// What a request says before its body, checked.
struct RequestHead: Sendable {
    let method: String
    let path: String
    let query: [(name: String, value: String)]
    var headers: [(name: String, value: String)] = []
    /// What `Content-Length` promises; nil where the body comes in chunks or there is none.
    var length: Int?

    /// Whether the body is sent only when the server says so; RFC 9110, 10.1.1.
    var awaitsLeave: Bool {
        headers.contains { $0.name == "expect" && $0.value.lowercased() == "100-continue" }
    }

    /// Why a request is answered by the server itself.
    enum Refusal: Error, Equatable {
        /// 400: it cannot be read in one way only.
        case malformed
        /// 413: its body is longer than its route allows.
        case tooLarge
        /// 501: a transfer coding other than chunked.
        case unknownCoding
        /// 503: the server stops.
        case stopping

        /// The status that says so.
        var status: Int {
            switch self {
            case .malformed: 400
            case .tooLarge: 413
            case .unknownCoding: 501
            case .stopping: 503
            }
        }
    }

    /// Reads the request line; `target` is its middle, as sent.
    init(method: String, target: String) throws(Refusal) {
        guard isToken(method.utf8), target.utf8.first == UInt8(ascii: "/"),
            target.utf8.allSatisfy(isTargetByte)
        else { throw .malformed }
        let bytes = target.utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        self.method = method
        path = String(target[..<mark])
        // The path is matched as it was sent. What it would decode to must at least be text.
        guard percentDecoded(target[..<mark].utf8) != nil else { throw .malformed }
        query = mark == bytes.endIndex ? [] : try parsedQuery(target[bytes.index(after: mark)...])
    }

    /// Checks the headers that say where the body ends: two opinions are one too many.
    mutating func settleLength() throws(Refusal) {
        var lengths: [String] = []
        var codings: [String] = []
        var hosts = 0
        for header in headers {
            switch header.name {
            case "content-length": lengths.append(header.value)
            case "transfer-encoding": codings.append(header.value)
            case "host": hosts += 1
            default: break
            }
        }
        guard lengths.count + codings.count <= 1, hosts <= 1 else { throw .malformed }
        if let coding = codings.first, coding.lowercased() != "chunked" { throw .unknownCoding }
        guard let text = lengths.first else { return }
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { throw .malformed }
        guard let value = Int(text) else { throw .tooLarge }
        length = value
    }
}

/// Splits at `&` and `=`, and decodes both sides; an empty part is skipped.
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

/// Decodes `%41`; nil for a broken escape, for NUL, and where the result is no UTF-8.
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

/// RFC 9110, 5.6.2: what methods and header names are made of.
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

/// Visible ASCII without what RFC 3986 keeps out of a path and a query.
private func isTargetByte(_ byte: UInt8) -> Bool {
    0x21...0x7e ~= byte && byte != UInt8(ascii: "#")
}

/// RFC 9110, 5.5: no control characters but the tab.
func isHeaderValue(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
}
