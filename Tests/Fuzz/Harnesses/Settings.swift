// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Command
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions
import SignedFormats

/// The module's options, one a line.
enum Options: Harness {
    static let name = "options"
    static var seeds: [[UInt8]] {
        [
            bytes("timeout=30\nmax-tries=3\ndebug\nsocket=/run/signet/signetd.sock"),
            bytes("timeout=170"), bytes("socket=/a/../b"), bytes("debug\ndebug"),
            bytes("prompt=together\nbackground=warn\ndelay=5000"), bytes("prompt=off"),
            bytes("server=/etc/signet/corp"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let words = bytes.split(separator: UInt8(ascii: "\n")).map { [UInt8]($0) }
        // fprintd's options: none is a mistake, and no limit is wider than pam_signet.so's.
        let fprintd = ModuleOptions(fprintd: words)
        require(
            (1...5).contains(fprintd.maximumTries) && (1...170).contains(fprintd.timeoutSeconds)
                && fprintd.server.isEmpty && !fprintd.keyring && fprintd.prompt == .finger,
            "fprintd's options are beyond their limits")
        guard let options = try? ModuleOptions(parsing: words) else { return }
        require((1...170).contains(options.timeoutSeconds), "a timeout out of its range")
        require((1...5).contains(options.maximumTries), "tries out of their range")
        require(options.delayMilliseconds <= 5_000, "a delay out of its range")
        require(
            options.socket.first == UInt8(ascii: "/")
                && options.socket.count <= ModuleOptions.longestSocketPath, "a bad socket path")
    }
}

/// The file that names a login's server.
enum LoginServers: Harness {
    static let name = "login-servers"
    static var seeds: [[UInt8]] {
        guard let key = Signatures.key else { return [] }
        let least =
            "url = https://id.example.org\naudience = corp\nkey = "
            + String(decoding: key.line(comment: []), as: UTF8.self)
        return [
            bytes(least),
            bytes(least + "# all\naccounts = alice @staff\noffline = 720 hours\ntoken = file\n"),
            bytes(least + "names\t=\tany\noffline = refuse\ntoken = environment\n"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let server = try? LoginServer(parsing: bytes) else { return }
        require(bytes.count <= LoginServer.maximumLength, "a file beyond its length")
        require(server.offlineHours <= 720, "hours out of their range")
        require(
            server.url.bytes.starts(with: Array("https://".utf8)) && server.url.bytes.count <= 200,
            "a bad URL")
        require(
            !server.audience.isEmpty && server.audience.bytes.count <= Limit.label, "a bad audience"
        )
        require(server.accounts.allSatisfy { !$0.isEmpty && $0 != [0x40] }, "a bad account")
        for value in [server.url.bytes, server.audience.bytes] + server.accounts {
            require(!value.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F }, "a control character")
        }
    }
}

/// The words behind `signet`, one a line.
enum CommandLines: Harness {
    static let name = "command-lines"
    static var seeds: [[UInt8]] {
        let all = Commands.syntax.commands.flatMap { command in
            let words = command.words.joined(separator: "\n")
            return command.allOptions.map {
                "\(words)\n\($0.long)\($0.value.map { "=\($0.name)" } ?? "")"
            }
        }
        return (all + ["enroll\n--\n--json", "secret\nget\n-n\nmail", "-h"]).map(bytes)
    }

    static func feed(_ bytes: [UInt8]) {
        let words = bytes.split(separator: 10, omittingEmptySubsequences: false)
        do throws(UsageFault) {
            let reading = try Commands.syntax.read(
                words.map { String(decoding: $0, as: UTF8.self) })
            guard case .run(let arguments) = reading else { return }
            let command = arguments.command
            let most = command.forms.map { form in
                form.operands.reduce(form.word == nil ? 0 : 1) { sum, operand in
                    operand.maximum == .max ? 1 << 30 : sum + operand.maximum
                }
            }.max()
            require(arguments.operands.count <= most ?? 0, "too many words")
            for option in command.allOptions where arguments.has(option) {
                let isEmpty = arguments.value(option)?.isEmpty ?? true
                require(isEmpty == (option.value == nil), "a value too many or too few")
            }
        } catch {
            require(
                !error.text.bytes.contains { $0 < 0x20 || $0 == 0x7F }, "a fault with controls")
        }
    }
}

/// The command line of sudo, which any user writes.
enum SudoCommands: Harness {
    static let name = "sudo-commands"
    static var seeds: [[UInt8]] {
        [
            bytes("sudo\0-u\0bob\0A=b\0--\0ls\0-n\0"), bytes("sudoedit\0--non-inter\0"), bytes("x"),
            bytes("sudo\0" + String(repeating: "ü", count: 600) + "\0"),
            bytes("sudo\0it's\0\0a\nb\0" + String(repeating: "x", count: 2_000) + "\0"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        // What surrounds the call is the same bytes: an environment, directories and shells.
        let place = CallSurroundings(
            environment: { bytes }, directory: { $0.first == 0x2E ? bytes : [0x2F] + $0 },
            isProgram: { $0.count % 3 == 0 ? nil : $0.count % 3 == 1 }, shell: { _ in bytes })
        for (program, name) in [(ConfirmingProgram.sudo, "sudo"), (.su, "su"), (.doas, "doas")] {
            let command = ConfirmedCommand(ProgramCall(bytes), of: program, in: place)
            guard let purpose = command.purpose else { continue }
            require(purpose.count <= Limit.purpose, "a purpose over its length")
            require(purpose.starts(with: name.utf8), "a purpose of another program")
            let part = ConfirmedCommand(ProgramCall(bytes, isWhole: false), of: program, in: place)
            require(part.purpose == nil, "a purpose of a part")
        }
    }
}

/// A configuration file.
enum Configurations: Harness {
    static let name = "configurations"
    static var seeds: [[UInt8]] {
        let all = Settings.all.map { setting in
            "[\(setting.section)]\n\(setting.key) = \(setting.standard.text)\n"
        }
        return all.map(bytes) + [bytes(all.joined()), bytes("# c\n\n[touch]\r\ntries = 0\n")]
    }

    static func feed(_ bytes: [UInt8]) {
        do throws(ConfigurationFault) {
            let configuration = try Configuration(files: [(name: "file", text: bytes)])
            for setting in Settings.all {
                let text = configuration.value(setting).text
                require(setting.accepts.value(of: text) != nil, "a value that is not accepted")
            }
        } catch {
            require(error.text.hasPrefix("file:"), "a fault without a place")
            let controls = error.text.unicodeScalars.filter { $0 != "\t" && $0.isControl }
            require(controls.isEmpty, "a fault that shows more than text")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
