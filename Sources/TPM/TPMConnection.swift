// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import Posix

/// A way to a TPM that is open, and the tpm2-tss context that speaks over it.
///
/// Objects and sessions hold it until they are gone. For one thread at a time.
// SAFETY: both pointers are made in `init`, never given out, and freed once, in `deinit`.
@safe package final class TPMConnection {
    /// How it was named.
    package let name: TCTIName
    /// How many commands were sent, for whoever counts round trips.
    package private(set) var commands = 0
    /// Set when nothing can be given back over it any more.
    package private(set) var isLost = false

    let context: OpaquePointer
    private let transport: OpaquePointer
    /// What is held in the TPM, by the TPM's own numbers.
    private var held: Set<UInt32> = []

    /// Opens a way to the TPM, starts one that nobody has started, and flushes what a process that
    /// was killed left behind, both only where no resource manager does it.
    package init(_ name: TCTIName) throws(TPMFault) {
        do throws(SystemFault) { try keepLibraryQuiet() } catch { throw .memory }
        // Ours goes first: it keeps libcrypto, which tpm2-tss uses too, from reading openssl.cnf.
        _ = try crypto { () throws(CryptoFault) in try SHA256.digest([]) }
        var transport: OpaquePointer?
        let loaded = unsafe Tss2_TctiLdr_Initialize_Ex(
            name.library.rawValue, name.configuration, &transport)
        guard loaded == TSS2_RC_SUCCESS, let opened = unsafe transport else {
            throw unreachable(name, ReturnCode(loaded))
        }
        var context: OpaquePointer?
        let made = unsafe Esys_Initialize(&context, opened, nil)
        guard made == TSS2_RC_SUCCESS, let context = unsafe context else {
            unsafe Tss2_TctiLdr_Finalize(&transport)
            throw .refused(.initialize, ReturnCode(made))
        }
        self.name = name
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

    /// Gives up on it: what is still held is forgotten and not flushed.
    package func abandon() { isLost = true }

    /// Flushes all transient objects and sessions that are not held over this connection.
    ///
    /// Nothing where a resource manager stands between: others' are then none of our business.
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

    /// Sends one command; every call of the library that reaches the TPM goes through here.
    func run(_ operation: TPMOperation, _ body: () -> TSS2_RC) throws(TPMFault) {
        guard !isLost else { throw .unreachable("the connection to the TPM is gone") }
        commands += 1
        let code = ReturnCode(body())
        guard code.value == TSS2_RC_SUCCESS else { throw .refused(operation, code) }
    }

    /// Notes that an object or session is in the TPM.
    func hold(_ handle: ESYS_TR) {
        if let number = number(of: handle) { held.insert(number) }
    }

    /// Frees what this side knows of a handle; what the TPM has stays.
    func close(_ handle: ESYS_TR) {
        if let number = number(of: handle) { held.remove(number) }
        var handle = handle
        _ = unsafe Esys_TR_Close(context, &handle)
    }

    /// Takes an object or session out of the TPM; what fails here is flushed at the next connect.
    func flush(_ handle: ESYS_TR) {
        guard !isLost else { return }
        if let number = number(of: handle) { held.remove(number) }
        commands += 1
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
            case .broken: throw unreachable(name, code)
            default: throw error
            }
        }
    }
}

/// Keeps tpm2-tss from writing to standard error; it reads this at its first message.
///
/// For the start of `main`; later it changes nothing where that was done.
package func keepLibraryQuiet() throws(SystemFault) {
    let name = "TSS2_LOG"
    let value = "all+none"
    guard environmentValue(name) != value else { return }
    try setEnvironmentValue(name, value)
}

/// What keeps a TPM from being reached, in words.
private func unreachable(_ name: TCTIName, _ code: ReturnCode) -> TPMFault {
    guard let path = name.path, let fault = reachabilityFault(of: path) else {
        return .unreachable("\(name) does not answer: \(code)")
    }
    return fault.isForbidden
        ? .notPermitted("\(name): \(fault)") : .unreachable("\(name): \(fault)")
}
