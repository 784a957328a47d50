// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The results that a client of the bus knows.
///
/// KDE's settings wait for ever after a result that they do not know. The client's name decides only
/// which of two words it gets; nothing else depends on it, since any program can choose its name.
package enum ClientVocabulary: Sendable {
    /// Those of fprintd 1.94.5.
    case current
    /// Those without `enroll-duplicate` and without scans that were too fast.
    case early

    /// The programs in which KDE's page of users runs, as the kernel names them.
    private static let earlyPrograms: Set<String> = ["systemsettings", "kcmshell5", "kcmshell6"]

    /// Chooses by the name of the client's program; nil if that is not known.
    package init(of program: Bytes?) {
        let name = program.flatMap { String(validating: $0, as: UTF8.self) }
        self = name.map(Self.earlyPrograms.contains) == true ? .early : .current
    }
}

extension ScanReport {
    /// The report in words that a client knows.
    package func worded(for vocabulary: ClientVocabulary) -> ScanReport {
        switch vocabulary {
        case .current: return self
        case .early: break
        }
        let word =
            switch result {
            case "enroll-duplicate": "enroll-failed"
            case "enroll-too-fast": "enroll-retry-scan"
            case "verify-too-fast": "verify-retry-scan"
            default: result
            }
        return ScanReport(word, isDone: isDone)
    }
}
