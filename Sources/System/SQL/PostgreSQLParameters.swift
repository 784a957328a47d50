// SPDX-License-Identifier: Apache-2.0
/// The values of a statement as libpq requires them, in one buffer.
struct PostgreSQLParameters {
    private var buffer: [UInt8] = []
    /// The place at which each value begins in the buffer; -1 for null.
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Encodes the values: integers as text, so that columns may have any width, the others as
    /// binary.
    ///
    /// - Throws: `.broken` for a text with a NUL, for more than 65,535 values, or for a value of
    ///   more than 2 GiB.
    init(_ values: [Value]) throws(DatabaseFault) {
        guard values.count <= 0xffff else { throw .broken("a statement has too many values") }
        buffer.reserveCapacity(values.count * 64)
        for value in values {
            offsets.append(buffer.count)
            formats.append(1)
            switch value {
            case .null: offsets[offsets.count - 1] = -1
            case .integer(let number):
                formats[formats.count - 1] = 0
                buffer.append(contentsOf: String(number).utf8)
            case .text(let text):
                guard !text.utf8.contains(0) else { throw .broken("a text contains a NUL") }
                buffer.append(contentsOf: text.utf8)
            case .bytes(let bytes):
                buffer.append(contentsOf: bytes)
            }
            let length = value == .null ? 0 : buffer.count - (offsets.last ?? 0)
            guard let length = Int32(exactly: length) else {
                throw .broken("a value of a statement is too long")
            }
            lengths.append(length)
            buffer.append(0)
        }
    }

    /// Passes the arrays to libpq: count, values, lengths, and formats (1 means binary).
    func withPointers<Result>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        unsafe buffer.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            let pointers = unsafe offsets.map { offset in
                unsafe offset < 0 ? nil : start.map { unsafe UnsafePointer($0 + offset) }
            }
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(
                            Int32(offsets.count), pointers.baseAddress, lengths.baseAddress,
                            formats.baseAddress)
                    }
                }
            }
        }
    }
}
