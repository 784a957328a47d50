// SPDX-License-Identifier: Apache-2.0
/// A process's position relative to its terminal, as the module sees it; the raw value is on the
/// wire.
package enum TerminalPosition: UInt8, CaseIterable, Sendable {
    /// The process is in the foreground of the terminal that the application named.
    case foreground = 1
    /// The process is in the background of its terminal.
    case background = 2
    /// The application named no terminal, or one that is not the process's own.
    case noTerminal = 3
}

/// What to do with a request that does not come from a terminal's foreground, where the user may
/// not have made it; the raw value is on the wire.
package enum BackgroundPolicy: UInt8, CaseIterable, Sendable {
    /// No touch is asked for, except for a session at a seat without any terminal.
    case refuse = 1
    /// A touch is asked for, and the prompt says where the request comes from.
    case warn = 2
    /// A touch is asked for, without a warning.
    case allow = 3
}
