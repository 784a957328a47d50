// SPDX-License-Identifier: Apache-2.0
import CPAM
import Glibc

// Starts `verify-password`, which must inherit nothing from the daemon but the pipe with the
// password: no other descriptor, no environment, and no blocked or ignored signal.
extension PasswordCheck {
    /// Starts the program with default signal handling and the pipe as its standard input.
    ///
    /// Standard output and error are /dev/null. No other descriptor is inherited, and the
    /// environment is empty. Throws `spawn` with the errno of the step that failed.
    static func spawn(
        _ program: String, account: String, input: Int32
    ) throws(PasswordFault) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { throw .spawn(ENOMEM) }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { throw .spawn(ENOMEM) }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        guard unsafe connect(input, in: &actions), reset(&attributes) else {
            throw .spawn(ENOMEM)
        }
        var process: pid_t = 0
        let arguments = unsafe [strdup(program), strdup(account), nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        guard unsafe arguments[0] != nil, unsafe arguments[1] != nil else { throw .spawn(ENOMEM) }
        let status = unsafe posix_spawn(
            &process, program, &actions, &attributes, arguments, [nil])
        guard status == 0 else { throw .spawn(status) }
        return process
    }

    /// Adds the actions that replace the standard streams and close every other descriptor.
    private static func connect(
        _ input: Int32, in actions: inout posix_spawn_file_actions_t
    ) -> Bool {
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0
            && posix_spawn_file_actions_addopen(
                &actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0
            && posix_spawn_file_actions_addopen(
                &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0
            && signet_add_close_from(&actions, 3) == 0
    }

    /// Resets the signal mask and handlers.
    ///
    /// The daemon blocks signals to read them, and its child must not inherit that.
    private static func reset(_ attributes: inout posix_spawnattr_t) -> Bool {
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        return unsafe posix_spawnattr_setsigmask(&attributes, &none) == 0
            && posix_spawnattr_setsigdefault(&attributes, &all) == 0
            && posix_spawnattr_setflags(&attributes, flags) == 0
    }
}
