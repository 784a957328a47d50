// SPDX-License-Identifier: Apache-2.0
/// Where a request comes from, as the module sees it; the raw value is on the wire.
package enum TerminalPosition: UInt8, CaseIterable, Sendable {
    /// The process is in the foreground of the terminal that it names.
    case foreground = 1
    /// It has that terminal, but is in its background.
    case background = 2
    /// It names no terminal, or one that is not its own.
    case noTerminal = 3
}

/// What becomes of a request that nobody in front of a terminal may have made; on the wire.
package enum BackgroundPolicy: UInt8, CaseIterable, Sendable {
    /// No touch is asked for, unless the session is at a seat and there is no terminal at all.
    case refuse = 1
    /// A touch is asked for, and the text says where the request comes from.
    case warn = 2
    /// A touch is asked for.
    case allow = 3
}
