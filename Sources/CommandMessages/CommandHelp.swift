// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The words of `signet help`.
package enum CommandHelp {
    /// `--reason` of verify
    package static let reason: Text = "what the touch is for, in your own words"
    /// What the program is.
    package static let summary: Text = "signet: fingerprint login that proves itself"
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
    package static let more: Text = "'signet COMMAND --help' tells what a command takes"

    /// `status`
    package static let status: Text = "what works, what does not, and what to do now"
    /// `enroll`
    package static let enroll: Text = "add a finger: right-index, or the next that is free"
    /// `list`
    package static let list: Text = "the fingers of an account"
    /// `delete`
    package static let delete: Text = "remove a finger, or all"
    /// `verify`
    package static let verify: Text = "try whether the reader knows the finger"
    /// `enable`
    package static let enable: Text = "turn fingerprint login on, for the fingers there are now"
    /// `disable`
    package static let disable: Text = "turn fingerprint login off; the fingers stay"
    /// `login`
    package static let login: Text =
        "log in to a server by a touch, and show its token; alone: which servers there are"
    /// `sign`
    package static let sign: Text =
        "sign files, a challenge of anybody's, or an HTTP request, by a touch"
    /// `unlock`
    package static let unlock: Text =
        "end the lockout after too many fingers that did not match"
    /// `readers`
    package static let readers: Text = "the fingerprint readers of this machine"
    /// `vault`
    package static let vault: Text = "what keeps the keys; move an account's key to the other vault"
    /// `log`
    package static let log: Text = "the receipts of an account's logins"
    /// `config`
    package static let config: Text = "the settings in force, and where they come from"
    /// `doctor`
    package static let doctor: Text =
        "what is wrong with this machine's stacks, files and service, and how to mend it"
    /// `import-fprintd`
    package static let importFprintd: Text =
        "take over the fingers that fprintd knows, without a new scan"
    /// `operations`
    package static let operations: Text =
        "what servers ask you to approve: list, show, approve or reject by a touch, watch"
    /// `mac-token`
    package static let macToken: Text =
        "tokens that show servers this device, without a touch: add, list, remove, header"
    /// `secret set`
    package static let secretSet: Text =
        "keep a secret that a touch releases: standard input, or typed unseen"
    /// `secret get`
    package static let secretGet: Text = "release a secret to standard output, after a touch"
    /// `secret list`
    package static let secretList: Text = "the names of the secrets, and whether they open"
    /// `secret delete`
    package static let secretDelete: Text = "delete a secret"
    /// `notify`
    package static let notify: Text =
        "show on the desktop who asks for the finger where no terminal does"
    /// `help`
    package static let help: Text = "this text"
    /// `--version`
    package static let version: Text = "the version of this program"

    /// `--account`
    package static let account: Text =
        "the account it is about; without this, your own. Root has to name one"
    /// `--json`
    package static let json: Text = "answer in JSON, each document with version and kind"
    /// `--help`
    package static let optionHelp: Text = "what the command takes"
    /// `--password-stdin`
    package static let passwordStdin: Text =
        "read the password from standard input, up to a line end"
    /// `--reader`
    package static let reader: Text = "which reader, by the id that 'signet readers' shows"
    /// `readers --prints`
    package static let prints: Text = "what the readers store, and whose it is; for root"
    /// `--delete-foreign`
    package static let deleteForeign: Text =
        "delete the fingerprints from the readers that no account here has; for root"
    /// `--clear`
    package static let clear: Text =
        "delete all fingerprints from the readers, those of accounts here as well; for root"
    /// `readers --force`
    package static let forceClear: Text = "with --clear: yes, all"
    /// `--server`
    package static let server: Text = "of this server alone"
    /// `enable --server`
    package static let serverEnable: Text = "register this device at this server, and no more"
    /// `disable --server`
    package static let serverDisable: Text = "take back the registration at this server alone"
    /// `sign --server`
    package static let serverSign: Text = "with the key for this server, where there are several"
    /// `--all`
    package static let all: Text = "all fingers"
    /// `log --verify`
    package static let logVerify: Text = "check signatures, counters and the chain of receipts"
    /// `--export`
    package static let export: Text = "write receipt N in files that ssh-keygen -Y verify takes"
    /// `--to`
    package static let to: Text = "the directory for --export; made if it is not there"
    /// `--signers`
    package static let signers: Text = "the public keys, as an allowed_signers file"
    /// `--signing`
    package static let signing: Text = "make, or destroy, the key that signs files and challenges"
    /// `sign --challenge`
    package static let challenge: Text = "sign this text of somebody's, who asks for proof"
    /// `sign --audience`
    package static let audience: Text = "who asks, with --challenge"
    /// `sign --request`
    package static let request: Text = "print the header for a request with this method"
    /// `sign --body`
    package static let body: Text = "the file with the body of the request"
    /// `sign --public-key`
    package static let publicKey: Text = "print the public key, and a line for allowed_signers"
    /// `login --secret`
    package static let secret: Text = "keep the token as this secret, and do not show it"
    /// `--keyring`
    package static let keyring: Text =
        "keep the login password for the keyring, released by a touch at a login"
    /// `--no-keyring`
    package static let noKeyring: Text = "keep it no longer"
    /// `secret set --replace` and `login --replace`
    package static let replace: Text = "replace the secret of this name, if there is one"
    /// `secret get --no-newline`
    package static let noNewline: Text = "add no line end on a terminal; in short -n"
    /// `secret get --force`
    package static let force: Text = "show it on a terminal even if it is no text"
    /// `sign --force`
    package static let forceSign: Text = "replace a signature that is there"
    /// `--check`
    package static let check: Text =
        "read the files, or those named, and say what is wrong in them"
}
