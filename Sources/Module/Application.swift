// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions
import SignedFormats

/// An account as the name service gives it.
struct SystemAccount: Equatable {
    let name: AccountName
    let uid: UInt32
}

/// The application that called the module, through the handle that libpam passed.
///
/// A handle outlives each call that is made with it, and a value of this type must not: no call
/// stores one. Strings from libpam are copied; texts are bytes, not necessarily UTF-8.
// SAFETY: libpam keeps the handle alive until the call that passed it has returned.
@safe struct Application {
    private let handle: OpaquePointer
    private let flags: UInt32
    private let language = Language()
    /// Whether the stack's line has the option `debug`.
    var debug = false
    /// Whether nothing is shown to the user; `prompt=off`.
    var isQuiet = false
    /// Whether a message that the application does not take ends the login: it has been cancelled.
    var mustBeHeard = false
    /// Whether the request comes from a terminal in whose foreground the process runs, so that the
    /// user sees what is shown there.
    var isAttended = false
    /// The terminal to write messages to, where the answer is given; nil for the application's
    /// conversation function.
    var screen: ControllingTerminal?

    init?(_ handle: OpaquePointer?, flags: Int32) {
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
        self.flags = UInt32(bitPattern: flags)
    }

    /// The arguments after the module's name in the stack's line.
    static func arguments(
        _ count: Int32, words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> [Bytes] {
        guard let words = unsafe words, count > 0 else { return [] }
        var arguments: [Bytes] = []
        for index in 0..<Int(count) {
            guard let word = unsafe words[index] else { continue }
            arguments.append(unsafe CString.bytes(word))
        }
        return arguments
    }

    /// Whether the flags of pam_setcred(3) ask for credentials to be established or reinitialised.
    var establishesCredentials: Bool {
        flags & UInt32(PAM_ESTABLISH_CRED | PAM_REINITIALIZE_CRED) != 0
    }
}

extension Application {
    /// Returns the text of an item (PAM_TTY, PAM_RHOST, …), empty if it is not set.
    func item(_ item: Int32) throws(LoginFailure) -> Bytes {
        var value: UnsafeRawPointer?
        guard unsafe pam_get_item(handle, item, &value) == PAM_SUCCESS else {
            throw .libpam(PAM_SYSTEM_ERR)
        }
        guard let value = unsafe value else { return [] }
        return unsafe CString.bytes(value.assumingMemoryBound(to: CChar.self))
    }

    /// Returns the account of PAM_USER as the system knows it; libpam prompts for PAM_USER through
    /// the application if it is not set yet. Nil if there is no such account.
    ///
    /// Some name services fold case, or take a name with or without its domain. The account then has
    /// the name that the name service gives it, if that name leads to the same uid: the password, and
    /// whatever the application does next, are that uid's, too.
    func account() throws(LoginFailure) -> SystemAccount? {
        var name: UnsafePointer<CChar>?
        let code = unsafe pam_get_user(handle, &name, nil)
        guard code == PAM_SUCCESS else { throw .libpam(code) }
        guard let name = unsafe name else { throw .libpam(PAM_SYSTEM_ERR) }
        let given = AccountName(unsafe CString.bytes(name))
        guard let found = lookUp(given) else { return nil }
        return found.name == given || lookUp(found.name) == found ? found : nil
    }

    /// Returns the account of a name, under the name that the name service gives; nil if there is
    /// none.
    func lookUp(_ account: AccountName) -> SystemAccount? {
        let found = account.bytes.withCString { name in
            unsafe pam_modutil_getpwnam(handle, name)
        }
        guard let entry = unsafe found?.pointee, let name = unsafe entry.pw_name else { return nil }
        return SystemAccount(
            name: AccountName(unsafe CString.bytes(name)), uid: unsafe entry.pw_uid)
    }

    /// Returns PAM_SERVICE, empty if it is not set.
    func service() throws(LoginFailure) -> ServiceName {
        ServiceName(try item(PAM_SERVICE))
    }

    /// The login shell of an account, empty for the system's default; nil if there is no such
    /// account.
    func shell(of account: AccountName) -> Bytes? {
        let found = account.bytes.withCString { name in
            unsafe pam_modutil_getpwnam(handle, name)
        }
        guard let entry = unsafe found?.pointee else { return nil }
        guard let shell = unsafe entry.pw_shell else { return [] }
        return unsafe CString.bytes(shell)
    }

    /// Whether an account is a member of a group; nil if the group does not exist or a look-up
    /// fails.
    func isMember(_ account: AccountName, of group: Bytes) -> Bool? {
        group.withCString { group in
            guard let entry = unsafe pam_modutil_getgrnam(handle, group)?.pointee
            else { return nil }
            // libpam's function looks both up again and returns no if it cannot, so check the list
            // first.
            var members = unsafe entry.gr_mem
            while let member = unsafe members?.pointee {
                if unsafe CString.bytes(member) == account.bytes { return true }
                unsafe members = members?.successor()
            }
            let number = unsafe entry.gr_gid
            return account.bytes.withCString { account in
                guard let entry = unsafe pam_modutil_getpwnam(handle, account)?.pointee else {
                    return nil
                }
                return unsafe entry.pw_gid == number
                    || pam_modutil_user_in_group_nam_nam(handle, account, group) == 1
            }
        }
    }

    /// Sets a variable, `NAME=value`, in the environment of the user's session; pam_putenv(3).
    func setVariable(_ variable: Bytes) throws(LoginFailure) {
        let code = variable.withCString { unsafe pam_putenv(handle, $0) }
        guard code == PAM_SUCCESS else { throw .libpam(code) }
    }

    /// Returns the password that earlier modules of the stack obtained, PAM_AUTHTOK; nil if not
    /// set.
    func password() -> SecretLine? {
        var value: UnsafeRawPointer?
        guard unsafe pam_get_item(handle, PAM_AUTHTOK, &value) == PAM_SUCCESS,
            let value = unsafe value
        else { return nil }
        let length = unsafe strlen(value.assumingMemoryBound(to: CChar.self))
        let text = unsafe UnsafeRawBufferPointer(start: value, count: length)
        let line = SecretLine(copying: unsafe Span(_bytes: text.bytes))
        guard line.isPassword else { return nil }
        return line
    }

    /// Passes a password on to the next modules of the stack as PAM_AUTHTOK.
    func setPassword(_ password: inout SecretLine) throws(LoginFailure) {
        let code = password.withCString { text in
            unsafe pam_set_item(handle, PAM_AUTHTOK, text)
        }
        guard code == PAM_SUCCESS else { throw .libpam(code) }
    }

    /// Returns a text in the system's language.
    func rendering(_ text: Text) -> Bytes {
        let terminal = (try? item(PAM_TTY)) ?? []
        return language.rendering(text, isConsole: Application.isConsole(terminal))
    }

    /// Whether a terminal is a Linux virtual console: `tty1`, `/dev/tty1`.
    private static func isConsole(_ terminal: Bytes) -> Bool {
        let device = StaticString("/dev/").bytes
        let name = terminal.starts(with: device) ? Bytes(terminal.dropFirst(5)) : terminal
        guard let last = name.last, name.starts(with: StaticString("tty").bytes) else {
            return false
        }
        return name.count <= 5 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last)
    }

    /// Shows a line to the user: on the terminal, or through the application's conversation
    /// function.
    ///
    /// That function may write to a file: su's writes to standard output. PAM_SILENT is honoured
    /// except from sudo, which always sets it. Returns whether the line was written, or the
    /// conversation function succeeded.
    @discardableResult
    @inline(never)
    func show(_ text: Text, asError: Bool = false) -> Bool {
        guard mayShow else { return false }
        if let screen { return screen.write(rendering(text) + [UInt8(ascii: "\n")]) }
        let style = asError ? PAM_ERROR_MSG : PAM_TEXT_INFO
        return unsafe rendering(text).withUnsafeBytes { bytes in
            unsafe show_line(
                handle, style, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(clamping: bytes.count)) == PAM_SUCCESS
        }
    }

    /// Whether messages may be shown to the user.
    var mayShow: Bool { !isQuiet && (flags & UInt32(PAM_SILENT) == 0 || isSudo) }

    /// Whether the application is a program for terminals, whose conversation function writes to
    /// its standard output; judged by the name of its service.
    var isTextual: Bool {
        guard let name = try? service().bytes else { return false }
        return isSudo || ConfirmingProgram.textual.bytes.parts(between: 0x20).contains(name)
    }

    /// Whether the application is sudo, judged by the name of its service.
    var isSudo: Bool {
        guard let name = try? service().bytes else { return false }
        return name == StaticString("sudo").bytes || name == StaticString("sudo-i").bytes
    }

    /// Writes a line to the journal through pam_syslog(3), in English like the whole journal.
    @inline(never)
    func log(_ level: Int32, text: Text) {
        unsafe text.bytes.withUnsafeBytes { bytes in
            unsafe log_line(
                handle, level, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(clamping: bytes.count))
        }
    }

    /// Writes a line to the journal if the stack's line has the option `debug`.
    func trace(_ text: @autoclosure () -> Text) {
        if debug { log(LOG_DEBUG, text: text()) }
    }
}

extension Application {
    /// Data that is stored on the handle for later calls, by the names under which libpam stores
    /// it.
    enum Record {
        /// The account whose password lifts a lockout.
        static let asked: StaticString = "signet"
        /// The account that could enrol a finger.
        static let offer: StaticString = "signet-offer"
    }

    /// Stores a text on the handle for later calls; pam_set_data(3). libpam frees it with the
    /// handle.
    func keep(_ text: Bytes, as record: StaticString = Record.asked) throws(LoginFailure) {
        guard let copy = text.withCString({ unsafe strdup($0) }) else {
            throw .libpam(PAM_BUF_ERR)
        }
        let code = unsafe pam_set_data(handle, Application.name(record), copy) { _, copy, _ in
            unsafe free(copy)
        }
        guard code == PAM_SUCCESS else {
            unsafe free(copy)
            throw .libpam(code)
        }
    }

    /// Returns the text that an earlier call stored on the same handle; nil if there is none.
    func kept(_ record: StaticString = Record.asked) -> Bytes? {
        var copy: UnsafeRawPointer?
        guard unsafe pam_get_data(handle, Application.name(record), &copy) == PAM_SUCCESS,
            let copy = unsafe copy
        else { return nil }
        return unsafe CString.bytes(copy.assumingMemoryBound(to: CChar.self))
    }

    private static func name(_ record: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(record.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
