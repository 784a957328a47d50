// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// What tests of the keyring do in a fixture: turn it on, log in to a desktop, look at it.
extension SignetFixture {
    /// Has a touch open alice's keyring, or ends that.
    func enableKeyring(isOn: Bool = true) throws {
        let client = try connect()
        try client.send(.enable(account: "alice", keyring: isOn))
        while let answer = try client.receive() {
            switch answer {
            case .passwordWanted:
                try client.send(.password(Bytes(HostFixture.alice.password.utf8)))
            // What the key is sealed to.
            case .print: continue
            case .done(let done): return #expect(done.keyring == (isOn ? .on : .off))
            case .own: continue
            default: throw TestFault.closed(awaited: "done", transcript: "\(answer)")
            }
        }
        throw TestFault.closed(awaited: "done", transcript: "")
    }

    /// Waits for alice's shell, and makes a desktop's session of it.
    func openDesktop(_ terminal: Terminal) throws {
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("exec desktop")
        try terminal.expect("alice@linux$ ")
    }

    /// Whether the login keyring is `open` or `locked`.
    func keyringState(_ terminal: Terminal) throws -> String {
        try terminal.sendLine("keyring state")
        try terminal.expect("the keyring is ")
        let rest = try terminal.expect("\r\n")
        return rest.contains("open") ? "open" : "locked"
    }

    /// Ends alice's session, and what it left running.
    func leave(_ terminal: Terminal) throws {
        try terminal.sendLine("exit")
        try terminal.expectEnd()
        endKeyrings()
    }
}
