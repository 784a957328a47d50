// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import LoginProtocol
import Testing

@Suite("Frames are read as they were sent")
struct RoundTripTests {
    @Test("every request", arguments: SampleFrames.requests)
    func request(_ request: Request) throws {
        let frame = try request.encoded()
        #expect(try Request(decoding: frame) == request)
        #expect(try Request(decoding: frame).encoded() == frame)
    }

    @Test("every answer", arguments: SampleFrames.answers)
    func answer(_ answer: Answer) throws {
        let frame = try answer.encoded()
        #expect(try Answer(decoding: frame) == answer)
        #expect(try Answer(decoding: frame).encoded() == frame)
    }

    @Test("the samples leave out no kind and no optional form")
    func samplesAreComplete() {
        #expect(Set(SampleFrames.requests.map(\.verb)) == Set(Verb.allCases))
        #expect(Set(SampleFrames.answers.map(\.kind)) == Set(AnswerKind.allCases))
        #expect(sampleFrames.count == SampleFrames.requests.count + SampleFrames.answers.count)
    }

    @Test("a request names its account, or none")
    func accounts() {
        for expected in SampleFrames.expectations {
            for request in SampleFrames.requests where request.type == expected.type {
                #expect((request.account != nil) == expected.isAboutAccount, "\(request.verb)")
            }
        }
    }

    @Test("a frame's layout is version, kind, then tag, length, value")
    func layout() throws {
        let frame = try Request.verify(
            account: AccountName([0x61, 0x62]), timeoutMilliseconds: 0x0102_0304
        )
        .encoded()
        #expect(frame == [1, 2, 1, 0, 2, 0x61, 0x62, 8, 0, 4, 1, 2, 3, 4])
    }

    @Test("numbers keep every bit in each width")
    func numbers() throws {
        var writer = FrameWriter(kind: 1)
        try writer.put(.finger, number: UInt8.max)
        try writer.put(.count, number: UInt32(0x0102_0304))
        try writer.put(.counter, number: UInt64(0x0102_0304_0506_0708))
        var reader = try FrameReader(writer.bytes)
        #expect(try reader.number(.finger, as: UInt8.self) == 255)
        #expect(try reader.number(.count, as: UInt32.self) == 0x0102_0304)
        #expect(try reader.number(.counter, as: UInt64.self) == 0x0102_0304_0506_0708)
        try reader.end()
    }

    @Test("every field has a tag and a name of its own")
    func fields() {
        #expect(Set(Field.allFields.map(\.rawValue)).count == Field.allFields.count)
        #expect(Set(Field.allNamed.map(\.name)).count == Field.allFields.count)
    }

    @Test("every field's size admits a value that fits a frame")
    func sizes() throws {
        for field in Field.allFields {
            for size in [field.size.lowerBound, field.size.upperBound] {
                var writer = FrameWriter(kind: 1)
                try writer.put(field, Bytes(repeating: 7, count: size))
                var reader = try FrameReader(writer.bytes)
                #expect(try reader.bytes(field).count == size)
            }
        }
    }

    @Test("raw values on the wire do not collide")
    func distinctKinds() {
        let verbs = Set(Verb.allCases.map(\.rawValue))
        #expect(verbs.isDisjoint(with: AnswerKind.allCases.map(\.rawValue)))
        #expect(Set(Finger.allCases.map { "\($0.name)" }).count == 10)
    }
}
