// SPDX-License-Identifier: Apache-2.0
import Domain
import Sealing
import SignedFormats

@testable import State

/// What is kept on disk: which file in the first byte, then what is in it.
enum Records: Harness {
    static let name = "records"

    /// A line for each file. Further ones go to the end, for the inputs that were found before.
    private static let files: [KeptFile] = [
        .record(RecordSamples.accounts),
        .record(RecordSamples.counters),
        .record(RecordSamples.credentials),
        .record(RecordSamples.lockouts),
        .record(RecordSamples.prints),
        .record(RecordSamples.secrets),
        .record(RecordSamples.readerWork),
        .record(RecordSamples.owners),
        .record(RecordSamples.keyrings),
        .former(RecordSamples.accountsOfVersionOne, AccountFile.init(versionOne:)),
        .former(RecordSamples.credentialsOfVersionOne, CredentialRecord.init(versionOne:)),
        .version, .device, .names,
        .record(RecordSamples.templateKeys),
        .record(RecordSamples.keptVerdicts),
        .record(RecordSamples.serverKeys),
        .record(RecordSamples.macTokens),
    ]

    static var seeds: [[UInt8]] {
        files.enumerated().flatMap { number, file in
            file.seeds.map { seed in
                require(file.reads(seed), "a seed is not read")
                return [UInt8(number)] + seed
            }
        }
    }

    static func feed(_ bytes: [UInt8]) {
        guard let number = bytes.first, Int(number) < files.count else { return }
        _ = files[Int(number)].reads([UInt8](bytes.dropFirst()))
    }
}

/// A kind of file: good ones, and what holds of all that are read.
private struct KeptFile: Sendable {
    let seeds: [[UInt8]]
    /// Whether it is read.
    let reads: @Sendable ([UInt8]) -> Bool

    /// A record: what is read is just what would be written.
    static func record<Kept: Record>(_ samples: [Kept]) -> KeptFile {
        KeptFile(seeds: samples.map { $0.encoded() }) { contents in
            guard let record = try? Kept(contents: contents) else { return false }
            require(record.encoded() == contents, "a record has a second form")
            return true
        }
    }

    /// An earlier form of a record: what is read of it can be written in today's.
    static func former<Kept: Record & Equatable>(
        _ seeds: [[UInt8]], _ read: @escaping @Sendable ([UInt8]) throws -> Kept
    ) -> KeptFile {
        KeptFile(seeds: seeds) { contents in
            guard let record = try? read(contents) else { return false }
            let again = try? Kept(contents: record.encoded())
            require(again == record, "a record is another one after the upgrade")
            return true
        }
    }

    /// `version`.
    static let version = KeptFile(seeds: ["1", "2"].map { bytes("signet-state: \($0)\n") }) {
        guard let version = try? StateDirectory.version(in: $0, path: "") else { return false }
        require((1...StateDirectory.version).contains(version), "an unknown version")
        require(bytes("signet-state: \(version)\n") == $0, "a version has a second form")
        return true
    }

    /// `device-id`.
    static let device = KeptFile(seeds: [Hexadecimal.encode([UInt8](0..<16)) + [10]]) {
        guard let device = try? StateDirectory.device(in: $0, path: "") else { return false }
        require(device.bytes.count == 16, "an id of another length")
        require(device.hexadecimal + [10] == $0, "an id has a second form")
        return true
    }

    /// The names of files that stand for a uid or an id.
    static let names = KeptFile(seeds: [bytes("1000.next"), Hexadecimal.encode([UInt8](0..<16))]) {
        let name = String(decoding: $0, as: UTF8.self)
        let uid = AccountState.uid(ofNext: name)
        let identifier = ListedPrint.identifier(ofFile: name)
        let names = [uid.map(AccountState.nextName), identifier.map(ListedPrint.fileName)]
        require(names.allSatisfy { $0 ?? name == name }, "a file has a second name")
        return uid != nil || identifier != nil
    }
}
