// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// Checks whether accounts are registered at the servers that must approve their logins, and
/// whether the daemon can reach the relay.
struct RegistrationCheck {
    let machine: Machine
    let demands: ServerDemands
    let view: DaemonView

    func findings() -> [Finding] {
        var findings: [Finding] = []
        if view.reach == .answers {
            let named = demands.named
            for account in view.accounts {
                guard account.status.prints > 0 || named.contains(account.name) else { continue }
                findings += self.findings(on: account.name, known: account.servers)
            }
            findings += named.filter(isUnseen).flatMap { self.findings(on: $0, known: []) }
        }
        let isRegistered = view.accounts.contains { $0.servers?.isEmpty == false }
        if !demands.isEmpty || isRegistered, !machine.files.exists("/run/signet/relay.sock") {
            findings.append(Self.relayMissing)
        }
        return findings
    }

    /// Whether an account that a file names exists, but Signet stores nothing for it.
    private func isUnseen(_ name: AccountName) -> Bool {
        guard machine.isRoot, !view.isCut else { return false }
        let seen = view.accounts.map(\.name) + view.denied.map(\.name)
        let text = String(decoding: name.bytes, as: UTF8.self)
        return !seen.contains(name) && (try? machine.nameService.isAccount(text)) == true
    }

    private func findings(on account: AccountName, known: [ServerAnswer]?) -> [Finding] {
        demands.demands(on: account).compactMap { demand in
            guard case .server(let url) = demand.target, demand.trouble(known) != nil else {
                return nil
            }
            return Self.unregistered(account, url: url, services: demand.serviceList)
        }
    }

    /// A server must approve an account's logins, but cannot.
    private static func unregistered(_ account: AccountName, url: ServerURL, services: Bytes)
        -> Finding
    {
        Finding(
            "server-unregistered", level: .warning, area: .accounts, subject: account.bytes,
            what: """
                \(services): \(account) is not registered at \(url), which must approve these \
                logins
                """,
            why: """
                no touch is accepted there, only the password: the account was never registered, \
                or its fingers have changed since
                """,
            mend: "signet enable --server \(Shell.word(url)) --account \(Shell.word(account))")
    }

    /// The relay's socket is missing.
    private static let relayMissing = Finding(
        "relay-missing", level: .fault, area: .service, subject: "/run/signet/relay.sock".bytes,
        what: "there is no socket at /run/signet/relay.sock",
        why: """
            the daemon cannot reach servers: logins at servers do not work, nor do logins at this \
            machine that need a server's approval
            """,
        mend: "systemctl enable --now signet-relay.socket")
}
