// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages

/// What `signet` can be told to do; the raw value is the word.
enum Action: String, CaseIterable {
    case status = "status"
    case enroll = "enroll"
    case list = "list"
    case delete = "delete"
    case verify = "verify"
    case enable = "enable"
    case disable = "disable"
    case unlock = "unlock"
    case readers = "readers"
    case vault = "vault"
    case log = "log"
    case config = "config"
    case doctor = "doctor"
    case notify = "notify"
    case login = "login"
    case sign = "sign"
    case operations = "operations"
    case macToken = "mac-token"
    case importFprintd = "import-fprintd"
    case secretSet = "secret set"
    case secretGet = "secret get"
    case secretList = "secret list"
    case secretDelete = "secret delete"
    case help = "help"

    /// The word that begins commands of two words.
    static let secret = "secret"

    /// What it does when this word comes first behind it.
    var besides: [String] {
        switch self {
        case .vault: ["migrate", "trust"]
        case .operations: ["list", "show", "approve", "reject", "watch"]
        case .macToken: ["add", "list", "remove", "header"]
        default: []
        }
    }

    /// All that it takes.
    var options: [Option] {
        switch self {
        // What releases a secret writes that and nothing else; notices go to the desktop.
        case .secretGet, .notify: own + [.help]
        default: own + [.json, .help]
        }
    }

    private var own: [Option] {
        switch self {
        case .status, .list: [.account]
        case .verify: [.account, .reason]
        case .enroll: [.account, .reader, .passwordStdin]
        case .delete: [.account, .all, .passwordStdin]
        case .enable: [.account, .server, .signing, .keyring, .noKeyring, .passwordStdin]
        case .disable: [.account, .server, .signing, .passwordStdin]
        case .login: [.account, .secret, .replace]
        case .sign:
            [.account, .challenge, .audience, .request, .body, .server, .publicKey, .force]
        case .operations: [.account, .server]
        case .macToken: [.account, .server, .body]
        case .unlock, .vault, .importFprintd: [.account, .passwordStdin]
        case .log: [.account, .verify, .export, .to, .signers]
        case .config: [.check]
        case .secretSet: [.account, .replace]
        case .secretGet: [.account, .noNewline, .force]
        case .secretList, .secretDelete: [.account]
        case .readers: [.prints, .deleteForeign, .clear, .reader, .force]
        case .doctor, .notify, .help: []
        }
    }

    /// The words it takes: what they are, and how many at the most.
    var operands: (name: String, most: Int) {
        switch self {
        case .enroll: ("[FINGER]", 1)
        case .delete: ("FINGER | --all", 1)
        case .config: ("[--check [FILE…]]", .max)
        case .vault: ("[migrate tpm|file | trust]", 2)
        case .help: ("[COMMAND]", 2)
        case .login: ("[URL]", 1)
        case .sign: ("FILE… | --challenge TEXT | --request METHOD URL | --public-key", .max)
        case .operations: ("[list | show ID | approve ID | reject ID | watch]", 2)
        case .macToken: ("add URL NAME | list | remove NAME | header NAME METHOD URL", 4)
        case .secretSet, .secretGet, .secretDelete: ("NAME", 1)
        case .secretList, .status, .list, .verify, .enable, .disable, .unlock, .readers, .log,
            .doctor, .importFprintd, .notify:
            ("", 0)
        }
    }

    /// What it does, in one line.
    var purpose: Text {
        switch self {
        case .status: CommandHelp.status
        case .enroll: CommandHelp.enroll
        case .list: CommandHelp.list
        case .delete: CommandHelp.delete
        case .verify: CommandHelp.verify
        case .enable: CommandHelp.enable
        case .disable: CommandHelp.disable
        case .unlock: CommandHelp.unlock
        case .readers: CommandHelp.readers
        case .vault: CommandHelp.vault
        case .log: CommandHelp.log
        case .config: CommandHelp.config
        case .doctor: CommandHelp.doctor
        case .importFprintd: CommandHelp.importFprintd
        case .notify: CommandHelp.notify
        case .login: CommandHelp.login
        case .sign: CommandHelp.sign
        case .operations: CommandHelp.operations
        case .macToken: CommandHelp.macToken
        case .secretSet: CommandHelp.secretSet
        case .secretGet: CommandHelp.secretGet
        case .secretList: CommandHelp.secretList
        case .secretDelete: CommandHelp.secretDelete
        case .help: CommandHelp.help
        }
    }
}

/// An option; the raw value is its name without the hyphens.
enum Option: String, CaseIterable {
    case account = "account"
    case json = "json"
    case help = "help"
    case reader = "reader"
    case all = "all"
    case server = "server"
    case passwordStdin = "password-stdin"
    case verify = "verify"
    case export = "export"
    case to = "to"
    case signers = "signers"
    case check = "check"
    case replace = "replace"
    case force = "force"
    case keyring = "keyring"
    case noNewline = "no-newline"
    case noKeyring = "no-keyring"
    case signing = "signing"
    case challenge = "challenge"
    case audience = "audience"
    case request = "request"
    case body = "body"
    case secret = "secret"
    case reason = "reason"
    case publicKey = "public-key"
    case prints = "prints"
    case clear = "clear"
    case deleteForeign = "delete-foreign"

    /// As it is typed.
    var name: String { "--\(rawValue)" }

    /// What its value is called; nil if it takes none.
    var value: String? {
        switch self {
        case .account, .audience, .secret: "NAME"
        case .challenge, .reason: "TEXT"
        case .request: "METHOD"
        case .body: "FILE"
        case .reader: "ID"
        case .server: "URL"
        case .export: "N"
        case .to: "DIRECTORY"
        case .json, .help, .all, .passwordStdin, .verify, .signers, .check, .replace, .force,
            .noNewline, .keyring, .noKeyring, .signing, .publicKey, .prints, .deleteForeign, .clear:
            nil
        }
    }

    /// What it is for, in one line, where this command takes it.
    func purpose(for action: Action) -> Text {
        switch self {
        case .account: CommandHelp.account
        case .json: CommandHelp.json
        case .help: CommandHelp.optionHelp
        case .reader: CommandHelp.reader
        case .all: CommandHelp.all
        case .server where action == .enable: CommandHelp.serverEnable
        case .server where action == .disable: CommandHelp.serverDisable
        case .server where action == .sign: CommandHelp.serverSign
        case .server: CommandHelp.server
        case .passwordStdin: CommandHelp.passwordStdin
        case .verify: CommandHelp.logVerify
        case .export: CommandHelp.export
        case .to: CommandHelp.to
        case .signers: CommandHelp.signers
        case .check: CommandHelp.check
        case .keyring: CommandHelp.keyring
        case .noKeyring: CommandHelp.noKeyring
        case .replace: CommandHelp.replace
        case .force where action == .sign: CommandHelp.forceSign
        case .force where action == .readers: CommandHelp.forceClear
        case .force: CommandHelp.force
        case .noNewline: CommandHelp.noNewline
        case .signing: CommandHelp.signing
        case .challenge: CommandHelp.challenge
        case .audience: CommandHelp.audience
        case .request: CommandHelp.request
        case .body: CommandHelp.body
        case .secret: CommandHelp.secret
        case .reason: CommandHelp.reason
        case .publicKey: CommandHelp.publicKey
        case .prints: CommandHelp.prints
        case .deleteForeign: CommandHelp.deleteForeign
        case .clear: CommandHelp.clear
        }
    }
}
