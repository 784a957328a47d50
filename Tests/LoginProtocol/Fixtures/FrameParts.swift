// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FrameSamples
import LoginProtocol

/// A field as raw bytes, well formed or not.
func field(_ tag: UInt8, _ value: Bytes) -> Bytes {
    [tag, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
}

/// The fields of a well-formed frame, header left out.
func fields(of frame: Bytes) -> [Bytes] {
    var parts: [Bytes] = []
    var rest = frame.dropFirst(Frame.headerLength)
    while rest.count >= Frame.fieldHeaderLength {
        let bytes = Bytes(rest)
        let length = Frame.fieldHeaderLength + Int(bytes[1]) << 8 + Int(bytes[2])
        parts.append(Bytes(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return parts
}

/// Whether a decoder accepts a frame; `isRequest` says which decoder.
func accepts(_ frame: Bytes, isRequest: Bool) -> Bool {
    fault(frame, isRequest: isRequest) == nil
}

/// Why a decoder refuses a frame, or nil.
func fault(_ frame: Bytes, isRequest: Bool) -> WireFault? {
    do throws(WireFault) {
        if isRequest { _ = try Request(decoding: frame) } else { _ = try Answer(decoding: frame) }
        return nil
    } catch {
        return error
    }
}

/// Every sample's frame, and which decoder it is for.
let sampleFrames: [(frame: Bytes, isRequest: Bool)] = {
    var frames: [(frame: Bytes, isRequest: Bool)] = []
    for request in SampleFrames.requests {
        if let frame = try? request.encoded() { frames.append((frame, true)) }
    }
    for answer in SampleFrames.answers {
        if let frame = try? answer.encoded() { frames.append((frame, false)) }
    }
    return frames
}()

/// A frame of the same header with other fields.
func assembled(_ header: Bytes, _ parts: some Sequence<Bytes>) -> Bytes {
    Bytes(header.prefix(Frame.headerLength)) + parts.flatMap { $0 }
}

extension SampleFrames {
    /// What a TPM states of a key, each part with another content.
    static func keyAttestation(quoted: Bool) -> RelayKeyAttestation {
        RelayKeyAttestation(
            secret: [1], area: [2, 2], registers: [3, 3, 3], registerDigest: [],
            certification: RelayTPMStatement(statement: [4], signature: [5]),
            quote: quoted
                ? RelayKeyAttestation.Quote(
                    signed: RelayTPMStatement(statement: [6], signature: [7]),
                    log: Bytes(repeating: 8, count: 6_144))
                : nil)
    }
}
