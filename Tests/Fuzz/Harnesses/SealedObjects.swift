// SPDX-License-Identifier: Apache-2.0
import TPMStructures

@testable import Sealing
@testable import TPM

/// What the TPM vault keeps on disk, as a key and as data.
enum SealedObjects: Harness {
    static let name = "sealed-objects"

    static var seeds: [[UInt8]] {
        let digest = [UInt8](repeating: 7, count: 32)
        let bound = RegisterSelection([0, 7]).flatMap {
            ObjectPolicy(registers: $0, registerDigest: digest)
        }
        let policies = [ObjectPolicy(registers: .none, registerDigest: []), bound]
        return policies.flatMap { policy in
            [seed(.key, policy), seed(.data, policy)].compactMap { $0 }
        }
    }

    static func feed(_ bytes: [UInt8]) {
        for content in [TPMSealed.Content.key, .data] {
            guard let sealed = try? TPMSealed(bytes, as: content) else { continue }
            require((try? sealed.bytes()) == bytes, "a sealed object has a second form")
            let point = (try? sealed.publicPoint()) ?? nil
            require((point?.count == 65) == (content == .key), "a key without a public half")
        }
    }

    private static func seed(_ content: TPMSealed.Content, _ policy: ObjectPolicy?) -> [UInt8]? {
        guard let policy, let digest = try? policy.digest(),
            let number = sized([UInt8](repeating: 9, count: 32))
        else { return nil }
        let area =
            switch content {
            case .key: Array(PublicArea.signer(policy: digest).bytes.dropLast(4)) + number + number
            case .data: Array(PublicArea.data(policy: digest).bytes.dropLast(2)) + number
            }
        let parts = ObjectParts(area: PublicArea(bytes: area), sealed: [1, 2, 3])
        let root = [UInt8](repeating: 5, count: PublicArea.nameCount)
        return try? TPMSealed(content: content, root: root, policy: policy, parts: parts).bytes()
    }
}

/// What a TPM, or an attacker between, says of its storage root key and its registers.
enum PublicAreas: Harness {
    static let name = "public-areas"

    static var seeds: [[UInt8]] {
        let point = sized([UInt8](repeating: 9, count: 32)) ?? []
        let areas = [Array(PublicArea.root.bytes.dropLast(4)) + point + point]
        let selections = [[], [0, 7, 23]].compactMap { RegisterSelection($0)?.wire }
        return areas + selections
    }

    static func feed(_ bytes: [UInt8]) {
        if PublicArea(bytes: bytes).unfitness == nil {
            require(bytes.count <= PublicArea.limit, "a root key of any length")
        }
        guard let selection = RegisterSelection(wire: bytes) else { return }
        require(RegisterSelection(wire: selection.wire) == selection, "registers were lost")
    }
}

/// The name of a TPM's transport, as an administrator may write it.
enum Transports: Harness {
    static let name = "transports"

    static var seeds: [[UInt8]] {
        [
            "auto", "device:/dev/tpmrm0", "swtpm:path=/run/tpm", "swtpm:host=localhost,port=2321",
            "tabrmd:bus_name=a.b,bus_type=system", "cmd:sh",
        ].map { bytes($0) }
    }

    static func feed(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let name = try? TCTIName.parse(text) else { return }
        require(text == "auto" || name.description == text, "a name was read as another")
    }
}
