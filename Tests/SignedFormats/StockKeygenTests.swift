// SPDX-License-Identifier: Apache-2.0
import Foundation
import SignedFormats
import Testing

/// A private directory with a P-256 key of ssh-keygen's, gone when its owner goes.
private final class Keygen {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("signet-keygen-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        try run(["-q", "-t", "ecdsa", "-b", "256", "-N", "", "-C", "a comment", "-f", "key"])
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ssh-keygen")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    func contents(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: directory.appendingPathComponent(name)))
    }

    func sign(_ message: [UInt8], options: [String]) throws -> [UInt8] {
        try Data(message).write(to: directory.appendingPathComponent("message"))
        try? FileManager.default.removeItem(at: directory.appendingPathComponent("message.sig"))
        try run(["-Y", "sign", "-f", "key"] + options + ["message"])
        return try contents("message.sig")
    }
}

@Suite("What stock ssh-keygen writes")
struct StockKeygenTests {
    private let options = ["-n", "login@signet", "-O", "hashalg=sha256"]

    @Test("its public key's line is ours, byte for byte")
    func publicKey() throws {
        let line = try Keygen().contents("key.pub")
        let (key, comment) = try SSHPublicKey.parse(line: line)
        #expect(comment == [UInt8]("a comment".utf8))
        #expect(key.line(comment: comment) == line)
    }

    @Test("its signatures are ours, byte for byte")
    func signature() throws {
        let keygen = try Keygen()
        let key = try SSHPublicKey.parse(line: keygen.contents("key.pub")).key
        // Several, because the numbers' leading zeros differ from one to the next.
        for _ in 0..<8 {
            let text = try keygen.sign(sampleStatement.encoded(), options: options)
            let blob = try #require(Armour.unwrap(text))
            let signature = try SSHSignature(blob: blob)
            #expect(signature.publicKey == key)
            #expect(signature.namespace == SignatureNamespace.login.bytes)
            #expect(signature.blob == blob)
            #expect(Armour.wrap(signature.blob) == text)
            let receipt = sampleStatement.encoded() + text
            #expect(Receipt.split(receipt)?.signature == blob)
        }
    }

    @Test("a signature over another hash is refused")
    func otherHash() throws {
        let text = try Keygen().sign([1], options: ["-n", "x", "-O", "hashalg=sha512"])
        let blob = try #require(Armour.unwrap(text))
        #expect(throws: SSHFault.unsupported) { try SSHSignature(blob: blob) }
    }

    @Test("a signature in another namespace says so")
    func otherNamespace() throws {
        let text = try Keygen().sign([1], options: ["-n", "file", "-O", "hashalg=sha256"])
        let blob = try #require(Armour.unwrap(text))
        #expect(try SSHSignature(blob: blob).namespace == [UInt8]("file".utf8))
    }
}
