// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import Domain
import LoginProtocol
import SignedFormats

/// What OpenSSH passes to the provider, copied and bounded.
enum ProviderCaller {
    /// The longest text that is taken from OpenSSH, in bytes.
    private static let longestText = 1_024

    /// The name of the user who runs the program; getpwuid_r(3).
    static func account() throws(ProviderFault) -> AccountName {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16_384)
        let code = unsafe texts.withUnsafeMutableBufferPointer { texts in
            unsafe texts.baseAddress.map {
                unsafe getpwuid_r(geteuid(), &record, $0, texts.count, &found)
            }
        }
        // The record's texts are in `texts`, which lives until the name is copied.
        guard code == 0, unsafe found != nil, let name = unsafe record.pw_name else {
            throw .noAccount
        }
        let bytes = unsafe text(name)
        guard let bytes else { throw .noAccount }
        withExtendedLifetime(texts) {}
        return AccountName(bytes)
    }

    /// Copies a text that ends with NUL; nil if it is longer than 1,024 bytes.
    static func text(_ start: UnsafePointer<CChar>?) -> Bytes? {
        guard let start = unsafe start else { return nil }
        let length = unsafe strnlen(start, longestText + 1)
        guard length <= longestText else { return nil }
        var bytes: Bytes = []
        bytes.reserveCapacity(length)
        for index in 0..<length { bytes.append(UInt8(bitPattern: unsafe start[index])) }
        return bytes
    }

    /// Copies bytes; nil for a null pointer or more than `cap` bytes.
    static func bytes(_ start: UnsafePointer<UInt8>?, count: Int, cap: Int) -> Bytes? {
        guard let start = unsafe start, (0...cap).contains(count) else { return nil }
        var bytes: Bytes = []
        bytes.reserveCapacity(count)
        for index in 0..<count { bytes.append(unsafe start[index]) }
        return bytes
    }

    /// The name in the option `user`; nil without it.
    ///
    /// Throws `.unsupported` for another option that is required.
    static func name(
        in options: UnsafeMutablePointer<UnsafeMutablePointer<sk_option>?>?
    ) throws(ProviderFault) -> SSHKeyName? {
        guard let options = unsafe options else { return nil }
        var name: SSHKeyName?
        var index = 0
        while index < 16, let option = unsafe options[index] {
            index += 1
            guard let word = unsafe text(option.pointee.name) else { throw .badCall }
            if StaticString("user").isSpelled(by: word[...]) {
                guard let typed = unsafe text(option.pointee.value),
                    let chosen = SSHKeyName(typed)
                else { throw .badName }
                name = chosen
            } else if unsafe option.pointee.required != 0 {
                throw .unsupported
            }
        }
        return name
    }
}
