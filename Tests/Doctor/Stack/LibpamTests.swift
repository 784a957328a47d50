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

    @Test("is that of libpam itself, for hundreds of stacks made at random")
    func same() throws {
        let host = try HostFixture()
        var generator = Seeded(seed: 4_711)
        var files: [String: [UInt8]] = [:]
        for number in 0..<Self.count {
            let text = stack(number, &generator)
            files["t\(number)"] = Array(text.utf8)
            try host.writeService("t\(number)", text)
        }
        let loop = """
            i=0; while [ $i -lt \(Self.count) ]; do
                said=$(pamtester t$i alice authenticate 2>&1 > /dev/null < /dev/null) \\
                    && said='successfully authenticated'
                echo "$i" $said
                i=$((i + 1))
            done
            """
        let said = try host.run(["sh", "-c", loop], within: .seconds(120)).output
        let lines = said.split(separator: "\n")
        #expect(lines.count == Self.count)
        let all = StackFiles(files)
        for (number, line) in lines.enumerated() {
            let chain = all.chain(of: "t\(number)", type: .auth)
            let result = chain.run { index in
                let option = chain.handlers[index].options.first?.dropFirst("auth=".count)
                return PAMReturnCode.allCases.first { $0.name == option ?? "success" } ?? .success
            }
            let stack = String(decoding: files["t\(number)"] ?? [], as: UTF8.self)
            let isIn = line.contains("successfully authenticated")
            #expect(isIn == (result.code == .success), "\(line)\n\(result)\n\(stack)")
            if let text = Self.text(result.code) {
                #expect(line.contains(text), "\(line)\n\(result)\n\(stack)")
            }
        }
    }
}
