// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport
import Testing

extension ReaderTests {
    @Suite("templates")
    struct TemplateTests {
        /// Templates of a print with raw data and, by hand, of one with minutiae.
        private func samples() async throws -> [[UInt8]] {
            try await ReaderFixture.withReaders { readers in
                let plain = try await ReaderFixture.enrol(
                    as: "print", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                return [plain.bytes, Minutiae.template(counts: [3, 5])]
            }
        }

        /// Whether libfprint reads the bytes too, without which they would be useless.
        @ReaderActor
        private func isRead(_ bytes: [UInt8]) -> Bool {
            (try? Template(bytes: bytes))?.isReadable ?? false
        }

        @Test("an enrolled template can be read again, and is equal to the original")
        func roundTrip() async throws {
            for bytes in try await samples() {
                let template = try Template(bytes: bytes)
                #expect(template.bytes == bytes)
                #expect(await isRead(bytes))
            }
        }

        @Test("a template that is cut anywhere is refused")
        func truncated() async throws {
            for bytes in try await samples() {
                for length in 0..<bytes.count {
                    #expect(!Template.isWellFormed(Array(bytes.prefix(length))))
                }
            }
        }

        @Test("a template with something behind it is refused")
        func trailing() async throws {
            for bytes in try await samples() {
                #expect(!Template.isWellFormed(bytes + [0]))
                #expect(!Template.isWellFormed(bytes + bytes))
            }
        }

        @Test("no single flipped bit ends the process")
        func flipped() async throws {
            for bytes in try await samples() {
                for position in bytes.indices {
                    for bit in 0..<8 {
                        var altered = bytes
                        altered[position] ^= 1 << bit
                        if Template.isWellFormed(altered) { #expect(await isRead(altered)) }
                    }
                }
            }
        }

        @Test("no random damage ends the process")
        func damaged() async throws {
            var random = Seeded(seed: 1)
            for bytes in try await samples() {
                for _ in 0..<5000 {
                    var altered = bytes
                    for _ in 0...Int.random(in: 0..<6, using: &random) {
                        let position = Int.random(in: altered.indices, using: &random)
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0: altered[position] = UInt8.random(in: 0...255, using: &random)
                        case 1: altered.remove(at: position)
                        case 2: altered.insert(0, at: position)
                        default: altered.swapAt(position, altered.count - 1)
                        }
                    }
                    if Template.isWellFormed(altered) { #expect(await isRead(altered)) }
                }
            }
        }

        @Test("minutiae of unequal or excessive number are refused")
        func minutiae() {
            #expect(Template.isWellFormed(Minutiae.template(counts: [200])))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [201])))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [])))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [4], angles: 3)))
        }

        @Test("a template is used on the readers that it was made for, and on no other kind")
        func usable() async throws {
            let plain = try Template(bytes: try await samples()[0])
            let image = try Template(bytes: Minutiae.template(counts: [3, 5]))
            try await ReaderFixture.withReaders { readers in
                #expect((try? await readers.canUse(plain, on: ReaderFixture.plainID)) == true)
                #expect((try? await readers.canUse(image, on: ReaderFixture.imageID)) == true)
                for (template, reader) in [
                    (plain, ReaderFixture.storageID), (plain, ReaderFixture.imageID),
                    (image, ReaderFixture.plainID),
                ] {
                    let isUsable = try? await readers.canUse(template, on: reader)
                    #expect(isUsable == false, "\(reader)")
                }
                await #expect(throws: ReaderFault.noReader) {
                    try await readers.canUse(plain, on: "nowhere:0")
                }
            }
        }

        @Test("a template of an unknown kind, finger or date is refused")
        func fields() {
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], kind: 0)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], kind: 1)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], kind: 3)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], finger: 0)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], finger: 11)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], day: 0)))
            #expect(!Template.isWellFormed(Minutiae.template(counts: [3], day: Int32.min)))
        }
    }
}
