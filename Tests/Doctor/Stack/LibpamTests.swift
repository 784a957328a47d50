// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Doctor

/// Stacks of pam_debug.so, which returns what it is told to: run by libpam, and by the doctor.
@Suite("the doctor's way through a stack", .timeLimit(.minutes(5)))
struct LibpamTests {
    private static let controls = [
        "required", "requisite", "sufficient", "optional", "[success=1 default=ignore]",
        "[success=2 default=bad]", "[success=ok default=1]", "[default=die success=done]",
        "[success=3 auth_err=ignore default=die]", "[default=reset]", "[success=ignore default=ok]",
        "[default=done]", "[auth_err=bad default=2]", "[sucess=ok]", "[success=ok=x]",
        "[ignore=ok success=ok default=bad]", "[ default = ignore success = ok ]",
    ]
    private static let codes: [PAMReturnCode] = [
        .success, .success, .success, .authErr, .ignore, .authinfoUnavail, .maxtries, .userUnknown,
    ]
    private static let count = 400

    /// What pam_strerror(3) says.
    private static func text(_ code: PAMReturnCode) -> String? {
        switch code {
        case .success: "successfully authenticated"
        case .permDenied: "Permission denied"
        case .authErr: "Authentication failure"
        case .authinfoUnavail: "Authentication service cannot retrieve authentication info"
        case .maxtries: "Have exhausted maximum number of retries for service"
        case .userUnknown: "User not known to the underlying authentication module"
        default: nil
        }
    }

    /// A stack at random: modules, includes and substacks of the files that come after it.
    private func stack(_ number: Int, _ generator: inout Seeded) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let next = number + Int.random(in: 1...7, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0 where next < Self.count: text += "auth include t\(next)\n"
            case 1 where next < Self.count: text += "auth substack t\(next)\n"
            case 2 where next < Self.count: text += "@include t\(next)\n"
            case 3: text += "auth required \\\n pam_debug.so # auth=auth_err\n"
            default:
                let control = Self.controls.randomElement(using: &generator) ?? "required"
                let code = Self.codes.randomElement(using: &generator) ?? .success
                text += "auth \(control) pam_debug.so auth=\(code.name)\n"
            }
        }
        return text
    }

    /// A file at random that a person would not write, but an editor, a script or a mistake.
    private func nasty(_ number: Int, _ generator: inout Seeded, words: ClosedRange<Int>) -> [UInt8]
    {
        // The first is the one that a person would write.
        func one(_ words: [String]) -> String {
            let isPlain = Int.random(in: 0..<5, using: &generator) > 0
            return (isPlain ? words.first : words.randomElement(using: &generator)) ?? ""
        }
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let types = [
                "auth", "auth", "auth", "auth", "-auth", "AUTH", "[auth]", "ath", "account", "\r",
                "- auth",
            ]
            let blanks = [" ", " ", " ", "\t", "  ", "\u{0C}", "\r", "\u{0B}", "", " \\\n", "\0"]
            let code = Self.codes.randomElement(using: &generator) ?? .success
            let modules = [
                "pam_debug.so", "pam_debug.so", "pam_debug.so", "[pam_debug.so]", "pam_debug.so\r",
                "pam_nothing.so", "",
            ]
            let options = [
                "auth=\(code.name)", "auth=\(code.name)", "[auth=\(code.name)]",
                "auth=\(code.name)\r",
                "x#auth=auth_err", "[a b", "\u{E9}", "",
                String(repeating: "x", count: Int.random(in: words, using: &generator)),
            ]
            let controls =
                [Self.controls.randomElement(using: &generator) ?? ""] + Self.controls + [
                    "[]", "[success=ok\rdefault=bad]", "[success=ok\\] default=die]", "REQUIRED",
                    "required\r", "[success=okdefault=bad]", "[success=ok # default=die]",
                    "[required]",
                    "[SUCCESS=ok]", "[default=bad default=ok]",
                    "[success=ok",
                ]
            let next = Int.random(in: 0..<Self.count, using: &generator)
            switch Int.random(in: 0..<14, using: &generator) {
            case 0:
                text +=
                    Array((one(["@include", "-@include", "@INCLUDE"]) + one(blanks)).utf8)
                    + Array("n\(max(next, number + 1))\(one(["", "", "\r", " x"]))".utf8)
            case 1:
                text += Array("auth \(one(["include", "substack"])) n\(max(next, number + 1))".utf8)
            case 2: text += Array("# \(one(options)) \\".utf8)
            default:
                text += Array((one(types) + one(blanks) + one(controls) + one(blanks)).utf8)
                text += Array((one(modules) + " " + one(options)).utf8)
            }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                text += [0xFF, UInt8(ascii: "\t")].shuffled(using: &generator).prefix(1)
            }
            text += Array(
                one(["\n", "\n", "\n", "\r\n", " \n", "\n\n", " \\\n", "\\\r\n", " # c\n", ""]).utf8
            )
        }
        return text
    }

    @Test("is that of libpam itself, for hundreds of stacks made at random")
    func same() throws {
        var generator = Seeded(seed: 4_711)
        var files: [String: [UInt8]] = [:]
        for number in 0..<Self.count { files["t\(number)"] = Array(stack(number, &generator).utf8) }
        try compare(files, prefix: "t")
    }

    @Test("is that of libpam itself, for files that are broken in hundreds of ways")
    func broken() throws {
        // About the longest line that libpam reads: from 1.6 on, it reads any.
        let words = try readsAnyLine() ? 100...200 : 940...1_040
        var generator = Seeded(seed: 815)
        var files: [String: [UInt8]] = [:]
        for number in 0..<Self.count {
            files["n\(number)"] = nasty(number, &generator, words: words)
        }
        try compare(files, prefix: "n")
    }

    private func readsAnyLine() throws -> Bool {
        let host = try HostFixture()
        let words = String(repeating: "x", count: 1_100)
        try host.write("/etc/pam.d/long", Array("auth required pam_debug.so \(words)\n".utf8))
        return try host.run(["pamtester", "long", "alice", "authenticate"]).succeeded
    }

    /// Compares the doctor's result for each file with libpam's.
    private func compare(_ files: [String: [UInt8]], prefix: String) throws {
        let host = try HostFixture()
        var files = files
        files["other"] = Array("auth required pam_debug.so auth=maxtries\n".utf8)
        for (name, text) in files { try host.write("/etc/pam.d/\(name)", text) }
        // A libpam that reads a line for ever, or that crashes, refuses, too.
        let loop = """
            i=0; while [ $i -lt \(Self.count) ]; do
                said=$(timeout 5 pamtester \(prefix)$i alice authenticate 2>&1 > /dev/null < /dev/null) \\
                    && said='successfully authenticated'
                echo "$i" $said
                i=$((i + 1))
            done
            """
        let said = try host.run(["sh", "-c", loop], within: .seconds(200)).output
        let lines = said.split(separator: "\n").filter { $0.first?.isNumber == true }
        #expect(lines.count == Self.count)
        let all = StackFiles(files)
        var accepted = 0
        for (number, line) in lines.enumerated() {
            let chain = all.chain(of: "\(prefix)\(number)", type: .auth)
            let result = chain.run { index in
                let handler = chain.handlers[index]
                guard handler.path == "pam_debug.so" else { return .moduleUnknown }
                let option = handler.options.first { $0.hasPrefix("auth=") }?.dropFirst(5)
                return PAMReturnCode.allCases.first { $0.name == option ?? "success" } ?? .success
            }
            let stack = String(decoding: files["\(prefix)\(number)"] ?? [], as: UTF8.self)
            let isIn = line.contains("successfully authenticated")
            if isIn { accepted += 1 }
            #expect(
                isIn == (result.code == .success), "\(line)\n\(result)\n\(stack.debugDescription)")
            if let text = Self.text(result.code) {
                #expect(line.contains(text), "\(line)\n\(result)\n\(stack.debugDescription)")
            }
        }
        // Both outcomes are many, so that neither side can always say the same.
        #expect(accepted > 20 && accepted < Self.count - 20, "\(accepted)")
    }
}
