// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages
import TestSupport
import Testing

@testable import Doctor

@Suite("doctor.accept")
struct AcceptanceTests {
    private func finding(
        _ code: String, _ subject: String, level: FindingLevel = .danger
    ) -> Finding {
        Finding(
            code, level: level, area: .stacks, subject: subject.bytes, what: "x", why: "y",
            mend: "z"
        )
    }

    private func applied(
        _ value: String, to findings: [Finding], isComplete: Bool = true
    ) throws -> [Finding] {
        let text = "[doctor]\naccept = \(value)\n"
        let configuration = try Configuration(files: [(name: "a.conf", text: Array(text.utf8))])
        return AcceptanceCheck(configuration: configuration, isComplete: isComplete)
            .applied(to: findings)
    }

    @Test("accepts a finding by its name and subject, keeps it, and counts it at no level")
    func accepted() throws {
        let all = [finding("password-unreachable", "sudo"), finding("gate-skipped", "login, su")]
        let found = try applied(
            "password-unreachable sudo: both, ticket 12; gate-skipped login, su: no guests: ever",
            to: all)
        #expect(found.map(\.acceptance) == ["both, ticket 12".bytes, "no guests: ever".bytes])
        #expect(FindingCounts(found).worst == nil && FindingCounts(found).accepted == 2)
    }

    @Test(
        "hides no other finding: of another name, service or more services",
        arguments: [
            "password-unreachable su: x", "password-unreachable: x", "password-unreachable sud: x",
            "password sudo: x", "password-unreachable login, sudo: x", "none",
            "password-unreachable sudo", "password-unreachable sudo:",
            "password-unreachable sudo:x",
        ])
    func others(_ value: String) throws {
        let found = try applied(value, to: [finding("password-unreachable", "sudo")])
        #expect(found.first?.acceptance == nil)
        #expect(FindingCounts(found).worst == .danger)
        let codes = found.dropFirst().map(\.code)
        #expect(
            codes
                == (value == "none"
                    ? [] : [value.contains(": ") ? "accept-unused" : "accept-malformed"]))
    }

    @Test("accepts nothing by which anyone could log in, or after which no settings hold")
    func unacceptable() throws {
        for code in AcceptanceCheck.unacceptable {
            let found = try applied("\(code) sudo: x", to: [finding(code, "sudo")])
            #expect(found.first?.acceptance == nil)
        }
    }

    @Test("does not call an entry unused where not everything was examined")
    func incomplete() throws {
        #expect(try applied("a b: c", to: [], isComplete: false) == [])
        #expect(try applied("a b: c", to: []).map(\.code) == ["accept-unused"])
    }
}
