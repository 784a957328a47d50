// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// What a check says about one service: a finding, once it is known of which other services the
/// same is said.
typealias StackRemark = (_ services: Bytes) -> Finding

/// Whether the PAM stacks with pam_signet let in whom they should, and nobody else.
///
/// The same remark about several services becomes one finding.
struct StackCheck {
    let stacks: ServiceStacks
    private let keyring: KeyringLineCheck
    /// Which services fingerprint login is available for; nil if there is no configuration.
    private let lists: LoginLists?

    /// Without a configuration, the defaults apply.
    init(_ stacks: ServiceStacks, configuration: Configuration? = nil) {
        self.stacks = stacks
        lists = configuration.map(LoginLists.init)
        keyring = KeyringLineCheck(stacks, configuration: configuration ?? Configuration())
    }

    /// All findings about the stacks, except those about the daemon's own stack.
    func findings() -> [Finding] {
        var said: [(remark: StackRemark, services: [String])] = []
        var indices: [[Bytes]: Int] = [:]
        for service in stacks.services {
            for remark in remarks(on: service) {
                let finding = remark([])
                let key = [finding.code.bytes, finding.what.bytes, finding.mend.bytes]
                let index = indices[key, default: said.count]
                if index == said.count { said.append((remark, [])) }
                indices[key] = index
                if said[index].services.last != service { said[index].services.append(service) }
            }
        }
        return said.map { $0.remark(ServiceStacks.list($0.services)) }
    }

    private func remarks(on service: String) -> [StackRemark] {
        let lines = StackLineCheck(stacks: stacks, service: service)
        let chain = stacks.chain(of: service, type: .auth)
        guard let first = chain.indices(of: .signet).first else { return lines.strayRemarks() }
        let remarks = lines.strayRemarks() + lines.remarks() + keyring.remarks(on: service)
        // If libpam gives up on the service, what its modules would do is irrelevant.
        guard !chain.isAborted else { return remarks }
        let file = chain.handlers[first].place.whole
        guard let runs = StackRuns(chain) else {
            return remarks + lines.jumpRemarks() + [{ Self.tangled($0, file: file) }]
        }
        let password = PasswordLoginCheck(
            runs: runs, stack: stacks.files.place(of: service), file: file,
            isForFingers: service.hasSuffix("fingerprint"),
            isOffered: lists?.exclusion(service: service) == nil)
        let touch = TouchLoginCheck(
            runs: runs, file: file, mayRelease: keyring.mayRelease(to: service))
        return remarks + lines.jumpRemarks() + password.remarks() + touch.remarks()
    }

    /// There are too many ways.
    private static func tangled(_ services: Bytes, file: StackPlace) -> Finding {
        Finding(
            "stack-tangled", level: .note, area: .stacks, subject: services,
            what: "\(services): this stack has too many paths to follow them all",
            why: """
                the doctor could not judge whether the password is reached. Test the stack with a \
                second terminal open
                """,
            mend: Remedy.edit(file))
    }
}
