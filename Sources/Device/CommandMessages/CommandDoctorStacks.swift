// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about PAM stacks. `services` are names, `place` is a file and line in /etc/pam.d.
extension Finding {
    /// The password does not let in where the finger cannot.
    package static func passwordUnreachable(services: Bytes, file: Bytes) -> Finding {
        Finding(
            .passwordUnreachable, services,
            "\(services): where no finger can be asked for, the right password lets nobody in",
            why: """
                without a reader, a finger or the daemon everybody is locked out. Make \
                pam_signet's control [success=done conv_err=die default=ignore], in front of \
                the password's lines
                """,
            mend: edit(file))
    }

    /// No module asks for a password.
    package static func noPassword(services: Bytes, file: Bytes) -> Finding {
        Finding(
            .noPassword, services,
            "\(services): no module of this stack asks for a password",
            why: """
                when the reader fails everybody is locked out. Put '@include common-auth' \
                behind pam_signet's line
                """,
            mend: edit(file))
    }

    /// Neither finger nor password is needed.
    package static func stackOpen(services: Bytes, codes: Bytes, file: Bytes) -> Finding {
        Finding(
            .stackOpen, services,
            """
            \(services): lets in without a finger and without a password, when pam_signet \
            returns \(codes)
            """,
            why: """
                anybody gets in. Behind a 'sufficient' or 'done' line the stack has to end in a \
                line that fails, as pam_deny.so does
                """,
            mend: edit(file))
    }

    /// After a fault of the module the password does not let in.
    package static func passwordLostAfterFault(
        services: Bytes, codes: Bytes, file: Bytes
    ) -> Finding {
        Finding(
            .passwordLostAfterFault, services,
            "\(services): after \(codes) of pam_signet the right password lets nobody in",
            why: """
                a mistyped option or a module that is not there locks everybody out. Add \
                default=ignore to pam_signet's control
                """,
            mend: edit(file))
    }

    /// After a wrong finger the password does not let in.
    package static func passwordLostAfterMismatch(
        services: Bytes, codes: Bytes, file: Bytes
    ) -> Finding {
        Finding(
            .passwordLostAfterMismatch, services,
            "\(services): after \(codes) of pam_signet the right password lets nobody in",
            why: """
                whose finger is wet or hurt has to begin anew for the password. Add \
                default=ignore to pam_signet's control
                """,
            mend: edit(file))
    }

    /// A touch does not let in.
    package static func touchNotEnough(services: Bytes, file: Bytes) -> Finding {
        Finding(
            .touchNotEnough, services,
            "\(services): a touch alone does not let in, the password is asked for all the same",
            why: """
                the finger is asked for in vain, unless both are wanted. pam_signet's control \
                has to say success=done, or success=N over the password's lines
                """,
            mend: edit(file))
    }

    /// A touch passes a module that keeps out.
    package static func gateSkipped(services: Bytes, module: Bytes, place: Bytes) -> Finding {
        Finding(
            .gateSkipped, services,
            "\(services): a touch passes \(module) by, which a password does not (\(place))",
            why: """
                whom \(module) keeps out gets in by finger. Put its line in front of \
                pam_signet's
                """,
            mend: edit(file(of: place)))
    }

    /// A touch does not reset pam_faillock.
    package static func failuresStay(services: Bytes, place: Bytes) -> Finding {
        Finding(
            .failuresStay, services,
            "\(services): a touch does not take back failed passwords (\(place))",
            why: """
                pam_faillock counts on until the next right password. That is safe, and may \
                surprise
                """,
            mend: "faillock")
    }

    /// pam_faillock counts failed fingers.
    package static func fingersCounted(services: Bytes, file: Bytes) -> Finding {
        Finding(
            .fingersCounted, services,
            "\(services): pam_faillock counts a failed touch like a failed password",
            why: """
                some wet fingers lock the password too. Let every code of pam_signet but \
                success reach the password's line
                """,
            mend: edit(file))
    }

    /// A jump passes over more modules than there are.
    package static func longJump(services: Bytes, module: Bytes, place: Bytes) -> Finding {
        Finding(
            .longJump, services,
            "\(services): \(module) jumps over more lines than there are (\(place))",
            why: "libpam denies where it takes such a jump. Count the lines that follow",
            mend: edit(file(of: place)))
    }

    /// The module stands in a stack that it does not serve.
    package static func wrongType(services: Bytes, type: Bytes, place: Bytes) -> Finding {
        Finding(
            .wrongType, services,
            "\(services): pam_signet stands in a stack of the type '\(type)' (\(place))",
            why: """
                it serves 'auth' and 'password' and does nothing there; alone in such a stack \
                it lets nobody in. Remove the line
                """,
            mend: edit(file(of: place)))
    }

    /// An option of the module is wrong.
    package static func moduleOption(services: Bytes, option: Bytes, place: Bytes) -> Finding {
        Finding(
            .moduleOption, services,
            "\(services): '\(option)' is no option of pam_signet, or is there twice (\(place))",
            why: "the module refuses to work with it, and the password is asked for. Correct it",
            mend: edit(file(of: place)))
    }

    /// The module asks at another socket.
    package static func socketElsewhere(services: Bytes, path: Bytes) -> Finding {
        Finding(
            .socketElsewhere, services,
            "\(services): pam_signet is told to ask the daemon at \(path)",
            why: "this command, and everybody else, asks at /run/signet/signetd.sock",
            mend: "grep -r socket= /etc/pam.d")
    }

    /// A line cannot be read.
    package static func stackBroken(services: Bytes, place: Bytes) -> Finding {
        Finding(
            .stackBroken, services,
            "\(services): libpam cannot read the line \(place)",
            why: "it takes such a line for one that denies. Correct it, or remove it",
            mend: edit(file(of: place)))
    }

    /// An included file is not there.
    package static func includeMissing(services: Bytes, name: Bytes, place: Bytes) -> Finding {
        Finding(
            .includeMissing, services,
            "\(services): /etc/pam.d/\(name) is included and not there (\(place))",
            why: "libpam denies everybody. Restore the file, or remove the line",
            mend: edit(file(of: place)))
    }

    /// Files include each other.
    package static func includeLoop(services: Bytes, name: Bytes, place: Bytes) -> Finding {
        Finding(
            .includeLoop, services,
            "\(services): \(name) is included without end (\(place))",
            why: "libpam gives up and denies everybody. Remove the line",
            mend: edit(file(of: place)))
    }

    /// There are too many ways.
    package static func stackTangled(services: Bytes, file: Bytes) -> Finding {
        Finding(
            .stackTangled, services,
            "\(services): there are too many ways through this stack to follow them all",
            why: "whether the password is reached was not judged. Try it with a second terminal",
            mend: edit(file))
    }

    /// The command that opens a file of /etc/pam.d; a distribution's own is copied there before.
    static func edit(_ file: Bytes) -> Text {
        let path = StackPosition.path(file)
        let own = Shell.word(StackPosition.own(path))
        guard own != Shell.word(path) else {
            // Untranslated: a command
            return "${EDITOR:-vi} \(own)"
        }
        // Untranslated: a command
        return "cp -n \(Shell.word(path)) \(own) && ${EDITOR:-vi} \(own)"
    }

    /// The file of `file:line`.
    static func file(of place: Bytes) -> Bytes {
        place.lastIndex(of: UInt8(ascii: ":")).map { Bytes(place[..<$0]) } ?? place
    }
}

/// Where stacks are written.
enum StackPosition {
    /// The path of a file of /etc/pam.d.
    static func path(_ file: Bytes) -> Bytes {
        file.first == UInt8(ascii: "/") ? file : Bytes("/etc/pam.d/".utf8) + file
    }

    /// Where an administrator writes what overrides a file.
    static func own(_ path: Bytes) -> Bytes {
        let shipped = Bytes("/usr/lib/pam.d/".utf8)
        return path.starts(with: shipped) ? self.path(Bytes(path.dropFirst(shipped.count))) : path
    }
}

/// Words of a command that somebody copies.
enum Shell {
    /// A word as a shell takes it.
    static func word(_ word: Bytes) -> Bytes {
        let isPlain =
            !word.isEmpty
            && word.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "/._-+:@,%".utf8.contains(byte)
                }
            }
        if isPlain { return word }
        let quote = UInt8(ascii: "'")
        return [quote] + word.flatMap { $0 == quote ? Bytes("'\\''".utf8) : [$0] } + [quote]
    }
}
