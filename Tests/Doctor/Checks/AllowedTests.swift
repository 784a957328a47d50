// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import TestSupport
import Testing

@testable import Doctor

@Suite("settings that allow a touch where the default refuses one")
struct AllowedTests {
    private func findings(_ lines: String, hasLogind: Bool = false) throws -> [Finding] {
        let bare = try Bare()
        try bare.write("etc/signet/signet.conf", "[login]\n\(lines)\n")
        if hasLogind { try bare.write("run/systemd/seats/seat0", "") }
        let allowed = ["others-allowed", "anyone-allowed", "terminals-allowed", "seatless-allowed"]
        return bare.machine.examine { DaemonView(.absent) }.filter { allowed.contains($0.code) }
    }

    @Test("are reported for ssh as well, and not where the default stands")
    func ssh() throws {
        for (word, expected) in [("allow", ["grants-allowed"]), ("refuse", [])] {
            let bare = try Bare()
            try bare.write("etc/signet/signet.conf", "[ssh]\ngrants = \(word)\n")
            let found = bare.machine.examine { DaemonView(.absent) }
                .filter { $0.code == "grants-allowed" }
            #expect(found.map(\.code) == expected)
            #expect(found.allSatisfy { $0.level == .warning })
        }
    }

    private func codes(_ lines: String, hasLogind: Bool = false) throws -> [String] {
        try findings(lines, hasLogind: hasLogind).map(\.code)
    }

    @Test("are reported, each with what it allows")
    func told() throws {
        #expect(try codes("others = warn") == ["others-allowed"])
        #expect(try codes("without-logind = any") == ["anyone-allowed"])
        #expect(try codes("without-logind = terminals") == ["terminals-allowed"])
        #expect(try codes("without-seat = allow") == ["seatless-allowed"])
        #expect(
            try codes("others = warn\nwithout-seat = allow\nwithout-logind = any")
                == ["anyone-allowed", "others-allowed", "seatless-allowed"])
        #expect(try findings("without-logind = any").map(\.level) == [.danger])
    }

    @Test("are not, where they say what the default says, or have no effect beside logind")
    func silent() throws {
        #expect(try codes("") == [])
        #expect(
            try codes("others = refuse\nwithout-seat = refuse\nwithout-logind = consoles") == [])
        for word in ["any", "terminals"] {
            #expect(try codes("without-logind = \(word)", hasLogind: true) == [])
        }
        #expect(try codes("others = warn", hasLogind: true) == ["others-allowed"])
        // A file that is refused allows nothing.
        #expect(try codes("others = warn\nothers = warn") == [])
    }
}
