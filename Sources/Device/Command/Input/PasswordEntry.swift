// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix

/// The source of the password.
enum PasswordSource {
    /// Typed at the terminal, without echo.
    case terminal
    /// One line of standard input, which allows only one attempt.
    case standardInput

    /// Reads the password and returns the frame to send. The caller must wipe it.
    func packet(
        for account: AccountName, in environment: CommandEnvironment
    ) throws(CommandFault) -> Bytes {
        var password: Bytes
        switch self {
        case .terminal:
            password = try HiddenInput.password.typed(
                after: PasswordMessages.passwordPrompt(account), in: environment)
        case .standardInput:
            password = try HiddenInput.password.read(
                from: environment.input, interrupts: environment.interrupts)
        }
        defer { wipe(&password) }
        do throws(WireFault) {
            return try Request.password(password).encoded()
        } catch { throw .password(PasswordMessages.longPassword) }
    }
}

/// A line of confidential input: its maximum length in bytes, and the faults if it cannot be read.
struct HiddenInput {
    let limit: Int
    let noTerminal: CommandFault
    let missing: CommandFault
    let tooLong: CommandFault

    /// The account's password.
    static let password = HiddenInput(
        limit: Limit.password, noTerminal: .password(PasswordMessages.noTerminal),
        missing: .password(PasswordMessages.noPassword),
        tooLong: .password(PasswordMessages.longPassword))

    /// Prompts on the terminal and reads a line without echo. The caller must wipe it.
    func typed(after prompt: Text, in environment: CommandEnvironment) throws(CommandFault)
        -> Bytes
    {
        let terminal: QuietTerminal
        do throws(SystemFault) {
            terminal = try QuietTerminal.open(environment.terminal)
        } catch { throw noTerminal }
        writeAll(environment.rendering(prompt), to: terminal.descriptor.number)
        do throws(CommandFault) {
            return try read(
                from: terminal.descriptor.number, interrupts: environment.interrupts)
        } catch {
            writeAll([10], to: terminal.descriptor.number)
            throw error
        }
    }

    /// Reads one line without its end, byte by byte, so that nothing after it is consumed.
    func read(from number: Int32, interrupts: Int32) throws(CommandFault) -> Bytes {
        var line = Bytes()
        // Reserve it at once, because growing would leave copies behind.
        line.reserveCapacity(limit + 1)
        while line.count <= limit {
            switch wait(for: number, or: interrupts, until: nil) {
            case .interrupted:
                wipe(&line)
                throw .interrupted
            case .readable, .timedOut: break
            }
            switch try? readByte(from: number) {
            case .wouldBlock: continue
            case .byte(UInt8(ascii: "\n")): return line
            case .byte(let byte): line.append(byte)
            case .end, nil:
                if !line.isEmpty { return line }
                throw missing
            }
        }
        wipe(&line)
        throw tooLong
    }
}

/// Messages of the password prompt.
enum PasswordMessages {
    /// The prompt for the password.
    static func passwordPrompt(_ account: AccountName) -> Text {
        "Password of \(account): "
    }

    /// The password cannot be prompted for.
    static let noTerminal: Text =
        "the password is needed, but there is no terminal. Give it with '--password-stdin'"

    /// Nothing was typed, or standard input is empty.
    static let noPassword: Text = "no password was given"
    /// The input is longer than any password may be.
    static let longPassword: Text = "the password is too long"
}
