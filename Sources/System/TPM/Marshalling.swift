// SPDX-License-Identifier: Apache-2.0
import CTSS
import Posix

/// A C structure that `Tss2_MU_*` has unmarshalled from its wire form; wiped on deinitialisation.
// SAFETY: the memory is zeroed and filled in `init`, lent out while the object lives, freed once.
@safe final class Unmarshalled<Value> {
    private let storage: UnsafeMutablePointer<Value>

    /// A pointer to pass to a call, valid as long as this object exists.
    @unsafe var pointer: UnsafePointer<Value> { unsafe UnsafePointer(storage) }

    /// Creates a structure of zeros, which for most types is the empty value.
    init() {
        let size = MemoryLayout<Value>.size
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: size, alignment: MemoryLayout<Value>.alignment)
        unsafe raw.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        unsafe storage = raw.bindMemory(to: Value.self, capacity: 1)
    }

    /// Unmarshals all of `bytes` with one of the library's functions.
    ///
    /// Throws `.refused(.marshal, …)` if the function fails, and `.malformed` if bytes are left
    /// over.
    convenience init(
        _ bytes: [UInt8],
        _ unmarshal: (
            UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Value>?
        ) -> TSS2_RC
    ) throws(TPMFault) {
        self.init()
        var offset = 0
        let code = unsafe unmarshal(bytes, bytes.count, &offset, storage)
        guard code == TSS2_RC_SUCCESS else { throw .refused(.marshal, ReturnCode(code)) }
        guard offset == bytes.count else { throw .malformed(.marshal) }
    }

    deinit {
        unsafe overwrite(storage)
        unsafe UnsafeMutableRawPointer(storage).deallocate()
    }
}

/// A C structure that tpm2-tss allocated for an answer; wiped and freed on deinitialisation.
// SAFETY: the pointer is written once by the call that the object is made for, and freed once.
@safe final class TPMAllocation<Value> {
    private let storage: UnsafeMutablePointer<Value>

    /// Takes ownership of the pointer; nil if it is null.
    init?(_ pointer: UnsafeMutablePointer<Value>?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe storage = pointer
    }

    deinit {
        unsafe overwrite(storage)
        unsafe Esys_Free(storage)
    }

    /// Returns the wire form, marshalled with one of the library's functions.
    func bytes(
        _ marshal: (
            UnsafePointer<Value>?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
        ) -> TSS2_RC
    ) throws(TPMFault) -> [UInt8] {
        // The wire form has no padding, so it is never longer than the structure.
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<Value>.size + 8)
        var offset = 0
        let code = unsafe marshal(storage, &bytes, bytes.count, &offset)
        guard code == TSS2_RC_SUCCESS, offset <= bytes.count else {
            throw .refused(.marshal, ReturnCode(code))
        }
        bytes.removeLast(bytes.count - offset)
        return bytes
    }
}

private func overwrite<Value>(_ pointer: UnsafeMutablePointer<Value>) {
    let raw = unsafe UnsafeMutableRawBufferPointer(
        start: pointer, count: MemoryLayout<Value>.size)
    var span = unsafe raw.mutableBytes
    wipe(&span)
}
