// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Doctor

private func lines(_ text: String) -> [StackLine] { StackFile(Array(text.utf8)).lines }

private func module(_ line: StackLine?) -> (control: Control, path: String, options: [String])? {
    guard case .module(let control, let path, let options) = line?.content else { return nil }
    return (control, path, options)
}

@Suite("a file of /etc/pam.d")
struct StackFileTests {
    @Test("has lines of a type, a control, a module and its options, with blanks between")
    func plain() {
        let found = lines(
            "\n# comment\nauth\t required  pam_unix.so nullok\ttry_first_pass # why\n")
        #expect(found.count == 1)
        #expect(found.first?.number == 3)
        #expect(found.first?.type == .auth)
        #expect(module(found.first)?.path == "pam_unix.so")
        #expect(module(found.first)?.options == ["nullok", "try_first_pass"])
    }

    @Test("continues after a backslash at the end of a line, and counts the first line")
    func continued() {
        let found = lines(
            "auth [success=1 \\\n  default=ignore] \\\n pam_signet.so\naccount required x.so")
        #expect(found.map(\.number) == [1, 4])
        #expect(module(found.first)?.control[.success] == .jump(1))
        #expect(module(found.first)?.control[.authErr] == .ignore)
        #expect(found.last?.type == .account)
    }

    @Test("takes types and the four keywords whatever their case, and a hyphen before the type")
    func cases() {
        let found = lines("-AUTH Required pam_kwallet5.so\n@INCLUDE common-auth\n")
        #expect(found.first?.type == .auth)
        #expect(module(found.first)?.control == Control("required"))
        #expect(found.last?.content == .include("common-auth"))
        #expect(found.last?.type == nil)
    }

    @Test("includes other files, by the line's type or as a substack")
    func includes() {
        let found = lines("auth include system-auth\nauth substack password-auth\n")
        #expect(found.map(\.content) == [.include("system-auth"), .substack("password-auth")])
    }

    @Test("words in brackets are one, and a backslash keeps a closing one")
    func brackets() {
        let found = lines("auth required pam_exec.so [/bin/echo a\\]b] last\n")
        #expect(module(found.first)?.options == ["/bin/echo a]b", "last"])
    }

    @Test(
        "a line that libpam cannot read fails where it stands",
        arguments: [
            "ath required pam_unix.so", "auth", "auth required",
        ])
    func broken(line: String) {
        guard case .broken = lines(line + "\n").first?.content else {
            Issue.record("\(lines(line))")
            return
        }
    }

    @Test(
        "an include without a name is known as what ends libpam",
        arguments: ["@include", "auth include"])
    func nameless(line: String) {
        #expect(lines(line + "\n").first?.content == .nameless)
    }

    @Test("a line that is too long for libpam's buffer is read in parts, and so is a comment")
    func overlong() {
        let long = String(repeating: "x", count: 1_100)
        let found = lines("auth required b.so \(long)\n# \(long)\n")
        #expect(found.count == 3)
        #expect(module(found.first)?.path == "b.so")
        #expect(found.dropFirst().allSatisfy { $0.isOfUnknownType })
    }

    @Test("a carriage return is part of the last word, and makes a blank line a word")
    func carriageReturn() {
        let found = lines(
            "auth required pam_unix.so\r\n\r\n# comment\r\nauth required x.so # c\r\n")
        #expect(module(found.first)?.path == "pam_unix.so\r")
        #expect(found.map(\.hasReturn) == [true, true, false])
        #expect(found.dropFirst().first?.content == .broken(.refused))
        #expect(lines("auth required pam_unix.so \\\r\n nullok\n").count == 2)
    }

    @Test("nothing separates words but blanks, tabs and line ends, and a NUL ends a line")
    func separators() {
        #expect(lines("auth\u{0C}required x.so\n").first?.isOfUnknownType == true)
        #expect(lines("auth\u{A0}required x.so\n").first?.isOfUnknownType == true)
        #expect(module(lines("auth required x.so\0 y\n").first)?.options == [])
        #expect(
            module(lines("auth [success=ok\u{0B}default=bad] x.so").first)?.control.isUnderstood
                == true)
        #expect(module(lines("auth [success=ok]x.so").first)?.path == "x.so")
    }

    @Test("a line goes on after comments and blank lines, and must not go on at the end")
    func continuations() {
        let found = lines("auth required \\\n# why\n\n x.so\nauth required y.so\n")
        #expect(found.map(\.number) == [1, 5])
        #expect(module(found.first)?.path == "x.so")
        let file = StackFile(Array("auth required a.so\nauth required b.so \\\n# end\n".utf8))
        #expect(file.cut == 2)
        #expect(file.lines.count == 1)
        #expect(StackFile(Array("auth required a.so \\ # more\n".utf8)).cut == nil)
    }

    @Test("ends at any bytes")
    func garbage() {
        for length in 0..<200 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            _ = StackFile(bytes)
        }
        #expect(lines("\\\n\\\n\\").isEmpty)
        #expect(lines("[\n[]\n]").count == 3)
    }
}

@Suite("a control")
struct ControlTests {
    @Test("of a keyword is what pam.d(5) says it stands for")
    func keywords() {
        let required = "[success=ok new_authtok_reqd=ok ignore=ignore default=bad]"
        #expect(Control("required")[.authErr] == .bad)
        for (keyword, long) in [
            ("required", required), ("requisite", required.replacing("bad", with: "die")),
            ("optional", required.replacing("bad", with: "ignore")),
            ("sufficient", "[success=done new_authtok_reqd=done default=ignore]"),
        ] {
            let control = Control(String(long.dropFirst().dropLast()))
            for code in PAMReturnCode.allCases {
                #expect(Control(keyword)[code] == control[code], "\(keyword) \(code)")
            }
        }
    }

    @Test("takes each code's own action before the default, in any order")
    func order() {
        let control = Control("default=die auth_err=3 success = ok")
        #expect(control[.authErr] == .jump(3))
        #expect(control[.success] == .ok)
        #expect(control[.maxtries] == .die)
        #expect(control.jumps == [3])
    }

    @Test("leaves codes that it does not name bad")
    func unnamed() {
        #expect(Control("success=done")[.authinfoUnavail] == .bad)
    }

    @Test(
        "that cannot be read makes every code bad",
        arguments: [
            "sucess=ok", "success", "success=", "success=0", "success=-1", "success=okay ok",
            "=ok", "success=99999999999", "success=ok\u{A0}default=bad",
        ])
    func refused(text: String) {
        #expect(!Control(text).isUnderstood)
        #expect(Control(text)[.success] == .bad)
    }
}
