// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Posix

/// Where a password comes from.
enum PasswordSource {
    /// Typed at the terminal, without being shown.
    case terminal
    /// One line of standard input; good for one try.
    case standardInput

    /// The password in the frame that the daemon awaits; the caller wipes it.
    func packet(
        for account: Bytes, in surroundings: CommandEnvironment
    ) throws(CommandFault) -> Bytes {
        var password: Bytes
        switch self {
        case .terminal:
            password = try HiddenInput.password.typed(
                after: CommandText.passwordPrompt(account), in: surroundings)
        case .standardInput:
            password = try HiddenInput.password.read(
                from: surroundings.input, interrupts: surroundings.interrupts)
        }
        defer { wipe(&password) }
        do throws(WireFault) {
            return try Request.password(password).encoded()
        } catch { throw .password(CommandText.longPassword) }
    }
}

/// A line that nobody may see: how long it may be, and what is told where it cannot be had.
struct HiddenInput {
    let limit: Int
    let noTerminal: CommandFault
    let missing: CommandFault
    let tooLong: CommandFault

    /// A password.
    static let password = HiddenInput(
        limit: Limit.password, noTerminal: .password(CommandText.noTerminal),
        missing: .password(CommandText.noPassword), tooLong: .password(CommandText.longPassword))

    /// What is typed at the terminal after a prompt, up to Return; the caller wipes it.
    func typed(after prompt: Text, in surroundings: CommandEnvironment) throws(CommandFault)
        -> Bytes
    {
        let terminal: QuietTerminal
        do throws(SystemFault) {
            terminal = try QuietTerminal.open(surroundings.terminal)
        } catch { throw noTerminal }
        writeAll(surroundings.rendering(prompt), to: terminal.descriptor.number)
        do throws(CommandFault) {
            return try read(
                from: terminal.descriptor.number, interrupts: surroundings.interrupts)
        } catch {
            writeAll([10], to: terminal.descriptor.number)
            throw error
        }
    }

    /// One line, without its end, read byte by byte so that nothing behind it is taken.
    func read(from number: Int32, interrupts: Int32) throws(CommandFault) -> Bytes {
        var line = Bytes()
        // All at once: growing would leave copies behind.
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
