// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A real TPM 2.0 in software (swtpm), empty at first; its process and state end with this object.
///
/// Commands are sent as bytes, beside its other users: its clients connect for each command.
/// Calls block the thread until the TPM has answered.
package final class SoftwareTPM: Sendable {
    /// The socket of commands; the control socket is `path` and `.ctrl`.
    package let path: String
    /// What tpm2-tss is told to find it.
    package var tcti: String { "swtpm:path=\(path)" }
    /// The control socket, where power and locality are set.
    package var controlPath: String { path + ".ctrl" }

    private let scratch: Scratch
    private let process = Mutex<Program?>(nil)
    let ownerPassword = Mutex<[UInt8]>([])

    /// Starts one. Its sockets are in `directory`, a fixture's for example (`host.path("/run")`,
    /// seen there as `/run/tpm`), and otherwise in a private one. With an authority, it has an
    /// endorsement key that the authority has certified.
    package init(
        socketsIn directory: String? = nil, certifiedBy authority: TPMAuthority? = nil
    ) throws(TestFault) {
        scratch = try Scratch()
        path = (directory ?? scratch.path) + "/tpm"
        guard unsafe mkdir(scratch.at("state"), 0o700) == 0 else {
            throw .system(call: "mkdir", subject: "a TPM's state", code: errno)
        }
        try authority?.manufacture(into: scratch.at("state"))
        try start()
    }

    deinit { kill() }

    // MARK: Its life

    /// Switches it on, as after a stop: TPM2_Startup(CLEAR). Returns when it listens.
    package func start() throws(TestFault) {
        // It writes its number when both sockets listen; it takes files only, no inherited pipe.
        let announcement = scratch.at("pid")
        _ = unsafe unlink(announcement)
        guard unsafe mkfifo(announcement, 0o600) == 0 else {
            throw .system(call: "mkfifo", subject: announcement, code: errno)
        }
        let opened = unsafe open(announcement, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let ready = try Descriptor(opened < 0 ? -errno : opened, "open", announcement)
        let program = try Program(
            Command([
                "swtpm", "socket", "--tpm2", "--server", "type=unixio,path=\(path)",
                "--ctrl", "type=unixio,path=\(controlPath)",
                "--tpmstate", "dir=\(scratch.at("state"))",
                "--flags", "not-need-init,startup-clear", "--pid", "file=\(announcement)",
            ]))
        guard ready.isReady(within: .patience) else {
            throw .deadline(awaited: "a TPM", transcript: program.errors)
        }
        process.withLock { $0 = program }
    }

    /// Takes it away, in order: nothing listens afterwards.
    package func stop() throws(TestFault) {
        guard let program = take() else { return }
        // TPM_SU_CLEAR
        _ = try send(TPMCommand(.shutdown, parameters: [0, 0]).bytes)
        program.signal(SIGTERM)
        try program.expectEnd()
    }

    /// Takes its power without a warning; its sockets refuse connections afterwards.
    package func kill() {
        guard let program = take() else { return }
        program.signal(SIGKILL)
        _ = try? program.expectEnd()
    }

    /// A power cycle: what is persistent stays, sessions and transient objects go, PCRs begin anew.
    package func restart() throws(TestFault) {
        try stop()
        try start()
    }

    /// Puts another TPM into its place: same sockets, nothing in it, another owner seed.
    package func replace() throws(TestFault) {
        try stop()
        for name in Layout.entries(of: scratch.at("state")) {
            _ = unsafe unlink(scratch.at("state/\(name)"))
        }
        ownerPassword.withLock { $0 = [] }
        try start()
    }

    /// Lets it stand still: connections are accepted, and nothing is answered.
    package func suspend() { process.withLock { $0 }?.suspend() }

    /// Lets a suspended one go on.
    package func resume() { process.withLock { $0 }?.signal(SIGCONT) }

    /// The process id as the machine sees it; nil while it is off.
    package var pid: Int32? { process.withLock { $0?.pid } }

    private func take() -> Program? {
        process.withLock { process in
            defer { process = nil }
            return process
        }
    }

    // MARK: Commands

    /// Where commands go to.
    package var client: TPMClient { TPMClient(path: path) }

    /// As TPMClient's.
    package func send(
        _ command: [UInt8], within limit: Duration = .patience
    ) throws(TestFault) -> [UInt8] { try client.send(command, within: limit) }

    /// As TPMClient's.
    package func ask(_ command: TPMCommand) throws(TestFault) -> TPMResponse {
        try client.ask(command)
    }

    /// As TPMClient's.
    @discardableResult
    package func run(_ command: TPMCommand) throws(TestFault) -> TPMResponse {
        try client.run(command)
    }
}
