// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd

/// The state of the iteration over the library's headers.
@unsafe private struct Collected {
    var headers: [(name: String, value: String)] = []
    var isClean = true
    var seams: HeadSeams
}

/// Returns all headers of a request in the order sent, with names in lower case.
///
/// - Parameter seams: The check of the head, which must have taken the request line.
/// - Throws: `.malformed` for a name that is not a token, for a value that is not UTF-8 or contains
///   control characters, or for hidden bytes (`HeadSeams`).
func receivedHeaders(
    _ connection: OpaquePointer, behind seams: HeadSeams
) throws(RequestHead.Refusal) -> [(name: String, value: String)] {
    var collected = unsafe Collected(seams: seams)
    unsafe collected.headers.reserveCapacity(12)
    unsafe withUnsafeMutablePointer(to: &collected) { pointer in
        _ = unsafe MHD_get_connection_values_n(
            connection, .HEADER_KIND,
            { context, _, name, nameCount, value, valueCount in
                guard let into = unsafe context?.assumingMemoryBound(to: Collected.self) else {
                    return .NO
                }
                let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeBufferPointer(
                    start: value, count: value == nil ? 0 : valueCount)
                guard unsafe into.pointee.seams.take(name, value),
                    let header = unsafe checkedHeader(name, value)
                else {
                    unsafe into.pointee.isClean = false
                    return .NO
                }
                unsafe into.pointee.headers.append(header)
                return .YES
            }, pointer)
    }
    guard unsafe collected.isClean, unsafe collected.seams.isWhole else { throw .malformed }
    return unsafe collected.headers
}

private func checkedHeader(
    _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
) -> (name: String, value: String)? {
    let nameBytes = UnsafeRawBufferPointer(name)
    let valueBytes = UnsafeRawBufferPointer(value)
    guard unsafe isToken(nameBytes), unsafe isHeaderValue(valueBytes),
        let value = unsafe text(valueBytes)
    else { return nil }
    let name = unsafe String(unsafeUninitializedCapacity: nameBytes.count) { target in
        for index in nameBytes.indices {
            let byte = unsafe nameBytes[index]
            let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            unsafe target[index] = isUpper ? byte | 0x20 : byte
        }
        return nameBytes.count
    }
    return (name, value)
}

/// Decodes UTF-8; nil if it is invalid.
///
/// Nearly all text is ASCII, which needs no validation.
private func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    let isPlain = unsafe bytes.allSatisfy { $0 < 0x80 }
    return unsafe isPlain
        ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
}

/// Queues a response in the library; returns false if the response is not valid.
///
/// Status codes outside 200 to 599 are not valid, nor are header values with control characters,
/// which could start another header, nor headers that the library sets itself.
func queue(_ response: HTTPResponse, closing: Bool, on connection: OpaquePointer) -> Bool {
    guard 200...599 ~= response.status, response.headers.allSatisfy(isFit) else { return false }
    let isBodiless = response.status == 204 || response.status == 304
    // The library copies the bytes and does not write to them.
    let made = unsafe response.body.withUnsafeBytes { bytes in
        let count = isBodiless ? 0 : bytes.count
        return unsafe MHD_create_response_from_buffer(
            count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return false }
    defer { unsafe MHD_destroy_response(made) }
    for header in response.headers {
        guard unsafe MHD_add_response_header(made, header.name, header.value) == .YES else {
            return false
        }
    }
    if closing { _ = unsafe MHD_add_response_header(made, "Connection", "close") }
    return unsafe MHD_queue_response(connection, UInt32(response.status), made) == .YES
}

/// Whether a header may be sent: it starts no other one, and is none that the server sets itself.
func isFit(_ header: (name: String, value: String)) -> Bool {
    guard isToken(header.name.utf8), isHeaderValue(header.value.utf8) else { return false }
    switch header.name.utf8.count {
    case 4: return header.name.lowercased() != "date"
    case 6: return header.name.lowercased() != "server"
    case 10: return header.name.lowercased() != "connection"
    case 14: return header.name.lowercased() != "content-length"
    case 17: return header.name.lowercased() != "transfer-encoding"
    default: return true
    }
}
