// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The test vectors of one file in Tests/Fixtures/wycheproof.
package struct WycheproofVectors: Sendable {
    /// The vectors of one kind and size, with what they have in common.
    package struct Group: Decodable, Sendable {
        /// The length of keys in bits.
        package let keySize: Int?
        /// The length of nonces in bits.
        package let ivSize: Int?
        /// The length of tags in bits.
        package let tagSize: Int?
        /// The public key of an elliptic curve.
        package let publicKey: PublicKey?
        /// The vectors.
        package let tests: [Vector]
        /// The key of signed tokens; the public one alone where there are two.
        package var webKey: WebKey? { `public` ?? `private` }

        private let `public`: WebKey?
        private let `private`: WebKey?
    }

    /// A point on a curve.
    package struct PublicKey: Decodable, Sendable {
        /// 04, x and y.
        package let uncompressed: String
    }

    /// A JSON Web Key, as far as keys on P-256 have it.
    package struct WebKey: Decodable, Sendable {
        package let kty: String
        package let crv: String?
        package let x: String?
        package let y: String?
    }

    /// One vector; which members there are depends on the file.
    package struct Vector: Decodable, Sendable {
        package let tcId: Int
        package let comment: String
        package let result: String
        private let values: [String: String]

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            tcId = try container.decode(Int.self, forKey: Key("tcId"))
            comment = try container.decode(String.self, forKey: Key("comment"))
            result = try container.decode(String.self, forKey: Key("result"))
            var values: [String: String] = [:]
            for key in container.allKeys {
                if let text = try? container.decode(String.self, forKey: key) {
                    values[key.stringValue] = text
                } else if let number = try? container.decode(Int.self, forKey: key) {
                    values[key.stringValue] = String(number)
                }
            }
            self.values = values
        }

        /// Whether a correct implementation accepts it.
        package var isValid: Bool { result == "valid" }

        /// A member as text or number; empty if there is none.
        package subscript(_ name: String) -> String { values[name] ?? "" }

        /// A member in hexadecimal digits, as bytes.
        package func bytes(_ name: String) -> [UInt8] { WycheproofVectors.bytes(self[name]) }
    }

    /// The groups of the file.
    package let groups: [Group]

    /// Reads a file; `name` is without `.json`. Throws if it is not complete.
    package init(_ name: String) throws {
        struct File: Decodable {
            let numberOfTests: Int
            let testGroups: [Group]
        }
        let path = "\(Layout.package)/Tests/Fixtures/wycheproof/\(name).json"
        let file = try JSONDecoder().decode(File.self, from: Data(Layout.read(path)))
        let count = file.testGroups.map(\.tests.count).reduce(0, +)
        guard count == file.numberOfTests, count > 0 else {
            throw TestFault.closed(awaited: "\(file.numberOfTests) vectors", transcript: path)
        }
        groups = file.testGroups
    }

    /// The bytes of hexadecimal digits.
    package static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] * 16 + digits[$0 + 1])
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
