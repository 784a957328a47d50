// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@Suite("signet readers, of what readers store")
struct ReaderPrintsTests {
    private static let elan = Bytes("elanmoc:0".utf8)
    private static let synaptics = Bytes("synaptics:0".utf8)
    private static let alice: AccountName = "alice"
    private static let own = StoredPrintAnswer(account: alice, finger: .rightIndex, readerID: elan)
    private static let foreign = StoredPrintAnswer(
        account: nil, finger: nil, readerID: elan, subject: Bytes("FP1".utf8))

    private static func readers(_ ids: (Bytes, ReaderFeatures)...) -> [DaemonStep] {
        [.receive]
            + ids.map { id, features in
                .send(
                    .reader(
                        ReaderAnswer(
                            readerID: id, scan: .press, total: 5, name: id, driver: id,
                            features: features)))
            } + [.send(.done(DoneAnswer()))]
    }

    private static let listing = readers((elan, [.storage, .storageList]))

    private static func stored(_ prints: [StoredPrintAnswer], deleted: UInt8? = nil) -> [DaemonStep]
    {
        [.receive] + prints.map { .send(.of($0)) }
            + [.send(.done(DoneAnswer(prints: deleted)))]
    }

    @Test(
        "--prints names each print's account and finger, or says that it belongs to no account here"
    )
    func list() throws {
        let run = try signet(
            ["readers", "--prints"], [Self.stored([Self.own, Self.foreign]), Self.listing])
        #expect(run.code == .done)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].contains("elanmoc:0") && lines[1].contains("alice"))
        #expect(lines[1].contains("right-index") && !lines[2].contains("alice"))
        #expect(run.requests.first == .readerPrints(ReaderPrintsRequest(.list)))
        let json = try signet(
            ["readers", "--prints", "--json"],
            [Self.stored([Self.own, Self.foreign]), Self.listing]
        ).document("stored-prints")
        let prints = try #require(json["prints"] as? [[String: Any]])
        #expect(prints.map { $0["account"] as? String } == ["alice", nil])
    }

    @Test("says that a reader that does not list its prints can only delete all of them")
    func mute() throws {
        let both = Self.readers(
            (Self.elan, [.storage, .storageList]), (Self.synaptics, .storage),
            (Bytes("upekts:0".utf8), []))
        for option in ["--prints", "--delete-foreign"] {
            let run = try signet(["readers", option], [Self.stored([], deleted: 0), both])
            let note = "synaptics:0 does not report which fingerprints it stores"
            #expect(run.output.contains(note), "\(run.output)")
            let command = "signet readers --clear --force --reader synaptics:0"
            #expect(run.output.contains(command))
            #expect(run.output.components(separatedBy: "does not report").count == 2)
        }
        let one = try signet(
            ["readers", "--prints", "--reader", "elanmoc:0"],
            [Self.stored([Self.own]), both])
        #expect(!one.output.contains("does not report"))
    }

    @Test("--delete-foreign reports how many were deleted, --clear requires --force")
    func deletion() throws {
        let run = try signet(
            ["readers", "--delete-foreign"],
            [Self.stored([Self.foreign], deleted: 1), Self.listing]
        )
        #expect(run.output == "fingerprints deleted from readers: 1\n")
        #expect(run.requests.first == .readerPrints(ReaderPrintsRequest(.deleteForeign)))
        let unforced = try signet(["readers", "--clear"])
        #expect(unforced.code == .usage && unforced.errors.contains("add '--force' to confirm"))
        let cleared = try signet(
            ["readers", "--clear", "--force"], [Self.stored([Self.own], deleted: 1)])
        #expect(cleared.output == "fingerprints deleted from readers: 1\n")
        #expect(try signet(["readers", "--prints", "--clear", "--force"]).code == .usage)
    }

    @Test("users other than root are refused")
    func refused() throws {
        let run = try signet(
            ["readers", "--prints"], [answering(.denial(Denial(.notPermitted)))])
        #expect(run.code != .done && run.output == "")
    }
}
