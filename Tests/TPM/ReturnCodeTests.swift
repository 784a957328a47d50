// SPDX-License-Identifier: Apache-2.0
import TPM
import Testing

@Suite("a TPM's return code")
struct ReturnCodeTests {
    @Test("has one meaning, whichever layer hands it on")
    func meanings() {
        let meanings: [(UInt32, ReturnCode.Meaning)] = [
            (0x9a2, .wrongAuthorisation), (0x98e, .wrongAuthorisation), (0x12f, .forbidden),
            (0x085, .forbidden), (0x99d, .policyFailed), (0x9a4, .policyFailed),
            (0x1df, .notIntact), (0x2e5, .notIntact), (0x1c4, .wrongValue), (0x921, .lockout),
            (0x902, .outOfSlots), (0x903, .outOfSlots), (0x905, .outOfSlots),
            (0x14b, .outOfStorage), (0x128, .registersChanged), (0x18b, .absent),
            (0x910, .absent), (0x918, .absent), (0x901, .absent), (0x100, .notStarted),
            (0x101, .other), (0x143, .other), (0x1d5, .other), (0x917, .other), (0x91f, .other),
        ]
        for (code, meaning) in meanings {
            #expect(ReturnCode(code).meaning == meaning, "\(ReturnCode(code))")
            // A resource manager's layers: the TPM's code, and its own in the TPM's words.
            for layer: UInt32 in [11 << 16, 12 << 16] {
                #expect(ReturnCode(layer | code).meaning == meaning)
            }
            // Nobody else's number is read as the TPM's.
            for layer: UInt32 in [6 << 16, 7 << 16, 8 << 16, 9 << 16, 13 << 16] {
                #expect(ReturnCode(layer | code).meaning == .other)
            }
            #expect(ReturnCode(10 << 16 | code).meaning == .broken)
        }
        #expect(ReturnCode(0x7001b).meaning == .forged)
        #expect(ReturnCode(0x80011).meaning == .broken)
        #expect(ReturnCode(0xa000a).meaning == .broken)
    }

    @Test("is about a parameter only where the TPM says so")
    func parameters() {
        for code: UInt32 in [0x1df, 0x2e5, 0x1d5, 0xc01df] {
            #expect(ReturnCode(code).isAboutParameter)
        }
        for code: UInt32 in [0x9a2, 0x18b, 0x902, 0x101, 0x701df, 0xa01df] {
            #expect(!ReturnCode(code).isAboutParameter)
        }
    }

    @Test("is shown in words and as a number")
    func words() {
        #expect("\(ReturnCode(0x921))".hasSuffix("(0x921)"))
        #expect("\(ReturnCode(0x921))".contains("lockout"))
    }
}
