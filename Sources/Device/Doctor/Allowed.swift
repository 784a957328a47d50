// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration

extension Machine {
    /// Settings that allow a touch where the default refuses one.
    func allowanceFindings(_ configuration: Configuration) -> [Finding] {
        func says(_ setting: Setting, _ word: String) -> Bool {
            configuration.word(setting) == word
        }
        var findings: [Finding] = []
        if !says(Settings.loginOthers, Settings.refuse) {
            findings.append(.othersAllowed(Settings.loginOthers.name.bytes))
        }
        // Where logind runs, it decides who is present, and the setting has no effect.
        if look("/run/systemd/seats") == nil {
            let name = Settings.loginWithoutLogind.name.bytes
            if says(Settings.loginWithoutLogind, "any") { findings.append(.anyoneAllowed(name)) }
            if says(Settings.loginWithoutLogind, "terminals") {
                findings.append(.terminalsAllowed(name))
            }
        }
        if !says(Settings.loginWithoutSeat, Settings.refuse) {
            findings.append(.seatlessAllowed(Settings.loginWithoutSeat.name.bytes))
        }
        return findings
    }
}
