// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import ConfigurationFiles
import LoginMessages
import LoginProtocol

/// Checks whether the configuration is accepted, only root can change it, and the daemon uses it.
struct ConfigurationCheck {
    private let files: MachineFiles
    /// The configuration in the files; nil if they would be rejected.
    let configuration: Configuration?
    /// The reason why the files would be rejected, even if the daemon does not use them yet.
    private let fault: ConfigurationFault?

    private static let file = "/etc/signet/signet.conf"

    /// Reads the configuration from the files, as the daemon would.
    init(_ files: MachineFiles) {
        self.files = files
        do throws(ConfigurationFault) {
            configuration = try ConfigurationFiles.load(files.root + Self.file)
            fault = nil
        } catch {
            (configuration, fault) = (nil, error)
        }
    }

    /// Findings on lines with settings that no longer exist.
    func lineFindings() -> [Finding] {
        (configuration?.obsoleteLines ?? []).map { Self.obsolete($0.text) }
    }

    /// Findings on the owner and mode of the files, because of which the daemon would reject them.
    func fileFindings() -> [Finding] {
        let (check, file) = (FileCheck(files: files), Self.file)
        return check.findings(at: file, rule: .settingFile)
            + check.findings(at: "/etc/signet", rule: .settingDirectory)
            + check.findings(at: "\(file).d", rule: .settingDirectory)
            + files.names("\(file).d").filter { $0.hasSuffix(".conf") }
            .flatMap { check.findings(at: "\(file).d/\($0)", rule: .settingFile) }
    }

    /// Findings on a configuration that the daemon has rejected or does not use yet.
    func daemonFindings(_ view: DaemonView) -> [Finding] {
        if let fault = fault?.text.bytes ?? view.configurationFault {
            return [Self.refused(fault, permitsNoTouch: view.permitsNoTouch)]
        }
        guard let used = view.settings, let configuration else { return [] }
        let differing = Settings.all.filter(\.isUsedByDaemon).filter { setting in
            let value = used.first { $0.name == setting.name.bytes }?.value
            return value != nil && value != configuration.value(setting).text.bytes
        }
        let names = differing.map(\.name).joined(separator: ", ")
        return names.isEmpty ? [] : [Self.old(names)]
    }
}

extension ConfigurationCheck {
    /// A line with an obsolete setting; `line` contains file, line and what to write.
    private static func obsolete(_ line: String) -> Finding {
        Finding(
            "setting-obsolete", level: .warning, area: .service, subject: file.bytes,
            what: "\(line)",
            why: "an earlier version had this setting. The rest of the file is in force",
            mend: Remedy.editSettings)
    }

    /// The configuration was refused.
    private static func refused(_ fault: Bytes, permitsNoTouch: Bool) -> Finding {
        Finding(
            "configuration-refused", level: .fault, area: .service, subject: file.bytes,
            what: "the configuration was refused: \(fault)",
            why: permitsNoTouch
                ? """
                no touch is asked for, because what is not understood may forbid something, and no \
                earlier settings are stored. Correct the file, then restart the daemon
                """
                : """
                the settings that were understood last are in force instead of what the files say; \
                if there are none, no touch is asked for. Correct the file, then restart the daemon
                """,
            mend: "signet config --check; systemctl try-restart signetd")
    }

    /// The running daemon uses other settings than the files.
    private static func old(_ names: String) -> Finding {
        Finding(
            "configuration-old", level: .warning, area: .service, subject: file.bytes,
            what: "the running daemon does not use these settings from the files: \(names)",
            why: "the daemon reads the files only when it starts",
            mend: "systemctl try-restart signetd")
    }
}
