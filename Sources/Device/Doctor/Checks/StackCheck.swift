// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// A check's remark on one service: a function that makes the finding from the names of all
/// services that it concerns.
typealias StackRemark = (_ services: Bytes) -> Finding

/// Checks whether the PAM stacks with pam_signet authenticate legitimate users, and only those.
///
/// Each service is examined by the checks of lines, passwords, touches, what follows them, and keyring. The same remark
/// on several services becomes one finding.
struct StackCheck {
    let stacks: ServiceStacks
    private let keyring: KeyringLineCheck
    /// The lists that say which services may request a touch; nil if there is no configuration.
    private let lists: LoginLists?
    /// What follows a touch; nil if no files can say which modules exist.
    private let afterTouch: AfterTouchCheck?

    /// Prepares to check the stacks; without a configuration, the defaults apply.
    init(
        _ stacks: ServiceStacks, configuration: Configuration? = nil, files: MachineFiles? = nil
    ) {
        self.stacks = stacks
        lists = configuration.map(LoginLists.init)
        let keyring = KeyringLineCheck(stacks, configuration: configuration ?? Configuration())
        self.keyring = keyring
        afterTouch = files.map { AfterTouchCheck(stacks, keyring: keyring, files: $0) }
    }

    /// Returns all findings on the stacks, except those on the daemon's own stack.
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
        let all = lines.strayRemarks() + lines.troubleRemarks()
        guard let first = chain.indices(of: .signet).first else { return all }
        let remarks =
            all + lines.remarks() + keyring.remarks(on: service)
            + NetworkStackCheck.remarks(on: service, in: stacks)
        // If libpam rejects the whole service, what its modules would do is irrelevant.
        guard !chain.isAborted else { return remarks }
        let file = chain.handlers[first].place.whole
        guard let runs = StackRuns(chain) else {
            return remarks + lines.jumpRemarks() + [{ Self.tangled($0, file: file) }]
        }
        let isOffered = lists?.exclusion(service: service) == nil
        let password = PasswordLoginCheck(
            runs: runs, stack: stacks.files.place(of: service), file: file,
            isForFingers: service.hasSuffix("fingerprint"),
            isOffered: isOffered)
        let touch = TouchLoginCheck(
            runs: runs, file: file, mayRelease: keyring.mayRelease(to: service))
        let after =
            isOffered && !NetworkService.has(service)
            ? afterTouch?.remarks(on: service) ?? [] : []
        return remarks + lines.jumpRemarks() + password.remarks() + touch.remarks() + after
    }

    /// The stack has too many possible paths.
    private static func tangled(_ services: Bytes, file: StackPosition) -> Finding {
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
