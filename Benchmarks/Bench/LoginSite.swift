// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A machine with Signet on it and, where keys are kept in one, a TPM of its own.
struct LoginSite {
    /// Where the key is.
    enum Vault {
        case file
        case tpm
        /// In the TPM, with somebody between who hears each command.
        case tpmHeard
        /// The same, and each command takes this much longer, as in a chip.
        case tpmAsChip(Duration)
    }

    let host: HostFixture
    let peer: SignetPeer
    let measures: Measures
    /// Who hears the commands to the TPM, if anybody does.
    let bus: TPMInterposer?
    private let tpm: SoftwareTPM?

    /// Sets it up and enrols alice.
    init(_ workshop: Workshop, _ vault: Vault) throws {
        host = try workshop.host()
        measures = Measures(host: host)
        let sockets = host.path("/run")
        switch vault {
        case .file:
            tpm = nil
            bus = nil
            peer = try SignetPeer(on: host)
        case .tpm:
            tpm = try SoftwareTPM(socketsIn: sockets)
            bus = nil
            peer = try SignetPeer(on: host, vault: "kind = tpm\ntpm = swtpm:path=/run/tpm")
        case .tpmHeard, .tpmAsChip:
            let tpm = try SoftwareTPM(socketsIn: sockets)
            self.tpm = tpm
            bus = try TPMInterposer(tpm, socketsIn: sockets)
            peer = try SignetPeer(on: host, vault: "kind = tpm\ntpm = swtpm:path=/run/tpm-bus")
            if case .tpmAsChip(let time) = vault { bus?.delay(time) }
        }
    }

    /// One login in the usual way.
    func login() throws -> Measures.Login { try measures.login(peer) }

    /// Milliseconds that the daemon has worked until now.
    func work() throws -> Double {
        try peer.daemons().map(Accounting.work).reduce(0, +)
    }

    /// Writes receipts or accounts into the state, while no daemon is at it.
    func populate(_ kind: Population.Kind, _ count: Int) throws {
        try peer.kill()
        let outcome = try host.run(
            ["\(Layout.products)/bench", Population.word, kind.rawValue, "\(count)"],
            within: .seconds(120))
        guard outcome.succeeded else {
            throw BenchFault.unexpected("\(outcome.output)\(outcome.errors)")
        }
    }
}
