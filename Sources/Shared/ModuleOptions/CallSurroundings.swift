// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What, besides its command line, determines what a call of sudo, su or doas runs.
///
/// It decides nothing about a login: it is read in order to be shown. What cannot be found out is
/// nil, and the call then cannot be confirmed.
package struct CallSurroundings {
    /// The accounts whose shells a call may run.
    package enum Role: Equatable {
        /// The user who called the program.
        case caller
        /// The account that PAM asks about.
        case target
        /// An account by its name.
        case named([UInt8])
    }

    /// The environment that the caller gave the program, as in /proc/PID/environ.
    let environment: () -> [UInt8]?
    /// The path of an existing directory, as the kernel sees it from the working directory.
    let directory: ([UInt8]) -> [UInt8]?
    /// Whether a path leads to a file that can be run; nil if it leads to nothing.
    let isProgram: ([UInt8]) -> Bool?
    /// The login shell of an account, empty for the system's default.
    let shell: (Role) -> [UInt8]?

    /// Creates the surroundings from ways to look them up, which are called only if needed.
    package init(
        environment: @escaping () -> [UInt8]?, directory: @escaping ([UInt8]) -> [UInt8]?,
        isProgram: @escaping ([UInt8]) -> Bool?, shell: @escaping (Role) -> [UInt8]?
    ) {
        self.environment = environment
        self.directory = directory
        self.isProgram = isProgram
        self.shell = shell
    }
}

extension CallSurroundings {
    /// A variable's value; `.some(nil)` if it is not set, nil if that cannot be told: the
    /// environment cannot be read, or sets it twice.
    func variable(_ name: [UInt8]) -> [UInt8]?? {
        guard let environment = environment() else { return nil }
        let start = name + [UInt8(ascii: "=")]
        var found: [UInt8]?
        for entry in environment.values where entry.starts(with: start) {
            guard found == nil else { return nil }
            found = [UInt8](entry.dropFirst(start.count))
        }
        return .some(found)
    }

    /// The login shell of an account, as the programs use it; nil if it cannot be told.
    func loginShell(of role: Role) -> [UInt8]? {
        guard let shell = shell(role) else { return nil }
        return shell.isEmpty ? StaticString("/bin/sh").bytes : shell
    }

    /// The absolute path of what a word names from the working directory, without `.`, `..` and
    /// empty components; nil if there is no such directory, or the word ends in none of a name.
    ///
    /// A path that has none of these is returned unchanged. The others are looked up by the kernel:
    /// `..` cannot be taken out of a text, because the directory before it may be a symbolic link.
    func path(_ word: [UInt8]) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        let parts = word.parts(between: slash)
        var isPlain = word.first == slash && parts.count > 1
        for part in parts.dropFirst() where part.isEmpty || CallSurroundings.isDots(part) {
            isPlain = false
        }
        if isPlain { return word }
        guard let name = parts.last, !name.isEmpty, !CallSurroundings.isDots(name) else {
            return nil
        }
        let above = [UInt8](word.dropLast(name.count))
        let found = directory(above.isEmpty ? [UInt8(ascii: ".")] : above)
        guard let found, found.first == slash else { return nil }
        return (found.count == 1 ? [] : found) + [slash] + name
    }

    private static func isDots(_ part: [UInt8]) -> Bool {
        StaticString(".").bytes == part || StaticString("..").bytes == part
    }

    /// The path of the program that execvp(3) would run for a name without a slash, by the caller's
    /// PATH; nil if there is none, or it cannot be told.
    func searched(_ name: [UInt8]) -> [UInt8]? {
        guard !name.isEmpty, let set = variable(StaticString("PATH").bytes), let path = set else {
            return nil
        }
        for directory in path.parts(between: UInt8(ascii: ":")) {
            let above = directory.isEmpty ? StaticString(".").bytes : directory
            let word = above + [UInt8(ascii: "/")] + name
            guard let isProgram = isProgram(word) else { continue }
            // Which of several is run would depend on more than can be seen here.
            return isProgram ? self.path(word) : nil
        }
        return nil
    }

    /// The variables that change what a shell or an interpreter runs, as `NAME=value`; nil if the
    /// environment cannot be read.
    ///
    /// PATH is one of them if it has a directory other than the system's.
    func deciding() -> [[UInt8]]? {
        guard let environment = environment() else { return nil }
        let names = CallSurroundings.decidingNames.bytes.parts(between: UInt8(ascii: " "))
        var deciding: [[UInt8]] = []
        for entry in environment.values {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = [UInt8](entry[..<equals])
            let value = [UInt8](entry[(equals + 1)...])
            let isPath = StaticString("PATH").bytes == name
            // bash exports functions so, under names that differ between versions.
            let isFunction = value.starts(with: StaticString("()").bytes)
            if isFunction || names.contains(name)
                || isPath && !CallSurroundings.isSystems(path: value)
            {
                deciding.append(entry)
            }
        }
        return deciding
    }

    private static func isSystems(path: [UInt8]) -> Bool {
        let directories = systemDirectories.bytes.parts(between: UInt8(ascii: ":"))
        for directory in path.parts(between: UInt8(ascii: ":"))
        where !directories.contains(directory) { return false }
        return true
    }

    private static let systemDirectories: StaticString =
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/games:/usr/games:/snap/bin"

    /// Most of what sudo removes from an environment for this reason (env.c), and what is like it.
    /// The dynamic linker's own variables never pass a setuid program.
    private static let decidingNames: StaticString =
        """
        BASH_ENV ENV BASHOPTS SHELLOPTS PS4 PROMPT_COMMAND IFS CDPATH GLOBIGNORE FPATH ZDOTDIR \
        NULLCMD READNULLCMD PERL5LIB PERLLIB PERL5OPT PERL5DB PYTHONPATH PYTHONHOME PYTHONSTARTUP \
        PYTHONUSERBASE PYTHONINSPECT RUBYLIB RUBYOPT NODE_OPTIONS NODE_PATH LUA_INIT \
        JAVA_TOOL_OPTIONS _JAVA_OPTIONS
        """
}
