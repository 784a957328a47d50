// SPDX-License-Identifier: Apache-2.0
import Sealing
import TestSupport

/// What each vault costs, against what nobody can be faster than.
struct VaultSection {
    let workshop: Workshop
    /// Runs are taken in rounds, so that what else the machine does meets all alike.
    private let rounds = 3
    private let runs = 10

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures both vaults by themselves, then whole logins, and prints the tables.
    func run() throws {
        try showFile()
        print()
        try showTPM()
        print()
        try showLogins()
        print()
        try showCommands()
    }

    // MARK: By themselves

    private func showFile() throws {
        var vault = try VaultTimes()
        var floor = try VaultTimes()
        let file = vault.fileVault()
        try vault.measure(file)
        vault = try VaultTimes()
        for _ in 0..<rounds * runs {
            try vault.measure(file)
            try floor.measureLibrary()
        }
        print("| file vault | signet | libcrypto alone, same wrapper | ratio |")
        print("|---|---|---|---|")
        for operation in VaultTimes.Operation.allCases {
            row(
                operation.name, vault.text(operation), floor.text(operation),
                vault.ratio(operation, to: floor))
        }
        print()
        print("openssl speed: a signature in \(try opensslSpeed())")
    }

    private func showTPM() throws {
        let tpm = try SoftwareTPM()
        var vault = try VaultTimes()
        let keeper = try vault.tpmVault(tpm.tcti)
        try vault.measure(keeper)
        var floor = try TPMFloor(workshop: workshop, tcti: tpm.tcti)
        var times = try VaultTimes()
        for _ in 0..<rounds {
            for _ in 0..<runs { try times.measure(keeper) }
            keeper.rest()
            try floor.measure(runs: runs)
        }
        print("The test TPM is swtpm, a TPM 2.0 in software; a chip takes its own time for each.")
        print()
        print(
            "| TPM vault | signet | commands | ESAPI, one encrypted HMAC session | ratio "
                + "| ESAPI, password in clear | ratio |")
        print("|---|---|---|---|---|---|---|")
        for operation in VaultTimes.Operation.allCases {
            row(
                operation.name, times.text(operation),
                times.commands[operation].map(String.init) ?? "–",
                floor.hmac.text(operation), times.ratio(operation, to: floor.hmac),
                floor.password.text(operation), times.ratio(operation, to: floor.password))
        }
    }

    private func opensslSpeed() throws -> String {
        // "+F4:index:bits:signatures a second:verifications a second"
        let outcome = try Program(
            Command(["openssl", "speed", "-seconds", "1", "-mr", "ecdsap256"])
        ).expectEnd(within: .seconds(30))
        let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("+F4:") }
        let fields = line?.split(separator: ":") ?? []
        guard fields.count == 5, let rate = Double(fields[3]), rate > 0 else {
            throw BenchFault.unexpected("openssl speed: \(outcome.output)")
        }
        return Unit.milliseconds.text(1000 / rate)
    }

    // MARK: Whole logins

    private func showLogins() throws {
        let file = try LoginSite(workshop, .file)
        let tpm = try LoginSite(workshop, .tpm)
        let chip = try LoginSite(workshop, .tpmAsChip(.milliseconds(100)))
        let slow = try LoginSite(workshop, .tpmAsChip(.seconds(1)))
        let sites = [file, tpm, chip, slow]
        var figures = sites.map { _ in LoginFigures() }
        for run in 0..<rounds * runs {
            // A login by the last takes a quarter of a minute.
            for (index, site) in sites.enumerated() where index < 3 || run < rounds {
                try figures[index].take(from: site)
            }
        }
        for run in 0..<runs {
            for (index, site) in sites.enumerated() where index < 3 || run < rounds {
                try figures[index].takeEnrolment(of: site)
            }
        }
        print(
            "| login | file vault | TPM vault | ratio | TPM vault, 100 ms a command "
                + "| TPM vault, 1 s a command |")
        print("|---|---|---|---|---|---|")
        for figure in LoginFigures.names.indices {
            let one = figures[0].samples[figure]
            let other = figures[1].samples[figure]
            row(
                LoginFigures.names[figure], one.text(.milliseconds), other.text(.milliseconds),
                other.ratio(to: one), figures[2].samples[figure].text(.milliseconds),
                figures[3].samples[figure].text(.milliseconds))
        }
    }

    private struct LoginFigures {
        static let names = [
            "pam_authenticate to prompt", "touch to PAM_SUCCESS, 0.1 s after the prompt",
            "touch to PAM_SUCCESS, touched at once", "enrolment, from the last scan to its end",
        ]
        var samples = names.map { _ in Samples() }

        mutating func take(from site: LoginSite) throws {
            let usual = try site.login()
            let quick = try site.measures.login(site.peer, reaction: 0)
            for (index, value) in [usual.toPrompt, usual.fromTouch, quick.fromTouch].enumerated() {
                samples[index].take { value }
            }
        }

        mutating func takeEnrolment(of site: LoginSite) throws {
            let milliseconds = try site.peer.enrolAgain()
            samples[3].take { milliseconds }
        }
    }

    // MARK: Commands

    private func showCommands() throws {
        let site = try LoginSite(workshop, .tpmHeard)
        print("commands to the TPM between touch and signature, as somebody on the bus heard them:")
        print("- login: \(try CommandCount.login(at: site))")
        print("- secret that is released: \(try CommandCount.secret(at: site))")
        if let count = try CommandCount.keyringLogin(at: site) {
            print("- login that opens the keyring: \(count)")
        }
    }

    private func row(_ cells: String...) {
        print("| \(cells.joined(separator: " | ")) |")
    }
}

extension VaultTimes {
    /// Median and 90th percentile, if the operation was measured.
    func text(_ operation: Operation) -> String {
        samples[operation]?.text(.milliseconds) ?? "–"
    }

    /// The median as a multiple of another's.
    func ratio(_ operation: Operation, to other: VaultTimes) -> String {
        guard let own = samples[operation], let other = other.samples[operation] else {
            return "–"
        }
        return own.ratio(to: other)
    }
}
