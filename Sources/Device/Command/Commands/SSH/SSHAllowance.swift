// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix
import SSHProtocol

/// `signet ssh allow`: runs a command whose ssh signatures one touch allows.
///
/// The daemon covers only what this process has started, so the command is run by it. The grant ends
/// with the command, or earlier.
struct SSHAllowance {
    let run: Invocation

    /// Runs the command by its name, as the user's search path has it.
    private static let runner = "/usr/bin/env"
    private static let touchMilliseconds: UInt32 = 60_000
    /// What is allowed if no option says otherwise.
    private static let standard: (signatures: UInt32, seconds: UInt32) = (10, 60)

    /// Asks for the grant, and runs the command once a finger has allowed it.
    ///
    /// Throws `.said` if the command fails, which has then said why.
    func perform(
        key: SSHKeyID, account: AccountName, destination typed: String, command: [String]
    ) throws(CommandFault) {
        guard let destination = SSHDestination(typed.bytes) else {
            throw .usage(SSHAllowanceMessages.badDestination(typed.bytes))
        }
        let request = SSHAllowRequest(
            account: account, timeoutMilliseconds: Self.touchMilliseconds, key: key,
            destination: destination,
            signatures: number(.signatures) ?? Self.standard.signatures,
            seconds: number(.seconds) ?? Self.standard.seconds)
        // Standard output is the command's.
        var environment = run.environment
        environment.output = { [errors = environment.errors] in
            errors($0)
            return true
        }
        environment.columns = { nil }
        var progress = Progress(environment, isJSON: false, purpose: request.purpose)
        defer { progress.end() }
        var status: Int32?
        try run.exchange(.sshAllow(request), awaitsTouch: true).run {
            (answer) throws(CommandFault) in
            if case .notice(let notice) = answer {
                progress.show(notice)
                return .goOn
            }
            guard let allowed: SSHAllowedAnswer = answer.own() else {
                throw .fault(CommonMessages.unexpected)
            }
            progress.end()
            run.environment.complain(
                SSHAllowanceMessages.allowed(
                    allowed.signatures, seconds: allowed.seconds, destination: destination.bytes))
            do throws(SystemFault) {
                status = try run.environment.runProgram(Self.runner, command)
            } catch { throw .system(error) }
            // Leaving ends the grant.
            return .finished
        }
        switch status {
        case 0: return
        case nil: throw .interrupted
        default: throw .said(.denied)
        }
    }

    private func number(_ option: OptionSyntax) -> UInt32? {
        run.arguments.value(option).flatMap { UInt32($0) }
    }
}

extension OptionSyntax {
    /// How many signatures are allowed.
    static let signatures = OptionSyntax(
        "signatures",
        .number(
            Int64(SSHGrantLimit.signatures.lowerBound)...Int64(SSHGrantLimit.signatures.upperBound)),
        summary: "how many signatures one touch allows, by default 10")
    /// For how long they are allowed.
    static let seconds = OptionSyntax(
        "seconds",
        .number(Int64(SSHGrantLimit.seconds.lowerBound)...Int64(SSHGrantLimit.seconds.upperBound)),
        summary: "for how many seconds, at most and by default 60")
}

/// Messages of `signet ssh allow`.
enum SSHAllowanceMessages {
    /// A text that names neither a host key nor a namespace.
    static func badDestination(_ typed: Bytes) -> Text {
        """
        \(typed) is not a destination: give a host key's fingerprint as 'ssh-keygen -lF HOST' shows \
        it, SHA256:…, or namespace:NAME
        """
    }

    /// A finger has allowed it.
    static func allowed(_ signatures: UInt32, seconds: UInt32, destination: Bytes) -> Text {
        """
        the command may make \(number: signatures) ssh signatures in \(number: seconds) s for \
        \(destination), without further touches
        """
    }
}
