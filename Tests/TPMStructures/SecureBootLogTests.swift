// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPMStructures
import TestSupport
import Testing

@Suite("logs of secure boot")
struct SecureBootLogTests {
    @Test("a firmware's log is reduced to one that has the same value and says the same")
    func reduced() throws {
        let log = try #require(SecureBootLog(firmware: FirmwareLog.secure.bytes))
        #expect(try log.replayed() == FirmwareLog.secure.value(of: 7))
        #expect(try log.saysSecureBoot())
        #expect(log.encoded.count < FirmwareLog.secure.bytes.count)
        #expect(SecureBootLog(log.encoded) == log)
    }

    @Test("a machine that was started without secure boot does not get it by later measurements")
    func later() throws {
        let off = FirmwareLog(secureBoot: 0)
        #expect(try SecureBootLog(firmware: off.bytes)?.saysSecureBoot() == false)
        var forged = off
        forged.measure(FirmwareLog.variable(secureBoot: 1), type: 0x8000_0001)
        forged.measure([0, 0, 0, 0], type: 4)
        #expect(try SecureBootLog(firmware: forged.bytes)?.saysSecureBoot() == false)
        // A debugger's announcement before the variable.
        var debugged = FirmwareLog.empty
        debugged.measure(Array("UEFI Debug Mode".utf8), type: 0x8000_0007)
        debugged.measure(FirmwareLog.variable(secureBoot: 1), type: 0x8000_0001)
        debugged.measure([0, 0, 0, 0], type: 4)
        #expect(try SecureBootLog(firmware: debugged.bytes)?.saysSecureBoot() == false)
        // A firmware that has not handed over.
        var early = FirmwareLog.empty
        early.measure(FirmwareLog.variable(secureBoot: 1), type: 0x8000_0001)
        #expect(try SecureBootLog(firmware: early.bytes)?.saysSecureBoot() == false)
        #expect(try SecureBootLog(firmware: FirmwareLog.empty.bytes)?.saysSecureBoot() == false)
    }

    @Test("a log that is cut within an event is refused, in both forms")
    func truncated() throws {
        let log = try #require(SecureBootLog(firmware: FirmwareLog.secure.bytes))
        let whole = log.encoded
        var accepted = 0
        for count in 0..<whole.count where SecureBootLog(Array(whole.prefix(count))) != nil {
            accepted += 1
        }
        // Only between events: five of them, of which the last is whole.
        #expect(accepted == 5)
        #expect(SecureBootLog(whole + [0]) == nil)
        #expect(SecureBootLog([UInt8](repeating: 0, count: SecureBootLog.limit + 1)) == nil)
        let firmware = FirmwareLog.secure.bytes
        for count in 0..<firmware.count {
            guard let part = SecureBootLog(firmware: Array(firmware.prefix(count))) else {
                continue
            }
            #expect(try part.replayed() != log.replayed())
        }
    }

    @Test("a log without SHA-256, or of other sizes than it announces, is refused")
    func otherForms() throws {
        #expect(SecureBootLog(firmware: FirmwareLog(secureBoot: 1, algorithm: 4).bytes) == nil)
        var bytes = FirmwareLog.secure.bytes
        bytes[28] ^= 1
        #expect(SecureBootLog(firmware: bytes) == nil)
        let encoded = try #require(SecureBootLog(firmware: FirmwareLog.secure.bytes)).encoded
        for offset in 0..<encoded.count {
            var altered = encoded
            altered[offset] ^= 0x80
            guard let log = SecureBootLog(altered) else { continue }
            let isSame = try log.replayed() == FirmwareLog.secure.value(of: 7)
            let isOn = try log.saysSecureBoot()
            // Types are in no digest, and decide nothing.
            #expect(!isSame || isOn)
        }
    }
}
