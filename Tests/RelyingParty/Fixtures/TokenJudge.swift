// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import RelyingParty

/// A library of others that verifies what the server signs, with no code of Signet.
enum TokenJudge: String, CaseIterable, Sendable {
    /// Debian's `python3-jwt`.
    case pyJWT
    /// From PyPI; `Tests/HostFixture/judges` makes its place.
    case joserfc

    /// What is to be judged, and what its receiver knows and expects.
    struct Case {
        /// The content of `/.well-known/jwks.json`.
        var jwks: [String: Any]
        var token: String
        /// The type that the header must have: `JWT`, or that of callbacks.
        var type = "JWT"
        var issuer = "https://id.example.org"
        var audience: String
        /// Seconds since 1970; nil for the machine's time. PyJWT knows only that.
        var now: Int64?
    }

    /// Says `accepted` and whose it is, or `refused` and why, of each case.
    func verdicts(on cases: [Case]) throws -> [String] {
        let given = cases.map { entry in
            var members: [String: Any] = [
                "jwks": entry.jwks, "token": entry.token, "type": entry.type,
                "issuer": entry.issuer, "audience": entry.audience,
            ]
            members["now"] = entry.now
            return members
        }
        // In a file: all vectors are more than a program takes as its input.
        let scratch = try Scratch()
        try scratch.write(
            "cases.json", [UInt8](try JSONSerialization.data(withJSONObject: given)))
        let outcome = try withExtendedLifetime(scratch) {
            try Program(Command([interpreter, script, scratch.at("cases.json")]))
                .expectEnd()
        }
        let lines = outcome.output.split(separator: "\n").map(String.init)
        guard outcome.succeeded, lines.count == cases.count else {
            throw Unexpected("\(self): \(outcome.errors)")
        }
        return lines
    }

    /// Those that can be asked: `make test` goes on where PyPI cannot be reached, and says so;
    /// `make check` does not.
    static var available: [TokenJudge] { allCases.filter(\.isInstalled) }

    /// Whether it is there.
    var isInstalled: Bool {
        switch self {
        case .pyJWT: true
        case .joserfc:
            FileManager.default.fileExists(atPath: "\(Layout.package)/.build/judges/packages")
        }
    }

    private var interpreter: String {
        switch self {
        case .pyJWT: "/usr/bin/python3"
        case .joserfc: "\(Layout.package)/.build/judges/bin/python"
        }
    }

    private var script: String {
        let name =
            switch self {
            case .pyJWT: "pyjwt"
            case .joserfc: "jose"
            }
        return "\(Layout.package)/Tests/RelyingParty/Fixtures/Judges/\(name).py"
    }
}
