// SPDX-License-Identifier: Apache-2.0
import CGLib
import FingerprintReader
import MainContext
import ReaderProtocol
import SignedFormats

/// A print as it may lie on disk or be imported; libfprint itself ends the process on most damage.
enum Templates: Harness {
    static let name = "templates"
    static var seeds: [[UInt8]] {
        [Minutiae.template(counts: [3, 5]), Minutiae.template(counts: [200]), raw, stored]
    }

    /// A print of the virtual reader `virtual_device`: the GVariant
    /// `(1, 'virtual_device', '0', false, byte 0x07, 'alice', nothing, 739000, {}, <<'finger'>>)`.
    private static var raw: [UInt8] {
        let variant = """
            010000007669727475616c5f6465766963650030000007616c69636500000000\
            b8460b000000000066696e6765720000730076281e1e1513
            """
        return bytes("FP3") + (Hexadecimal.decode(bytes(variant)) ?? [])
    }

    /// A print that the real fprintd made on `virtual_device_storage`, which keeps it itself.
    private static var stored: [UInt8] {
        let variant = """
            010000007669727475616c5f6465766963655f73746f7261676500300001076461\
            656d6f6e000000654a0b00000000006f6e6500007300763027271d1b
            """
        return bytes("FP3") + (Hexadecimal.decode(bytes(variant)) ?? [])
    }

    /// The reader's work is done on this thread, which has no loop.
    private static let isReadersThread = g_main_context_acquire(nil) != 0

    static func feed(_ bytes: [UInt8]) {
        require(isReadersThread, "another thread has the reader's context")
        guard Template.isWellFormed(bytes), let template = try? Template(bytes: bytes) else {
            return
        }
        let isReadable = ReaderActor.assumeIsolated { template.isReadable }
        require(isReadable, "a template in good form is unreadable, or says something else")
    }
}
