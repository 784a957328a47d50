// SPDX-License-Identifier: Apache-2.0
/// Formats a log message of the library without its strings, which may come from a client.
///
/// The result has the format's own text and the integers before the first string. `…` replaces each
/// string, each number after one, and any other conversion.
///
/// - Parameters:
///   - form: The printf format of the message.
///   - text: The message that the library made from the format.
func loggable(form: String, text: String) -> String {
    var form = Array(form.utf8)[...]
    var rest = Array(text.utf8)[...]
    var shown: [UInt8] = []
    var isFollowed = true
    while let byte = form.popFirst() {
        guard byte == UInt8(ascii: "%"), let conversion = conversion(&form) else {
            shown.append(byte)
            isFollowed = isFollowed && rest.popFirst() == byte
            continue
        }
        if conversion == UInt8(ascii: "%") {
            shown.append(conversion)
            isFollowed = isFollowed && rest.popFirst() == conversion
        } else if isFollowed, "diu".utf8.contains(conversion) {
            let number = rest.prefix { isDigit($0) || $0 == UInt8(ascii: "-") }
            shown += number
            rest = rest[number.endIndex...]
        } else {
            shown += "…".utf8
            isFollowed = false
        }
    }
    return String(decoding: shown, as: UTF8.self)
}

/// Consumes a conversion specification after `%` and returns its letter; nil if there is none.
private func conversion(_ form: inout ArraySlice<UInt8>) -> UInt8? {
    while let byte = form.popFirst() {
        if !"0123456789.-+ #*hljzt".utf8.contains(byte) { return byte }
    }
    return nil
}

private func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
}
