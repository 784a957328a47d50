// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import JSONFormat

@testable import HTTPServer
@testable import RelyingParty

/// The head of an HTTP request as libmicrohttpd hands it over: method, target, and header fields, a
/// line each.
enum RequestHeads: Harness {
    static let name = "request-heads"

    static let seeds = [
        bytes("GET\n/"), bytes("POST\n/v1/login\ncontent-length: 12\nhost: a"),
        bytes(
            "GET\n/v1/accounts/a%20b/registrations?x=%41&y=&z\nhost: a\ntransfer-encoding: chunked"),
        bytes("GET\n/%00"), bytes("GET\n/%c3?%zz=#"),
        bytes("POST\n/\ncontent-length: 99999999999999999999"),
        bytes("POST\n/\ncontent-length: 1\ncontent-length: 1"),
    ]

    static func feed(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count > 1, var head = try? RequestHead(method: lines[0], target: lines[1])
        else { return }
        require(head.method == lines[0], "another method")
        require(head.path.utf8.first == UInt8(ascii: "/"), "a path without its slash")
        require(lines[1].hasPrefix(head.path), "a path that was not sent")
        require(!head.path.utf8.contains(UInt8(ascii: "?")), "a path with its query")
        for (name, value) in head.query {
            require(!name.utf8.contains(0) && !value.utf8.contains(0), "a NUL in the query")
        }
        for line in lines[2...] {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            head.headers.append((String(parts[0]), String(parts[1])))
        }
        do throws(RequestHead.Refusal) {
            try head.settleLength()
            let ends = head.headers.filter {
                $0.name == "content-length" || $0.name == "transfer-encoding"
            }
            require(ends.count <= 1, "two ends of one body")
            require((head.length ?? 0) >= 0, "a length below nothing")
        } catch {
            require((400...503).contains(error.status), "no status of a refusal")
        }
    }
}

/// A template's text, and a value for each of its placeholders, a line each.
enum TemplateTexts: Harness {
    static let name = "template-texts"

    static let seeds = [
        bytes("pay {amount} EUR to {payee}\0" + "10\nBob"), bytes("{a}{b}{a}\0{b}\n{a}"),
        bytes("sign in\nfrom {place}\0Berlin"), bytes("{"), bytes("}{"), bytes("{}"),
        bytes("{a}\0a\u{202e}b\u{200b}c\r\u{2028}"), bytes("\u{202e}"), [0xff, 0x00, 0xc3],
    ]

    static func feed(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let source = String(decoding: parts[0], as: UTF8.self)
        guard let text = try? TemplateText(source) else { return }
        require(source.utf8.count <= TemplateText.maximumLength, "a text that is too long")
        let given = parts.count > 1 ? parts[1] : []
        var lines = given.split(separator: 0x0a, omittingEmptySubsequences: false)[...]
        var values: [String: String] = [:]
        for name in text.placeholders.sorted() {
            values[name] = String(decoding: lines.popFirst() ?? [], as: UTF8.self)
        }
        guard let filled = try? text.filled(with: values) else { return }
        require(filled.utf8.count <= TemplateText.maximumLength, "a filled text that is too long")
        let ends = source.utf8.count { $0 == 0x0a }
        require(filled.utf8.count { $0 == 0x0a } == ends, "a value that began a line")
        let line = filled.utf8.filter { $0 != 0x0a }
        require(
            TemplateText.isVisible(String(decoding: line, as: UTF8.self)), "an unseen character")
        values["more"] = ""
        require(
            (try? text.filled(with: values)) == nil || text.placeholders.contains("more"),
            "a value that is not shown")
    }
}

/// Documents in JSON, as all programs read them.
enum JSONDocuments: Harness {
    static let name = "json-documents"

    static let seeds = [
        bytes(#"{"authorization":"Signet a=\"b\"","method":"GET"}"#), bytes(#"{"a":"b","a":"c"}"#),
        bytes(" { \"a\" : \"\\\\ \\/\" }\n"), bytes(#"{"a":"\u0041"}"#), bytes(#"{"a":1}"#),
        bytes("{}"), bytes(#"{"a":"b",}"#),
        bytes(#"{"a":[{"b":-0.5e+7},true,false,null,"\ud83d\ude00"],"\u00e9":{}}"#),
        bytes(#"{"K":1,"\u212a":2}"#), bytes("[[[[]]]]"), bytes("\u{feff}{}"),
        bytes(#"{"a":{"a":1},"b":{"a":2}}"#), bytes("{\"\u{e9}\":\"\u{65e5}\"}"),
    ]

    static func feed(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes) else { return }
        require(
            (try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))) != nil,
            "read what is no JSON")
        for escapes in [JSONWriter.Escapes.required, .terminal] {
            let written = json.encoded(escaping: escapes)
            guard let again = try? JSON(parsing: written) else {
                return require(false, "wrote what is not read")
            }
            require(again.encoded(escaping: escapes) == written, "another value")
        }
        // Every text that a call asks for, as Foundation has it.
        guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(bytes)) else {
            return
        }
        require((try? json.decoded(as: [String: String].self)) == texts, "another value")
        require(json["a"]?.stringValue == texts["a"], "another value")
    }

    /// Whatever there is, down to the last value; numbers may be too large for any type.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: Name.self) {
                for name in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: name) }
            } else if var list = try? decoder.unkeyedContainer() {
                while !list.isAtEnd { _ = try list.decode(AnyJSON.self) }
            }
        }

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }
}
