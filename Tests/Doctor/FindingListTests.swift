// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Doctor

@Suite("the list of findings")
struct FindingListTests {
    @Test("in docs/admin/DOCTOR.md has every finding with its level, and no other")
    func documented() throws {
        let text = String(
            decoding: try Layout.read("\(Layout.package)/docs/admin/DOCTOR.md"), as: UTF8.self)
        var documented: [String] = []
        var area = ""
        for line in text.split(separator: "\n") {
            if let heading = line.firstMatch(of: #/^### (PAM )?(\w+)$/#) {
                area = heading.2.lowercased()
            } else if let row = line.firstMatch(of: #/^\| `([a-z-]+)` \| (\w+) \|/#) {
                documented.append("\(row.1) \(row.2) \(area)")
            }
        }
        #expect(documented.sorted() == (try declared()).sorted())
        #expect(documented.count > 100)
    }

    /// The findings that the checks declare: code, level and area.
    private func declared() throws -> [String] {
        let pattern =
            #/Finding\(\s*"([a-z-]+)",\s*level: \.([a-z]+),\s*area: \.([a-z]+),/#
        let directory = "\(Layout.package)/Sources/Device/Doctor/Checks"
        return try Layout.entries(of: directory).flatMap { name in
            let source = String(decoding: try Layout.read("\(directory)/\(name)"), as: UTF8.self)
            let found = source.matches(of: pattern).map { "\($0.1) \($0.2) \($0.3)" }
            // No finding is declared in a form that this does not see.
            #expect(source.matches(of: #/\bFinding\(/#).count == found.count, "\(name)")
            return found
        }
    }

    @Test("counts what there is, and the worst decides how the program ends")
    func endings() {
        func ending(_ levels: FindingLevel...) -> ExitCode? {
            let findings = levels.map { level in
                Finding("x", level: level, area: .machine, what: "x", why: "y", mend: "z")
            }
            return FindingCounts(findings).worst?.exitCode
        }
        #expect(ending() == nil)
        #expect(ending(.note) == .done)
        #expect(ending(.note, .warning) == .denied)
        #expect(ending(.warning, .fault) == .faultFound)
        #expect(ending(.fault, .danger, .note) == .dangerFound)
    }

    @Test("has commands in which a hostile name remains one word")
    func quoting() {
        let finding = StateFileCheck.foreign("/var/lib/signet/keys/a'; rm -r x")
        #expect(
            String(decoding: finding.mend.bytes, as: UTF8.self)
                == "mv -n '/var/lib/signet/keys/a'\\''; rm -r x' /root/")
    }

    @Test(
        "has commands that neither destroy what was kept nor trust anything before it was checked")
    func harmless() {
        let path = "/k"
        let alice: AccountName = "alice"
        func mend(_ finding: Finding) -> String {
            String(decoding: finding.mend.bytes, as: UTF8.self)
        }
        let nobody = mend(KeyCheck.ofNobody(path, uid: 7))
        #expect(nobody.hasPrefix("getent passwd 7 || ") && !nobody.contains("rm "))
        let another = KeyCheck.ofAnother(path, names: alice.bytes, account: alice, uid: 7)
        let adopt =
            "signet status --account alice # signet enable --account alice "
            + "# or: signet delete --all --account alice"
        #expect(mend(another) == "getent passwd 7; \(adopt)")
        let look = "signet list --account alice # signet enable --account alice"
        #expect(mend(KeyCheck.andMark(path, account: alice)) == look)
        #expect(mend(KeyCheck.damaged(path, account: alice)) == look)
        #expect(mend(FileRule.wrongKind(path)) == "mv -n /k /root/")
        let stacks = [
            PasswordStackCheck.missing, PasswordStackCheck.recursive, PasswordStackCheck.open,
            PasswordStackCheck.closed,
        ]
        #expect(stacks.allSatisfy { mend($0).contains(" --backup=numbered ") })
    }
}
