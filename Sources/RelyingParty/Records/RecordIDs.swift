// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// Ids and challenges as columns: bytes, of exactly the length of their type.
extension Value {
    /// A column with an id or a challenge.
    static func id(_ id: some FixedBytes) -> Value { .bytes(id.bytes) }

    /// A column with an id, or null.
    static func id(ifPresent id: (some FixedBytes)?) -> Value {
        id.map { .bytes($0.bytes) } ?? .null
    }
}

extension Row {
    /// A column with an id or a challenge; throws `.broken` if it is absent, null or of another
    /// length.
    func id<ID: FixedBytes>(_ column: Int) throws(DatabaseFault) -> ID {
        guard let id = ID(try bytes(column)) else {
            throw .broken("column \(column) of an answer has no \(ID.count) bytes")
        }
        return id
    }

    /// A column with an id, or nil for null.
    func optionalID<ID: FixedBytes>(_ column: Int) throws(DatabaseFault) -> ID? {
        guard let bytes = try optionalBytes(column) else { return nil }
        guard let id = ID(bytes) else {
            throw .broken("column \(column) of an answer has no \(ID.count) bytes")
        }
        return id
    }
}
