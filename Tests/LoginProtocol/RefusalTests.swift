// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import LoginProtocol
import TestSupport
import Testing

@Suite("Frames that are refused")
struct RefusalTests {
    @Test("a frame that is cut short, at every length")
    func truncated() {
        for (frame, isRequest) in sampleFrames {
            for length in 0..<frame.count {
                let cut = Bytes(frame.prefix(length))
                // Without its last optional fields a frame may be another well-formed one.
                guard let fault = fault(cut, isRequest: isRequest) else {
                    #expect(fields(of: cut).reduce(2) { $0 + $1.count } == length)
                    continue
                }
                #expect(length >= Frame.headerLength || fault == .truncated)
            }
        }
    }

    @Test("a byte or a field after the end")
    func trailing() {
        for (frame, isRequest) in sampleFrames {
            #expect(!accepts(frame + [0], isRequest: isRequest))
            #expect(!accepts(frame + [255], isRequest: isRequest))
            #expect(!accepts(frame + field(200, [1]), isRequest: isRequest))
        }
    }

    @Test("each field given twice")
    func repeated() {
        for (frame, isRequest) in sampleFrames {
            let parts = fields(of: frame)
            for index in parts.indices {
                let twice = parts[...index] + parts[index...]
                #expect(!accepts(assembled(frame, twice), isRequest: isRequest))
            }
        }
    }

    @Test("two fields in the wrong order")
    func outOfOrder() {
        for (frame, isRequest) in sampleFrames {
            var parts = fields(of: frame)
            for index in parts.indices.dropLast() {
                parts.swapAt(index, index + 1)
                #expect(!accepts(assembled(frame, parts), isRequest: isRequest))
                parts.swapAt(index, index + 1)
            }
        }
    }

    @Test("a tag that the frame does not have, before, between and after its fields")
    func unknownTag() {
        for (frame, isRequest) in sampleFrames {
            let parts = fields(of: frame)
            for tag in [0, 17, 31, 56, 255] as [UInt8] {
                for index in 0...parts.count {
                    var more = parts
                    more.insert(field(tag, [1]), at: index)
                    #expect(!accepts(assembled(frame, more), isRequest: isRequest))
                }
            }
        }
    }

    @Test("another version", arguments: [0, 2, 255] as [UInt8])
    func version(_ version: UInt8) {
        for (frame, isRequest) in sampleFrames {
            #expect(fault([version] + frame.dropFirst(), isRequest: isRequest) == .version)
        }
    }

    @Test("a kind that is unknown, or belongs to the other direction")
    func kinds() {
        for kind in UInt8.min...UInt8.max {
            if Verb(rawValue: kind) == nil {
                #expect(fault([1, kind], isRequest: true) == .unknownKind)
            }
            if AnswerKind(rawValue: kind) == nil {
                #expect(fault([1, kind], isRequest: false) == .unknownKind)
            }
        }
    }

    @Test("a packet over the cap, whatever it holds")
    func overCap() {
        let packet = [1, 13] + Bytes(repeating: 0, count: Frame.maximumLength - 1)
        #expect(fault(packet, isRequest: true) == .tooLong)
        #expect(fault(packet, isRequest: false) == .tooLong)
    }

    @Test("a field one byte shorter or longer than it may be")
    func sizes() throws {
        for known in Field.allFields {
            for size in [known.size.lowerBound - 1, known.size.upperBound + 1] where size >= 0 {
                let value = Bytes(repeating: 7, count: size)
                var reader = try FrameReader([1, 1] + field(known.rawValue, value))
                #expect(throws: WireFault.malformedValue) { try reader.bytes(known) }
                var writer = FrameWriter(kind: 1)
                #expect(throws: WireFault.tooLong) { try writer.put(known, value) }
            }
        }
    }

    @Test("a choice that is out of range, in every field that is a choice")
    func choices() {
        let choices: [Field: ClosedRange<UInt8>] = [
            .finger: 1...10, .reason: 1...50, .cause: 1...10, .notice: 1...14, .scan: 1...2,
            .retry: 1...7, .state: 1...4, .lock: 1...3, .keyringState: 1...5,
            .printState: 1...5,
            .verb: 1...(Verb.allCases.map(\.rawValue).max() ?? 0),
        ]
        for (frame, isRequest) in sampleFrames {
            let parts = fields(of: frame)
            for (index, part) in parts.enumerated() {
                guard let range = choices.first(where: { $0.key.rawValue == part[0] })?.value else {
                    continue
                }
                for wrong in [0, range.upperBound + 1, 255] as [UInt8] {
                    var more = parts
                    more[index][3] = wrong
                    let packet = assembled(frame, more)
                    #expect(fault(packet, isRequest: isRequest) == .malformedValue)
                }
            }
        }
    }

    @Test("a flag that is neither 0 nor 1")
    func flag() throws {
        var frame = try Answer.print(
            PrintAnswer(
                finger: nil, printID: .sample(0..<16), readerID: [], since: nil, intact: true)
        ).encoded()
        frame[frame.count - 1] = 2
        #expect(fault(frame, isRequest: false) == .malformedValue)
    }

    private static let aboutAccounts: [any AccountRequest.Type] = [
        EnableRequest.self, DisableRequest.self, UnlockRequest.self, StatusRequest.self,
        ListRequest.self, DeleteRequest.self,
    ]

    @Test("an account's name with a byte that passwd(5) cannot hold")
    func accountNames() {
        for byte in [0, 9, 10, 13, 0x1F, 0x2F, 0x3A, 0x7F] as [UInt8] {
            for name in [[byte], [0x61, byte], [byte, 0x61], [0x61, byte, 0x62]] {
                for request in Self.aboutAccounts {
                    let frame = [1, request.verb.rawValue] + field(1, name)
                    #expect(fault(frame, isRequest: true) == .malformedValue)
                    #expect(throws: WireFault.malformedValue) {
                        try Request.status(account: AccountName(name)).encoded()
                    }
                }
                let wanted = [1, CommonAnswerKind.passwordWanted.rawValue] + field(1, name)
                #expect(fault(wanted, isRequest: false) == .malformedValue)
            }
        }
        #expect(fault([1, StatusRequest.verb.rawValue] + field(1, []), isRequest: true) != nil)
    }

    @Test("a device's name that is none")
    func deviceNames() throws {
        let request = ServerEnableRequest(
            account: SampleFrames.account, server: "https://h", code: [0x30],
            deviceName: DeviceName([0x61]))
        let frame = try Request.serverEnable(request).encoded()
        let relayed = try RelayRequest.register(
            server: "https://h", code: [0x30], device: .sample(0..<16), name: DeviceName([0x61])
        ).encoded()
        for name in [[], [0x20], [0x0A], [0x1B], [0xE9], Bytes(repeating: 0x61, count: 65)] {
            let wrong = field(Field.deviceName.rawValue, name)
            #expect(fault(frame.dropLast(4) + wrong, isRequest: true) == .malformedValue)
            #expect(throws: WireFault.malformedValue) {
                try RelayRequest(decoding: relayed.dropLast(4) + wrong)
            }
        }
    }

    @Test("an authentication without a try")
    func noTries() throws {
        var frame = try LoginFrames.requests[0].encoded()
        frame[frame.count - 1] = 0
        #expect(fault(frame, isRequest: true) == .malformedValue)
    }

    @Test("a value that does not fit is not sent")
    func unsendable() {
        let long = Bytes(repeating: 0x61, count: Limit.account + 1)
        #expect(throws: WireFault.tooLong) {
            try Request.status(account: AccountName(long)).encoded()
        }
        #expect(throws: WireFault.tooLong) { try Request.status(account: .none).encoded() }
        #expect(throws: WireFault.tooLong) {
            try Request.password(Bytes(repeating: 1, count: Limit.password + 1)).encoded()
        }
        #expect(throws: WireFault.tooLong) {
            try Answer.chainHead(counter: 1, digest: []).encoded()
        }
    }

    @Test("a writer refuses a field out of order, twice, or beyond a full frame")
    func writer() throws {
        var writer = FrameWriter(kind: 1)
        try writer.put(.service, [1])
        #expect(throws: WireFault.unexpectedField) { try writer.put(.service, [1]) }
        #expect(throws: WireFault.unexpectedField) { try writer.put(.account, [1]) }
        #expect(writer.bytes == [1, 1, 3, 0, 1, 1])
    }

    @Test("a number of another width than its field")
    func width() throws {
        var reader = try FrameReader([1, 1] + field(Field.count.rawValue, [0, 0, 0, 1]))
        #expect(throws: WireFault.malformedValue) { try reader.number(.count, as: UInt64.self) }
    }
}
