// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix

/// Checks whether the vaults that contain keys can be used, and whether the daemon can open the
/// TPM.
struct VaultCheck {
    let files: MachineFiles

    private static let device = "/dev/tpmrm0"

    /// Findings on the vaults that the daemon reports; there are none unless it answers.
    func daemonFindings(_ view: DaemonView) -> [Finding] {
        guard view.reach == .answers else { return [] }
        // Logins may need a vault even if new keys are made in the other one.
        let vaults = view.vaults.filter { vault in
            vault.isChosen
                || view.accounts.contains {
                    $0.status.state == .valid && $0.status.vault == vault.vault
                }
        }
        return vaults.compactMap { vault in
            if let trouble = vault.trouble { return Self.trouble(vault.vault, reason: trouble) }
            let isUnused = vault.isChosen && vault.vault == "file".bytes
            return isUnused && files.look(Self.device)?.kind == .device ? Self.tpmUnused : nil
        }
    }

    /// The finding on access to the TPM device, which the daemon opens without any capability.
    func deviceFindings() -> [Finding] {
        guard let look = files.look(Self.device), look.kind == .device else { return [] }
        let isOwners = look.owner == 0 && look.permissions & 0o600 == 0o600
        let tss = files.table("/etc/group").first { $0.count >= 3 && $0[0] == "tss" }
        let groups = [tss.flatMap { UInt32($0[2]) }, 0]
        let isGroups = groups.contains(look.group) && look.permissions & 0o060 == 0o060
        return isOwners || isGroups ? [] : [Self.access]
    }
}

extension VaultCheck {
    /// The vault in which new keys are made cannot be used.
    private static func trouble(_ vault: Bytes, reason: Bytes) -> Finding {
        Finding(
            "vault-trouble", level: .fault, area: .vault, subject: vault,
            what: "the vault '\(vault)' is needed, but cannot be used: \(detail: reason)",
            why: """
                keys in it cannot be opened, and no new ones can be created in it. \
                share/doc/signet/docs/admin/VAULT.md describes what to do
                """,
            mend: LoginStep.closed(because: reason, cause: nil).mend(of: .none))
    }

    /// There is a TPM, but keys are made in files.
    private static let tpmUnused = Finding(
        "tpm-unused", level: .note, area: .vault, subject: "file".bytes,
        what: "this machine has a TPM, but new keys are stored in files",
        why: """
            a copy of the whole disk is enough to open what is stored in files, but not what is \
            stored in the TPM
            """,
        mend: "signet vault")

    /// The owner or mode of the TPM's device is wrong.
    private static let access = Finding(
        "tpm-access", level: .warning, area: .vault, subject: device.bytes,
        what: "\(device) does not belong to the group tss, or the group has no access to it",
        why: "the daemon has no capabilities, and accesses the TPM as a member of that group",
        mend: "systemd-sysusers signet.conf; chgrp tss /dev/tpmrm0; chmod 660 /dev/tpmrm0")
}
