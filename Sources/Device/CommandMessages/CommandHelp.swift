// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The words of `signet help`.
package enum CommandHelp {
    /// `--reason` of verify
    package static let reason: Text = "what the touch is for, in your own words"
    /// What the program is.
    package static let summary: Text =
        "signet: fingerprint login with a proof that others can verify"
    /// How it is called.
    package static let usage: Text = "usage: signet COMMAND [OPTION…]"
    /// How a sub-command is called: its name and what it takes.
    package static func usage(_ call: Bytes) -> Text { "usage: signet \(call) [OPTION…]" }
    /// A sub-command, and what it does.
    package static func title(_ action: Bytes, _ purpose: Text) -> Text {
        "signet \(action): \(purpose)"
    }
    /// Above the sub-commands.
    package static let commands: Text = "commands:"
    /// Above the options.
    package static let options: Text = "options:"
    /// Above the exit codes.
    package static let exitCodes: Text = "exit codes:"
    /// Where more is told.
    package static let more: Text = "run 'signet COMMAND --help' to see what a command takes"

    /// `status`
    package static let status: Text = "show what works, what does not, and what to do now"
    /// `enroll`
    package static let enroll: Text = "add a finger: right-index, or the next free one"
    /// `list`
    package static let list: Text = "list the fingers of an account"
    /// `delete`
    package static let delete: Text = "delete one finger, or all"
    /// `verify`
    package static let verify: Text = "check whether the reader recognises the finger"
    /// `enable`
    package static let enable: Text = "turn fingerprint login on for the fingers enrolled now"
    /// `disable`
    package static let disable: Text = "turn fingerprint login off; the fingers stay enrolled"
    /// `login`
    package static let login: Text =
        "log in to a server with a touch, and print its token; without a URL: list the servers"
    /// `sign`
    package static let sign: Text =
        "sign files, a challenge or an HTTP request with a touch"
    /// `unlock`
    package static let unlock: Text =
        "end the lockout after too many failed scans"
    /// `readers`
    package static let readers: Text = "list the fingerprint readers of this machine"
    /// `vault`
    package static let vault: Text =
        "show where the keys are stored, or move an account's key to the other vault"
    /// `log`
    package static let log: Text = "list the receipts of an account's logins"
    /// `config`
    package static let config: Text = "show the settings in force, and where they come from"
    /// `doctor`
    package static let doctor: Text =
        "report what is wrong with this machine's stacks, files and service, and how to fix it"
    /// `import-fprintd`
    package static let importFprintd: Text =
        "import the fingers that fprintd has stored, without a new scan"
    /// `operations`
    package static let operations: Text =
        "review what servers ask you to approve: list, show, approve or reject with a touch, watch"
    /// `mac-token`
    package static let macToken: Text =
        """
        manage tokens that identify this device to servers without a touch: add, list, remove, \
        header
        """
    /// `secret set`
    package static let secretSet: Text =
        "store a secret that a touch releases: from standard input, or typed without echo"
    /// `secret get`
    package static let secretGet: Text = "write a secret to standard output after a touch"
    /// `secret list`
    package static let secretList: Text =
        "list the names of the secrets, and whether they can be opened"
    /// `secret delete`
    package static let secretDelete: Text = "delete a secret"
    /// `notify`
    package static let notify: Text =
        "show a desktop notice for a touch that no terminal announces"
    /// `help`
    package static let help: Text = "show this text"
    /// `--version`
    package static let version: Text = "show the version of this program"

    /// `--account`
    package static let account: Text =
        "the account to use; the default is your own. Root must name one"
    /// `--json`
    package static let json: Text = "print JSON; each document has a version and a kind"
    /// `--help`
    package static let optionHelp: Text = "show what the command takes"
    /// `--password-stdin`
    package static let passwordStdin: Text =
        "read the password from standard input, up to the end of the line"
    /// `--reader`
    package static let reader: Text = "the reader to use, by the id that 'signet readers' shows"
    /// `readers --watch`
    package static let watchReader: Text =
        "show what a reader reports while you try fingers on it; root only"
    /// `readers --prints`
    package static let prints: Text = "list what the readers store, and whose it is; root only"
    /// `--delete-foreign`
    package static let deleteForeign: Text =
        "delete fingerprints that belong to no account here from the readers; root only"
    /// `--clear`
    package static let clear: Text =
        "delete all fingerprints from the readers, including those of accounts here; root only"
    /// `readers --force`
    package static let forceClear: Text = "with --clear: confirm that all are deleted"
    /// `--server`
    package static let server: Text = "for this server only"
    /// `enable --server`
    package static let serverEnable: Text =
        "register this device at this server, and do nothing else"
    /// `disable --server`
    package static let serverDisable: Text = "remove the registration at this server only"
    /// `sign --server`
    package static let serverSign: Text = "use the key for this server, if there are several"
    /// `--all`
    package static let all: Text = "all fingers"
    /// `log --verify`
    package static let logVerify: Text = "check signatures, counters and the chain of receipts"
    /// `--export`
    package static let export: Text = "write receipt N to files that ssh-keygen -Y verify accepts"
    /// `--to`
    package static let to: Text = "the directory for --export; created if it does not exist"
    /// `--signers`
    package static let signers: Text = "print the public keys as an allowed_signers file"
    /// `--signing`
    package static let signing: Text = "create, or destroy, the key that signs files and challenges"
    /// `sign --challenge`
    package static let challenge: Text = "sign this text, chosen by a party that asks for proof"
    /// `sign --audience`
    package static let audience: Text = "the party that asks, with --challenge"
    /// `sign --request`
    package static let request: Text = "print the header for a request with this method"
    /// `sign --body`
    package static let body: Text = "the file with the body of the request"
    /// `sign --public-key`
    package static let publicKey: Text = "print the public key, and a line for allowed_signers"
    /// `login --secret`
    package static let secret: Text = "store the token as this secret, and do not print it"
    /// `--keyring`
    package static let keyring: Text =
        "store the login password for the keyring, to be released by a touch at login"
    /// `--no-keyring`
    package static let noKeyring: Text = "no longer store the login password for the keyring"
    /// `secret set --replace` and `login --replace`
    package static let replace: Text = "replace the secret of this name, if it exists"
    /// `secret get --no-newline`
    package static let noNewline: Text = "add no newline on a terminal; short form: -n"
    /// `secret get --force`
    package static let force: Text = "show it on a terminal even if it is not text"
    /// `sign --force`
    package static let forceSign: Text = "replace an existing signature"
    /// `--check`
    package static let check: Text =
        "check the files, or those named, and report mistakes"
}
