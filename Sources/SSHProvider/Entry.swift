// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats

// The four functions that OpenSSH's ssh-sk-helper calls; PROTOCOL.u2f, "OpenSSH middleware".
//
// None of them decides anything: signetd holds the keys, checks the request, asks for the touch and
// signs. They copy what they are given, ask signetd, and allocate the answer.

/// Returns the version of the interface.
@c @implementation
public func sk_api_version() -> UInt32 { UInt32(SIGNET_SK_VERSION) }

/// Makes a key after a touch. The challenge is for attestations, and there is none.
@c @implementation
public func sk_enroll(
    _ algorithm: UInt32, _ challenge: UnsafePointer<UInt8>?, _ challengeLength: Int,
    _ application: UnsafePointer<CChar>?, _ flags: UInt8, _ pin: UnsafePointer<CChar>?,
    _ options: UnsafeMutablePointer<UnsafeMutablePointer<sk_option>?>?,
    _ answer: UnsafeMutablePointer<UnsafeMutablePointer<sk_enroll_response>?>?
) -> Int32 {
    guard let answer = unsafe answer else { return ProviderFault.badCall.code }
    unsafe answer.pointee = nil
    return serve { (account) throws(ProviderFault) in
        guard algorithm == UInt32(SIGNET_SK_ECDSA) else { throw .unsupported }
        guard let application = unsafe ProviderCaller.text(application) else { throw .badCall }
        let name = try unsafe ProviderCaller.name(in: options)
        let key = try ProviderExchange(show: StandardError.show).create(
            account: account, application: application, name: name)
        // A touch is always needed, whatever was asked for.
        let kept = SIGNET_SK_USER_VERIFICATION | SIGNET_SK_RESIDENT
        let flags = flags & UInt8(kept) | UInt8(SIGNET_SK_USER_PRESENCE)
        unsafe answer.pointee = try .answering(key, flags: flags)
    }
}

/// Signs after a touch.
///
/// Of the flags of the key's file, one counts: whether the user must be verified, so that no grant of
/// `signet ssh allow` serves. Otherwise a touch is needed unless there is one, and the signature says
/// which.
@c @implementation
public func sk_sign(
    _ algorithm: UInt32, _ data: UnsafePointer<UInt8>?, _ dataLength: Int,
    _ application: UnsafePointer<CChar>?, _ handle: UnsafePointer<UInt8>?, _ handleLength: Int,
    _ flags: UInt8, _ pin: UnsafePointer<CChar>?,
    _ options: UnsafeMutablePointer<UnsafeMutablePointer<sk_option>?>?,
    _ answer: UnsafeMutablePointer<UnsafeMutablePointer<sk_sign_response>?>?
) -> Int32 {
    guard let answer = unsafe answer else { return ProviderFault.badCall.code }
    unsafe answer.pointee = nil
    return serve { (account) throws(ProviderFault) in
        guard algorithm == UInt32(SIGNET_SK_ECDSA) else { throw .unsupported }
        guard let application = unsafe ProviderCaller.text(application),
            let handle = unsafe ProviderCaller.bytes(
                handle, count: handleLength, cap: Limit.label),
            let data = unsafe ProviderCaller.bytes(
                data, count: dataLength, cap: SSHSignedData.longest)
        else { throw .badCall }
        _ = try unsafe ProviderCaller.name(in: options)
        let signature = try ProviderExchange(show: StandardError.show).sign(
            data, account: account, application: application, handle: handle,
            wantsVerification: flags & UInt8(SIGNET_SK_USER_VERIFICATION) != 0)
        unsafe answer.pointee = try .answering(signature)
    }
}

/// Lists the keys that a touch opens.
@c @implementation
public func sk_load_resident_keys(
    _ pin: UnsafePointer<CChar>?,
    _ options: UnsafeMutablePointer<UnsafeMutablePointer<sk_option>?>?,
    _ answer: UnsafeMutablePointer<
        UnsafeMutablePointer<UnsafeMutablePointer<sk_resident_key>?>?
    >?,
    _ count: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let answer = unsafe answer, let count = unsafe count else {
        return ProviderFault.badCall.code
    }
    unsafe answer.pointee = nil
    unsafe count.pointee = 0
    return serve { (account) throws(ProviderFault) in
        _ = try unsafe ProviderCaller.name(in: options)
        let keys = try ProviderExchange(show: StandardError.show).keys(of: account)
        let flags = SIGNET_SK_USER_PRESENCE | SIGNET_SK_RESIDENT
        unsafe answer.pointee = try UnsafeMutablePointer<sk_resident_key>.list(
            keys, flags: UInt8(flags))
        unsafe count.pointee = keys.count
    }
}

/// Runs a call for the user who runs the program; shows and translates what it throws.
private func serve(_ body: (AccountName) throws(ProviderFault) -> Void) -> Int32 {
    var account = AccountName.none
    do throws(ProviderFault) {
        account = try ProviderCaller.account()
        try body(account)
        return 0
    } catch {
        StandardError.show(error.text(account: account))
        return error.code
    }
}
