// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Testing

@Suite("A part of a secret in its packet")
struct SecretPartTests {
    @Test("is found where the decoder finds it, in both directions and in no other frame")
    func found() throws {
        for (frame, isRequest) in sampleFrames {
            let kind = isRequest ? SecretPartFrame.Kind.kept : .released
            let other = isRequest ? SecretPartFrame.Kind.released : .kept
            #expect(try SecretPartFrame.range(other, in: frame) == nil)
            let part: Bytes?
            if isRequest {
                part = (try Request(decoding: frame).content as? SecretPartRequest)?.part
            } else if case .secretPart(let bytes) = try Answer(decoding: frame) {
                part = bytes
            } else {
                part = nil
            }
            #expect(try SecretPartFrame.range(kind, in: frame).map { Bytes(frame[$0]) } == part)
        }
    }

    @Test("is framed as the encoder does it")
    func framed() throws {
        for count in [0, 1, 255, 256, Limit.secretPart] {
            let part = Bytes(repeating: 5, count: count)
            #expect(
                SecretPartFrame.header(.kept, count: count) + part
                    == (try Request.secretPart(part).encoded()))
            #expect(
                SecretPartFrame.header(.released, count: count) + part
                    == (try Answer.secretPart(part).encoded()))
        }
    }

    @Test("is refused in a frame that is cut, lengthened, too long or has another field")
    func refused() throws {
        let frame = try Request.secretPart([1, 2, 3]).encoded()
        for length in Frame.headerLength..<frame.count {
            #expect(throws: WireFault.truncated) {
                try SecretPartFrame.range(.kept, in: Bytes(frame.prefix(length)))
            }
        }
        #expect(throws: WireFault.unexpectedField) {
            try SecretPartFrame.range(.kept, in: frame + [0])
        }
        var other = frame
        other[2] = Field.password.rawValue
        #expect(throws: WireFault.malformedValue) {
            try SecretPartFrame.range(.kept, in: other)
        }
        let long = SecretPartFrame.header(.kept, count: Limit.secretPart + 1)
        #expect(throws: WireFault.malformedValue) {
            try SecretPartFrame.range(
                .kept, in: long + Bytes(repeating: 0, count: Limit.secretPart + 1))
        }
        #expect(try SecretPartFrame.range(.kept, in: []) == nil)
        #expect(try SecretPartFrame.range(.kept, in: [2, 17, 18, 0, 0]) == nil)
    }

    @Test("is taken in its turn, with its one size, until the secret is whole")
    func progress() throws {
        for count in [0, UInt32(Limit.secret) + 1, .max] {
            #expect(SecretProgress(count: count) == nil)
        }
        for count in [1, Limit.secretPart, Limit.secretPart + 1, Limit.secret] {
            var progress = try #require(SecretProgress(count: UInt32(count)))
            while !progress.isWhole {
                let next = SecretPartFrame.count(ofNext: progress.left)
                let before = progress
                for wrong in [0, next - 1, next + 1, -1, Limit.secret + 1] {
                    let isTaken = progress.take(wrong)
                    #expect(!isTaken)
                }
                #expect(progress == before)
                let isTaken = progress.take(next)
                #expect(isTaken)
            }
            let (isEmptyTaken, isMoreTaken) = (progress.take(0), progress.take(1))
            #expect(!isEmptyTaken && !isMoreTaken)
        }
    }

    @Test("is full in all but the last of a secret")
    func counts() {
        #expect(SecretPartFrame.count(ofNext: 1) == 1)
        #expect(SecretPartFrame.count(ofNext: Limit.secretPart) == Limit.secretPart)
        #expect(SecretPartFrame.count(ofNext: Limit.secret) == Limit.secretPart)
    }
}
