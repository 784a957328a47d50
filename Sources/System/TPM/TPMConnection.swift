// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import Posix

/// An open connection to a TPM with its tpm2-tss ESYS context.
///
/// Objects and sessions hold a reference to their connection until they are released, and flush
/// themselves over it. Not thread-safe: the connection and everything made with it must be used by
/// one thread at a time.
// SAFETY: both pointers are made in `init`, never given out, and freed once, in `deinit`.
@safe package final class TPMConnection {
    /// The name of the transport that the connection was opened with.
    package let name: TCTIName
    /// The number of commands sent, for tests and benchmarks that count round trips.
    package private(set) var commands = 0
    /// Whether the connection was abandoned; no command is sent over it then.
    package private(set) var isLost = false

    let context: OpaquePointer
    private let transport: OpaquePointer
    private let activity: TPMActivity
    /// The TPM handles of the objects and sessions that are in use over this connection.
    private var held: Set<UInt32> = []

    /// Opens a connection to a TPM, whose answers are noted in `activity`.
    ///
    /// Without a resource manager, it also starts a TPM that was not started since power-on
    /// (TPM2_Startup), and flushes the objects and sessions that a killed process left behind.
    ///
    /// - Throws: `.unreachable` or `.notPermitted` if the TPM cannot be reached, `.refused` for its
    ///   error codes, `.memory` if the environment cannot be set.
    package init(
        _ name: TCTIName, activity: TPMActivity = TPMActivity()
    ) throws(TPMFault) {
        do throws(SystemFault) { try keepLibraryQuiet() } catch { throw .memory }
        // Our library is initialised first: it keeps libcrypto, which tpm2-tss uses too, from
        // reading openssl.cnf.
        _ = try crypto { () throws(CryptoFault) in try SHA256.digest([]) }
        var transport: OpaquePointer?
        let loaded = unsafe Tss2_TctiLdr_Initialize_Ex(
            name.library.rawValue, name.configuration, &transport)
        guard loaded == TSS2_RC_SUCCESS, let opened = unsafe transport else {
            throw unreachable(name, code: ReturnCode(loaded))
        }
        var context: OpaquePointer?
        let made = unsafe Esys_Initialize(&context, opened, nil)
        guard made == TSS2_RC_SUCCESS, let context = unsafe context else {
            unsafe Tss2_TctiLdr_Finalize(&transport)
            throw .refused(.initialize, ReturnCode(made))
        }
        self.name = name
        self.activity = activity
        unsafe self.transport = opened
        unsafe self.context = context
        if !name.isManaged { try takeOver() }
    }

    deinit {
        var context: OpaquePointer? = unsafe context
        var transport: OpaquePointer? = unsafe transport
        unsafe Esys_Finalize(&context)
        unsafe Tss2_TctiLdr_Finalize(&transport)
    }

    /// Gives up the connection: objects and sessions are forgotten without being flushed.
    package func abandon() { isLost = true }

    /// Flushes all transient objects and sessions that are not in use over this connection.
    ///
    /// Does nothing with a resource manager, because the objects of other processes are not ours to
    /// flush. Handles are compared without the part of their type that differs between kinds of
    /// session.
    package func flushStale() throws(TPMFault) {
        guard !name.isManaged else { return }
        let mine = Set(held.map { $0 & 0x00ff_ffff | ($0 >> 31) << 31 })
        for handle in try handles(.transient) + handles(.loadedSessions) {
            if mine.contains(handle & 0x00ff_ffff | (handle >> 31) << 31) { continue }
            var system: OpaquePointer?
            guard unsafe Esys_GetSysContext(context, &system) == TSS2_RC_SUCCESS else { return }
            try run(.flushContext) { unsafe Tss2_Sys_FlushContext(system, handle) }
        }
    }

    /// Sends one command and counts it.
    ///
    /// Every command goes through this function, except that `flush` sends its own because it
    /// ignores errors.
    ///
    /// - Throws: `.unreachable` after `abandon()`, `.refused` for any code other than
    ///   TSS2_RC_SUCCESS.
    func run(_ operation: TPMOperation, _ body: () -> TSS2_RC) throws(TPMFault) {
        guard !isLost else { throw .unreachable("the connection to the TPM was closed") }
        commands += 1
        let code = ReturnCode(body())
        activity.noteAnswer()
        guard code.value == TSS2_RC_SUCCESS else { throw .refused(operation, code) }
    }

    /// Records that an object or session of this connection is in the TPM, so that `flushStale`
    /// spares it.
    func hold(_ handle: ESYS_TR) {
        if let number = number(of: handle) { held.insert(number) }
    }

    /// Frees the library's record of a handle; the object stays in the TPM.
    func close(_ handle: ESYS_TR) {
        if let number = number(of: handle) { held.remove(number) }
        var handle = handle
        _ = unsafe Esys_TR_Close(context, &handle)
    }

    /// Flushes an object or session from the TPM, unless the connection was abandoned.
    ///
    /// Errors are ignored: an object that remains is removed when the next connection is opened, or
    /// by the resource manager.
    func flush(_ handle: ESYS_TR) {
        guard !isLost else { return }
        if let number = number(of: handle) { held.remove(number) }
        commands += 1
        defer { activity.noteAnswer() }
        guard unsafe Esys_FlushContext(context, handle) != TSS2_RC_SUCCESS else { return }
        var handle = handle
        _ = unsafe Esys_TR_Close(context, &handle)
    }

    private func number(of handle: ESYS_TR) -> UInt32? {
        var number: TPM2_HANDLE = 0
        return unsafe Esys_TR_GetTpmHandle(context, handle, &number) == TSS2_RC_SUCCESS
            ? number : nil
    }

    private func takeOver() throws(TPMFault) {
        do throws(TPMFault) {
            try flushStale()
        } catch {
            guard case .refused(_, let code) = error else { throw error }
            switch code.meaning {
            case .notStarted:
                try run(.startup) { unsafe Esys_Startup(context, TPM2_SU(TPM2_SU_CLEAR)) }
            case .broken: throw unreachable(name, code: code)
            default: throw error
            }
        }
    }
}

/// Prevents tpm2-tss from writing to standard error, through the environment variable TSS2_LOG.
///
/// Call it at the start of `main`, before other threads exist; tpm2-tss reads the variable at its
/// first message. Does nothing if the variable already has the right value.
package func keepLibraryQuiet() throws(SystemFault) {
    let name = "TSS2_LOG"
    let value = "all+none"
    guard environmentValue(name) != value else { return }
    try setEnvironmentValue(name, value)
}

/// Returns the fault for a TPM that cannot be reached, with the reason found at its path if there
/// is one.
private func unreachable(_ name: TCTIName, code: ReturnCode) -> TPMFault {
    guard let path = name.path, let fault = reachabilityFault(of: path) else {
        return .unreachable("\(name) does not answer: \(code)")
    }
    return fault.isForbidden
        ? .notPermitted("\(name): \(fault)") : .unreachable("\(name): \(fault)")
}
