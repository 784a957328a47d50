// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import ConfigurationFiles
import Domain
import LoginProtocol
import MainContext
import State

/// The settings that the daemon works under, and what is wrong with the administrator's files.
///
/// Files that are not understood never give way to the defaults, since what was not understood may
/// be what forbids something. The settings that were understood last stay in force. Where none are
/// stored, because the files set nothing before or the copy cannot be used, no touch is asked for;
/// the defaults then serve only what needs no touch.
struct SettingsInForce: Sendable {
    let settings: Configuration
    /// Why the files are not understood; nil if they are.
    let fault: ConfigurationFault?
    /// Whether a touch may be asked for under these settings.
    let permitTouches: Bool

    /// Settings that were understood.
    init(_ settings: Configuration) {
        (self.settings, fault, permitTouches) = (settings, nil, true)
    }

    private init(_ settings: Configuration, fault: ConfigurationFault, permitTouches: Bool) {
        (self.settings, self.fault, self.permitTouches) = (settings, fault, permitTouches)
    }

    /// Throws `settingsNotUnderstood` unless a touch may be asked for.
    func requireUnderstood() throws(Denial) {
        guard !permitTouches, let fault else { return }
        throw Denial(
            .settingsNotUnderstood, subject: Bytes(fault.text.utf8.prefix(Limit.text)))
    }
}

extension SettingsInForce {
    /// Reads the files, or else the copy of the settings that were understood last.
    ///
    /// Settings that were understood are stored for a later start. Says in the journal what is
    /// wrong and what is in force.
    @ServiceActor
    static func load(
        _ path: String, state: StateDirectory, journal: DecisionJournal
    ) -> SettingsInForce {
        do throws(ConfigurationFault) {
            let settings = try ConfigurationFiles.load(path)
            for line in settings.obsoleteLines { journal.warning(line.text) }
            keep(settings, in: state, journal: journal)
            return SettingsInForce(settings)
        } catch {
            if let last = last(in: state, journal: journal) {
                journal.fault("\(error.text): the settings that were understood last stay in force")
                return SettingsInForce(last, fault: error, permitTouches: true)
            }
            journal.fault(
                "\(error.text): no touch is asked for until this is corrected and the daemon is "
                    + "restarted, because no earlier settings are stored")
            return SettingsInForce(Configuration(), fault: error, permitTouches: false)
        }
    }

    @ServiceActor
    private static func keep(
        _ settings: Configuration, in state: StateDirectory, journal: DecisionJournal
    ) {
        let text = Bytes(settings.text.utf8)
        do throws(StoreFault) {
            try state.keep(text.isEmpty ? nil : StoredSettings(text: text))
        } catch {
            journal.fault("the settings could not be stored for later: \(error)")
        }
    }

    /// The settings that were understood last; nil if there are none, or they cannot be used.
    @ServiceActor
    private static func last(
        in state: StateDirectory, journal: DecisionJournal
    ) -> Configuration? {
        do {
            guard let stored = try state.storedSettings() else { return nil }
            return try Configuration(files: [(name: state.settingsPath, text: stored.text)])
        } catch {
            let reason = (error as? ConfigurationFault)?.text ?? "\(error)"
            journal.fault("the settings that were understood last cannot be used: \(reason)")
            return nil
        }
    }
}
