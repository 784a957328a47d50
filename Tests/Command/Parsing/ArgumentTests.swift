// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@Suite("A command line")
struct ArgumentTests {
    @Test(
        "that is not understood ends with 2, says why, and does not ask the daemon",
        arguments: [
            ("", "no command given. Run 'signet help'"),
            ("frobnicate", "there is no command frobnicate. Run 'signet help' to list"),
            ("enrol", "there is no command enrol. Did you mean 'signet enroll'?"),
            ("lsit", "there is no command lsit. Did you mean 'signet list'?"),
            ("status --acount a", "status has no option --acount. Did you mean --account?"),
            ("--frob", "the command must come before --frob"),
            ("status --frob", "status has no option --frob"),
            ("status -a", "status has no option -a"),
            ("status --account", "--account needs a value"),
            ("status --account=", "--account needs a value"),
            ("status --account a --account b", "--account was given twice"),
            ("status --json=1 --account a", "--json takes no value"),
            ("status alice", "status does not take alice"),
            ("status -- --frob", "status does not take --frob"),
            ("status", "root must name the account"), ("list", "root must name the account"),
            ("log", "root must name the account"), ("enroll", "root must name the account"),
            ("delete --all", "root must name the account"),
            ("unlock", "root must name the account"),
            ("enable", "root must name the account"), ("disable", "root must name the account"),
            ("verify", "root must name the account"),
            ("enroll toe --account a", "toe is not a finger. The fingers are: left-thumb, "),
            ("enroll left-thumb left-ring", "enroll does not take left-ring"),
            ("delete --account a", "delete needs either FINGER or --all"),
            ("delete left-thumb --all --account a", "delete needs either FINGER or --all"),
            ("readers --account a", "readers has no option --account"),
            (
                "config signet.conf",
                "config does not take signet.conf without --check. Run 'signet c"
            ),
            ("log --export 1 --account a", "--export also needs --to"),
            ("log --to x --account a", "--to also needs --export"),
            ("log --export one --to x --account a", "--export needs the number of a receipt"),
            ("log --verify --signers --account a", "log needs either --verify or --signers"),
            ("status --account a/b", "a/b is not a valid account name"),
            ("status --account a:b", "a:b is not a valid account name"),
            ("help frob", "there is no command frob"),
            ("secret", "secret needs one of set, get, list, delete"),
            ("secret frob", "secret needs one of set, get, list, delete"),
            ("help secret frob", "there is no command secret frob"),
            ("help vault frob", "there is no command vault frob"),
            ("help status migrate", "there is no command status migrate"),
            ("secret set --account a", "a secret needs a name"),
            ("secret get --account a", "a secret needs a name"),
            ("secret delete --account a", "a secret needs a name"),
            ("secret set mail", "root must name the account"),
            ("secret get mail --replace", "secret get has no option --replace"),
            ("secret get mail extra --account a", "secret get does not take extra"),
            ("secret list mail --account a", "secret list does not take mail"),
            ("secret get -- -n --account a", "secret get does not take --account"),
            ("secret get --account a -- -n", "-n is not a valid name for a secret: it begins with"),
            ("secret set mail -n --account a", "secret set has no option -n"),
        ])
    func refused(line: String, text: String) throws {
        let run = try signet(line.split(separator: " ").map(String.init))
        #expect(run.code == .usage, "\(run.errors)")
        #expect(run.errors.hasPrefix("signet: \(text)"), "\(run.errors)")
        #expect(run.output == "")
    }

    @Test("hostile bytes in it are shown as what they are")
    func hostile() throws {
        let run = try signet(["\u{1B}[2J\n"])
        #expect(run.code == .usage)
        #expect(run.errors.contains("\\x1b[2J\\x0a"))
    }

    @Test("with --json is answered in JSON also when it is not understood")
    func json() throws {
        let run = try signet(["status", "--frob", "--json"])
        let document = try run.document("error")
        #expect(document["reason"] as? String == "usage")
        #expect(document["exitCode"] as? Int == 2)
        #expect(run.errors == "")
    }

    @Test("--version, help and --help need no daemon")
    func help() throws {
        #expect(try signet(["--version"]).output.hasPrefix("signet "))
        for words in [["help"], ["--help"], ["-h"]] {
            let run = try signet(words)
            #expect(run.code == .done)
            for code in ExitCode.allCases { #expect(run.output.contains("\(code.rawValue)  ")) }
        }
        let actions = [
            "status", "enroll", "list", "delete", "verify", "enable", "disable", "unlock",
            "readers", "log", "config", "secret set", "secret get", "secret list",
            "secret delete", "help",
        ]
        for action in actions {
            let words = action.split(separator: " ").map(String.init)
            let long = try signet(words + ["--help"])
            #expect(long.code == .done)
            #expect(try signet(["help"]).output.contains("\n  \(action) "))
            #expect(try signet(["help"] + words).output == long.output)
            // What releases a secret writes no documents.
            if action == "secret get" { continue }
            let document = try signet(words + ["--help", "--json"]).document("help")
            #expect(document["command"] as? String == action)
        }
    }

    @Test("help takes every command, 'secret' with all that begins with it, and what vault does")
    func subcommands() throws {
        let secrets = try signet(["help", "secret"])
        #expect(secrets.code == .done)
        for action in ["set", "get", "list", "delete"] {
            #expect(secrets.output.contains("\n  secret \(action) "), "\(secrets.output)")
        }
        #expect(!secrets.output.contains("\n  status "))
        #expect(try signet(["secret", "--help"]).output == secrets.output)
        let document = try signet(["help", "secret", "--json"]).document("help")
        #expect(document["command"] as? String == "secret")
        #expect((document["commands"] as? [String])?.count == 4)
        #expect(try signet(["secret", "--help", "frob"]).code == .usage)
        #expect(try signet(["--version", "status"]).code == .usage)
        let vault = try signet(["help", "vault"])
        for word in ["migrate", "trust"] {
            #expect(try signet(["help", "vault", word]).output == vault.output)
        }
        for command in try KnownCommand.all() {
            #expect(try signet(["help"] + command.words).code == .done)
        }
    }

    @Test("takes an option's value in both forms, and words after --")
    func forms() throws {
        let script: [DaemonStep] = [.receive, .send(.done(DoneAnswer()))]
        for words in [["list", "--account", "al"], ["list", "--account=al"]] {
            #expect(try signet(words, [script]).requests == [.list(account: "al")])
        }
        let run = try signet(["delete", "--account=al", "--", "left-thumb"], [script])
        #expect(run.requests.last == .delete(account: "al", finger: .leftThumb))
    }

    @Test("of a user other than root concerns that user, if it names no account")
    func ownAccount() throws {
        let script: [DaemonStep] = [.receive, .send(.done(DoneAnswer()))]
        let run = try signet(["list"], [script]) { $0.uid = 1 }
        #expect(run.requests == [.list(account: "daemon")])
        let nobody = try signet(["list"]) { $0.uid = 4_000_000_000 }
        #expect(nobody.code == .usage)
        #expect(nobody.errors.contains("this user (uid 4000000000) has no account here"))
    }
}
