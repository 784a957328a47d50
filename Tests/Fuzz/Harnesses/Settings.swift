import ModuleOptions
import Policy
import Statement

/// The module's options, one a line.
enum Options: Harness {
    static let name = "options"
    static var seeds: [[UInt8]] {
        [
            bytes("timeout=30\nmax-tries=3\ndebug\nsocket=/run/signet/signetd.sock"),
            bytes("timeout=170"), bytes("socket=/a/../b"), bytes("debug\ndebug"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let words = bytes.split(separator: UInt8(ascii: "\n")).map { [UInt8]($0) }
        guard let options = try? ModuleOptions(parsing: words) else { return }
        require((1...170).contains(options.timeoutSeconds), "a timeout out of its range")
        require((1...5).contains(options.maximumTries), "tries out of their range")
        require(
            options.socket.first == UInt8(ascii: "/")
                && options.socket.count <= ModuleOptions.longestSocketPath, "a bad socket path")
    }
}

/// The command line of sudo, which anybody writes.
enum SudoCommands: Harness {
    static let name = "sudo-commands"
    static var seeds: [[UInt8]] {
        [
            bytes("sudo\0-u\0bob\0A=b\0--\0ls\0-n\0"), bytes("sudoedit\0--non-inter\0"), bytes("x"),
            bytes("sudo\0" + String(repeating: "ü", count: 600) + "\0"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let command = SudoCommand(parsing: bytes)
        require(command.purpose.count <= SudoCommand.longestPurpose, "a purpose over its length")
    }
}

/// A configuration file.
enum Configurations: Harness {
    static let name = "configurations"
    static var seeds: [[UInt8]] {
        let all = Policy.Settings.all.map { setting in
            "[\(setting.section)]\n\(setting.key) = \(setting.standard.text)\n"
        }
        return all.map(bytes) + [bytes(all.joined()), bytes("# c\n\n[touch]\r\ntries = 0\n")]
    }

    static func feed(_ bytes: [UInt8]) {
        do throws(ConfigurationFault) {
            let configuration = try Configuration(files: [(name: "file", text: bytes)])
            for setting in Policy.Settings.all {
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
