// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("An Authorization header")
struct AuthorizationTests {
    private let signet = SignetAuthorization(
        statement: sampleRequest.encoded(), signature: [UInt8](0..<200))
    private let mac = MACAuthorization(
        token: .sample(32..<48), nonce: [UInt8](0..<32), issued: Instant(seconds: 1_795_195_440),
        mac: [UInt8](32..<64))

    @Test("is read as it was written")
    func roundTrip() throws {
        let header = try #require(signet.header)
        #expect(try SignetAuthorization(header: header) == signet)
        #expect(try MACAuthorization(header: mac.header) == mac)
    }

    @Test("has the form that the protocol's page shows")
    func form() throws {
        let small = SignetAuthorization(statement: bytes("signet-request: 1\n"), signature: [1, 2])
        #expect(
            small.header
                == bytes(#"Signet statement="c2lnbmV0LXJlcXVlc3Q6IDEK", signature="AQI""#))
        #expect(
            mac.header
                == bytes(
                    #"SignetMAC token="202122232425262728292a2b2c2d2e2f", "#
                        + #"nonce="AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "#
                        + #"issued="2026-11-20T17:24:00Z", "#
                        + #"mac="ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8""#))
    }

    @Test("a request with every name at its longest fits; one that does not is not written")
    func length() throws {
        func filled(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }
        var request = sampleRequest
        request.head.audience = Audience(filled(256))
        request.head.account = ServerAccountName(filled(256))
        request.request.resource = filled(1_024)
        request.request.method = bytes("VERSION-CONTROL0")
        request.claims.enrolment = .max
        request.claims.counter = .max
        let longest = [UInt8](repeating: 0xFF, count: 300)
        let header = SignetAuthorization(statement: request.encoded(), signature: longest).header
        #expect(try #require(header).count <= SignetAuthorization.maximumLength)
        #expect(SignetAuthorization(statement: filled(3_000), signature: longest).header == nil)
    }

    @Test("cut short at every length, or followed by anything, it is refused")
    func truncated() throws {
        let header = try #require(signet.header)
        for length in header.indices {
            #expect(throws: HeaderFault.self) {
                try SignetAuthorization(header: Array(header[..<length]))
            }
        }
        for length in mac.header.indices {
            #expect(throws: HeaderFault.self) {
                try MACAuthorization(header: Array(mac.header[..<length]))
            }
        }
        for tail in [" ", ",", "\n", "\"", ", x=\"y\"", ", signature=\"AQI\"", ", mac=\"AQI\""] {
            #expect(throws: HeaderFault.malformed) {
                try SignetAuthorization(header: header + bytes(tail))
            }
            #expect(throws: HeaderFault.malformed) {
                try MACAuthorization(header: mac.header + bytes(tail))
            }
        }
    }

    @Test("another scheme is not Signet's, whatever its length")
    func schemes() throws {
        for header in [
            "", "Bearer x", "signet statement=\"\"", "Signet", "SignetMAC", "Basic YTpi",
            "Bearer " + String(repeating: "x", count: 10_000),
        ] {
            #expect(throws: HeaderFault.anotherScheme) {
                try SignetAuthorization(header: bytes(header))
            }
            #expect(throws: HeaderFault.anotherScheme) {
                try MACAuthorization(header: bytes(header))
            }
        }
        let header = try #require(signet.header)
        #expect(throws: HeaderFault.anotherScheme) { try MACAuthorization(header: header) }
        #expect(throws: HeaderFault.anotherScheme) { try SignetAuthorization(header: mac.header) }
    }

    @Test("a longer one is refused before it is read")
    func tooLong() {
        let long = bytes("Signet " + String(repeating: "x", count: 4_096))
        #expect(throws: HeaderFault.tooLong) { try SignetAuthorization(header: long) }
        let longMAC = bytes("SignetMAC " + String(repeating: "x", count: 256))
        #expect(throws: HeaderFault.tooLong) { try MACAuthorization(header: longMAC) }
    }

    @Test(
        "names in another order, twice, without quotes or with other spaces are refused",
        arguments: [
            #"Signet signature="AQI", statement="AQI""#, #"Signet statement="AQI""#,
            #"Signet statement="AQI", statement="AQI", signature="AQI""#,
            #"Signet statement=AQI, signature=AQI"#, #"Signet  statement="AQI", signature="AQI""#,
            #"Signet statement="AQI",signature="AQI""#, #"Signet statement="AQI" signature="AQI""#,
            #"Signet statement = "AQI", signature="AQI""#,
            #"Signet STATEMENT="AQI", signature="AQI""#,
            #"Signet statement="AQI=", signature="AQI""#,
            #"Signet statement="AQJ", signature="AQI""#,
            #"Signet statement="A\QI", signature="AQI""#,
            #"Signet statement="AQ+I", signature="AQI""#,
        ])
    func forms(header: String) {
        #expect(throws: HeaderFault.malformed) { try SignetAuthorization(header: bytes(header)) }
    }

    @Test("altered, it is refused or exactly what it says")
    func mutated() throws {
        var random = Seeded(seed: 11)
        let header = try #require(signet.header)
        for _ in 0..<4_000 {
            var altered = header
            let index = Int.random(in: 0..<altered.count, using: &random)
            altered[index] = UInt8.random(in: 0...255, using: &random)
            if let other = try? SignetAuthorization(header: altered) {
                #expect(other.header == altered)
            }
            var alteredMAC = mac.header
            alteredMAC[index % alteredMAC.count] = UInt8.random(in: 0...255, using: &random)
            if let other = try? MACAuthorization(header: alteredMAC) {
                #expect(other.header == alteredMAC)
            }
        }
    }
}
